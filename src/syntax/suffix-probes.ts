import { GramIndex } from "./gram-index.ts";
import { ICANN_RULES, PRIVATE_RULES } from "./public-suffix-list.ts";

/** Labels that nobody has, and that no pattern is written for. */
const LABELS = ["zq7xkv", "w3vbjy"] as const;
/** The one text that both of them have. */
const IN_BOTH = "v";

type NameTest = (name: string) => boolean;

/** Suffixes, each with a dot in front. */
interface Suffixes {
  readonly all: readonly string[];
  index?: GramIndex;
}

let listed: Suffixes | undefined;
let shared: Suffixes | undefined;

function suffixesIn(rules: string): Suffixes {
  const all = rules
    .split(" ")
    .filter((rule) => rule !== "" && !rule.startsWith("!"))
    .map((rule) => (rule.startsWith("*.") ? rule.slice(1) : `.${rule}`));
  return { all };
}

/** Suffixes that everything is registered under; with `isShared` also those that companies let others use. */
function suffixLists(isShared: boolean): readonly Suffixes[] {
  listed ??= suffixesIn(ICANN_RULES);
  if (!isShared) return [listed];
  shared ??= suffixesIn(PRIVATE_RULES);
  return [listed, shared];
}

/**
 * Whether a rule takes in everything under some public suffix, however it says so; with `isShared` also under shared ones. It
 * is tried on those that have all the texts which it cannot match without, if `mayTry` lets it be tried on so many; undefined
 * if not. The two labels have one character in common: all other texts must stand in the suffix, or be the dot before it.
 */
export function coversSuffix(
  test: NameTest,
  isShared: boolean,
  texts: readonly string[] = [],
  mayTry: (count: number) => boolean = () => true,
): boolean | undefined {
  const needed = texts.filter((text) => text !== IN_BOTH);
  for (const suffixes of suffixLists(isShared)) {
    suffixes.index ??= new GramIndex(suffixes.all);
    const some = suffixes.index.candidates(needed);
    if (!mayTry(some.length)) return undefined;
    if (some.some((suffix) => isCovered(test, suffix))) return true;
  }
  return false;
}

function isCovered(test: NameTest, suffix: string): boolean {
  return test(LABELS[0] + suffix) && test(LABELS[1] + suffix);
}
