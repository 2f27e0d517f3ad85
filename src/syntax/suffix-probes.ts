import { ICANN_RULES } from "./public-suffix-list.ts";

/** Labels that nobody has, and that no pattern is written for. */
const LABELS = ["zq7xkv", "w3vbjy"] as const;

let suffixes: readonly string[] | undefined;
let text: string | undefined;

function allSuffixes(): readonly string[] {
  suffixes ??= ICANN_RULES.split(" ")
    .filter((rule) => rule !== "" && !rule.startsWith("!"))
    .map((rule) => rule.replace(/^\*\./, ""));
  return suffixes;
}

/** A name under every public suffix, in one text: what is not in it is in none of them. */
export function suffixText(): string {
  text ??= allSuffixes()
    .map((suffix) => `${LABELS[0]}.${suffix}`)
    .join("\n");
  return text;
}

/** Whether a rule takes in everything under some public suffix, however it says so. */
export function coversSuffix(test: (name: string) => boolean): boolean {
  return allSuffixes().some((suffix) => LABELS.every((label) => test(`${label}.${suffix}`)));
}
