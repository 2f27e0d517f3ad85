import { ICANN_RULES, PRIVATE_RULES } from "./public-suffix-list.ts";

/** Labels that nobody has, and that no pattern is written for. */
const LABELS = ["zq7xkv", "w3vbjy"] as const;

/** A name under a suffix, and another. */
type Probe = readonly [string, string];

let suffixes: readonly Probe[] | undefined;
let shared: readonly Probe[] | undefined;
let text: string | undefined;

function allSuffixes(): readonly Probe[] {
  suffixes ??= probesFor(ICANN_RULES);
  return suffixes;
}

/** Those that companies let others use. */
function sharedSuffixes(): readonly Probe[] {
  shared ??= probesFor(PRIVATE_RULES);
  return shared;
}

function probesFor(rules: string): Probe[] {
  return rules
    .split(" ")
    .filter((rule) => rule !== "" && !rule.startsWith("!"))
    .map((rule): Probe => {
      const suffix = rule.startsWith("*.") ? rule.slice(2) : rule;
      return [`${LABELS[0]}.${suffix}`, `${LABELS[1]}.${suffix}`];
    });
}

/** A name under every public suffix, in one text: what is not in it is in none of them. */
export function suffixText(): string {
  text ??= allSuffixes()
    .map(([name]) => name)
    .join("\n");
  return text;
}

/** Whether a rule takes in everything under some public suffix, however it says so; with `isShared` also of shared ones. */
export function coversSuffix(test: (name: string) => boolean, isShared = false): boolean {
  const isCovered = ([one, other]: Probe): boolean => test(one) && test(other);
  return allSuffixes().some(isCovered) || (isShared && sharedSuffixes().some(isCovered));
}
