import { NamesByText } from "./names-by-text.ts";
import { ICANN_RULES, PRIVATE_RULES } from "./public-suffix-list.ts";

/** Labels that do not exist, and that patterns do not target. */
const LABELS = ["zq7xkv", "w3vbjy"] as const;
/** The only text that both labels contain. */
const IN_BOTH = "v";

type NameTest = (name: string) => boolean;

/** Suffixes, each with a leading dot. */
interface Suffixes {
  readonly all: readonly string[];
  index?: NamesByText;
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

/** Suffixes of registries; with `isShared`, also suffixes that companies share with their users. */
function suffixLists(isShared: boolean): readonly Suffixes[] {
  listed ??= suffixesIn(ICANN_RULES);
  if (!isShared) return [listed];
  shared ??= suffixesIn(PRIVATE_RULES);
  return [listed, shared];
}

/**
 * Whether a rule matches everything under some public suffix; with `isShared`, also under a shared one. Tests only
 * suffixes that contain all `texts`, without which the rule cannot match. The two labels share one character, so all other texts must be in the suffix or be the dot before it.
 */
export function coversSuffix(
  test: NameTest,
  isShared: boolean,
  texts: readonly string[] = [],
): boolean {
  const needed = texts.filter((text) => text !== IN_BOTH);
  for (const suffixes of suffixLists(isShared)) {
    suffixes.index ??= new NamesByText(suffixes.all);
    const some = suffixes.index.candidates(needed);
    if (some.some((suffix) => isCovered(test, suffix))) return true;
  }
  return false;
}

function isCovered(test: NameTest, suffix: string): boolean {
  return test(LABELS[0] + suffix) && test(LABELS[1] + suffix);
}
