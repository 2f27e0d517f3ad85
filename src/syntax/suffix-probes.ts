import { ICANN_RULES, PRIVATE_RULES } from "./public-suffix-list.ts";

/** Labels that nobody has, and that no pattern is written for. */
const LABELS = ["zq7xkv", "w3vbjy"] as const;

let suffixes: readonly string[] | undefined;
let shared: readonly string[] | undefined;
let text: string | undefined;

function allSuffixes(): readonly string[] {
  suffixes ??= namesIn(ICANN_RULES);
  return suffixes;
}

/** Those that companies let others use. */
function sharedSuffixes(): readonly string[] {
  shared ??= namesIn(PRIVATE_RULES);
  return shared;
}

function namesIn(rules: string): string[] {
  return rules
    .split(" ")
    .filter((rule) => rule !== "" && !rule.startsWith("!"))
    .map((rule) => rule.replace(/^\*\./, ""));
}

/** A name under every public suffix, in one text: what is not in it is in none of them. */
export function suffixText(): string {
  text ??= allSuffixes()
    .map((suffix) => `${LABELS[0]}.${suffix}`)
    .join("\n");
  return text;
}

/** Whether a rule takes in everything under some public suffix, however it says so; with `isShared` also of shared ones. */
export function coversSuffix(test: (name: string) => boolean, isShared = false): boolean {
  const isCovered = (suffix: string): boolean =>
    LABELS.every((label) => test(`${label}.${suffix}`));
  return allSuffixes().some(isCovered) || (isShared && sharedSuffixes().some(isCovered));
}
