import { FATES, type FateName, RANKS, type Rank } from "../rules/fate.ts";

export { RANKS } from "../rules/fate.ts";

/** The words for what is counted, with one definition each. Screens, pages and documentation take both from here. */
export const COUNTS = {
  lines: ["lines", "lines of the source"],
  kept: ["kept", "lines of the source that are in the published list"],
  dropped: ["dropped", "lines of the source that are not in the published list; each has a fate"],
  redundant: ["redundant", "dropped lines that the published list does not need"],
  rules: ["rules", "rules of the published list; of a source, those that one of its lines gives"],
  onlyHere: ["only here", "rules that would leave the published list if this source went away"],
  names: ["names", "names that a file in another format blocks or allows"],
} as const;

type Count = keyof typeof COUNTS;

/** The labels with a capital letter, for headings of pages. */
export const LABELS: Readonly<Record<Count, string>> = Object.fromEntries(
  Object.entries(COUNTS).map(([key, [label]]) => [key, capital(label)]),
) as Record<Count, string>;

/** The definition of a count as a sentence. */
export function definitionOf(count: Count): string {
  return `${capital(COUNTS[count][1])}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a rank means, and what to do about a line of it. */
const RANK_TEXTS: Readonly<Record<Rank, readonly [meaning: string, advice: string]>> = {
  alarm: [
    "The line would do harm: its maintainer made a mistake, or attacks subscribers",
    "Nothing needs to be done, because the line has no effect. Tell the maintainer of the source; if such lines come again, stop using it",
  ],
  loss: [
    "The line is a rule, or was meant to be one, and has no effect",
    "Correct the line if the source is yours, or tell its maintainer",
  ],
  redundant: [
    "The list has the same effect without the line",
    "Nothing needs to be done. Delete the line if the source is yours",
  ],
  "no-rule": ["The line was never a rule", "Nothing needs to be done"],
  kept: ["The line is in the list", "Nothing needs to be done"],
};

const OWN_TRUST = "If the source is yours, or you trust it as much, set `trust` of the source";
const OWN_CHOICE = "Change the setting if you want these lines";

/** Advice that differs from that of the rank. */
const ADVICE: Readonly<Partial<Record<FateName, string>>> = {
  condition: "Nothing needs to be done: the maintainer wrote these rules for other programs",
  excluded: `Your \`exclusions\` match it. ${OWN_CHOICE}`,
  "not-included": `None of your \`inclusions\` matches it. ${OWN_CHOICE}`,
  allowed: "Remove the name from `allow` or `allow_sources` if the list shall block it",
  own: "Ask the author of the plugin",
  "real-address": OWN_TRUST,
  rewrites: OWN_TRUST,
  cancels: OWN_TRUST,
  "not-block-only": OWN_TRUST,
  "slow-regex": OWN_TRUST,
  protected: "If the list shall block the name, add it to `guards.may_block`",
  household: "If the list shall block the name, add it to `guards.may_block`",
  "newly-blocks": "If the list shall block the name, add it to `guards.may_block`",
  reserved:
    "Remove the line if the source is yours, or tell its maintainer: these names have no other use",
  "over-budget": "Check the new exceptions of the source, then run with `--accept new-exceptions`",
  "breaks-traffic":
    "Check the new lines of the source. If they are intended, run once with `--accept breaks-traffic`",
  overruled: "To free the name, add it to `allow`",
  "cut-line": "Nothing needs to be done: the next run fetches the source again",
  "bad-modifier": "Use a list for DNS instead of one for browsers, or `RemoveModifiers`",
  "ip-address": "Use `ValidateAllowIp` if your resolver accepts rules for IP addresses",
  "public-suffix":
    "The line has no effect, or everything below the suffix would be blocked. Tell the maintainer of the source. If it is yours and you mean it, use `ValidateAllowPublicSuffix`",
  "not-followed": "Add the included file as a source of its own",
  "not-chosen": `\`where\` or the type of the feed decides it. ${OWN_CHOICE}`,
  "few-sources": `\`min_sources\` decides it. ${OWN_CHOICE}`,
  "too-old": `\`max_age\` decides it. ${OWN_CHOICE}`,
  "not-ranked": `\`fit.top\` decides it. ${OWN_CHOICE}`,
};

export interface FateEntry {
  readonly name: FateName;
  readonly rank: Rank;
  readonly meaning: string;
  /** What the rank means. */
  readonly rankMeaning: string;
  /** What to do about such lines. */
  readonly advice: string;
}

/** Every fate of a line, by name. A spare row has no line. */
export const FATE_ENTRIES: ReadonlyMap<string, FateEntry> = new Map(
  FATES.filter(([name]) => name !== "spare").map(([name, rank, meaning]) => {
    const [rankMeaning, advice] = RANK_TEXTS[rank];
    return [name, { name, rank, meaning, rankMeaning, advice: ADVICE[name] ?? advice }];
  }),
);

/** Counts of fates in the order of their importance: by rank, then the most frequent first. */
export function byRank(counts: Readonly<Record<string, number>>): [fate: string, count: number][] {
  return Object.entries(counts).toSorted(([a, x], [b, y]) => placeOf(a) - placeOf(b) || y - x);
}

function placeOf(fate: string): number {
  return RANKS.indexOf(FATE_ENTRIES.get(fate)?.rank ?? "loss");
}

/** The same for what people read about a source: without lines that were never rules. */
export function fatesOfRules(counts: Readonly<Record<string, number>>): [string, number][] {
  return byRank(counts).filter(([fate]) => FATE_ENTRIES.get(fate)?.rank !== "no-rule");
}
