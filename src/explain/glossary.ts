import type { Buffer } from "node:buffer";
import { bufferOf, lineEnd } from "../bytes/text.ts";
import { feedFormats } from "../feeds/registry.ts";
import { readFully } from "../host/files.ts";
import type { Host } from "../host/host.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { FATES, type FateName, RANKS, type Rank, fateName } from "../rules/fate.ts";
import { type Cover, carriedRules, neededOf, overlapMatrix, smallestCover } from "./overlap.ts";
import { RecordedRows, readRecorded, recordedText } from "./recorded-rows.ts";
import type { LineOfFate, ListStats } from "../documents/facts.ts";

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
  dead: "Nothing needs to be done: the line comes back with the first build after `alive` has seen the name again",
  "not-ranked": `\`fit.top\` decides it. ${OWN_CHOICE}`,
};

/** A fate of lines: why a line is not in the list, or that it is. */
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
  // Without the parts of rules that span lines, the counts of an RPZ zone would have no reason.
  return byRank(counts).filter(
    ([fate]) => FATE_ENTRIES.get(fate)?.rank !== "no-rule" || fate === "joined",
  );
}

interface FateFilter {
  /** Names of fates. */
  readonly fates: readonly string[];
  /** Indices of sources. */
  readonly sources: ReadonlySet<number>;
}

/** The lines of a build with certain fates, file by file in the order of the sources. */
export async function* fateLines(
  record: BuildRecord,
  { fates, sources }: FateFilter,
  cacheDir: string | undefined,
  host: Host,
): AsyncGenerator<LineOfFate[]> {
  const numbers = new Set(FATES.flatMap(([name], fate) => (fates.includes(name) ? [fate] : [])));
  for (const [index, file] of record.header.files.entries()) {
    if (file.isOwn === true || !sources.has(file.source)) continue;
    const frames = record.frames.filter((frame) => frame.file === index);
    const lines = linesIn(new RecordedRows(record, frames), numbers);
    if (lines.length === 0) continue;
    const texts = await readRecorded(file, cacheDir, host, async (opened) => {
      const bytes = await readFully(opened, new Uint8Array(opened.size), 0);
      // Numbers of rows in JSON are not lines of the file.
      const { feed, ...asWritten } = file;
      const isJson = feed && feedFormats.get(feed.type)?.isJson === true;
      const shown = isJson === true ? file : asWritten;
      const text = await recordedText(shown, bytes, record.header.builtAt, host);
      return (
        text &&
        textsIn(
          bufferOf(text),
          lines.map(({ line }) => line),
        )
      );
    });
    const { label } = record.header.sources[file.source]!;
    const { path } = file;
    const location = { source: label, file: file.file, ...(path && { path }) };
    yield lines.map(({ line, fate }, at) => {
      const text = texts?.[at];
      return { ...location, line, fate: fateName(fate), ...(text !== undefined && { text }) };
    });
  }
}

/** How many lines of some sources were dropped, by fate: the figures of the report. */
export function fateCounts(
  { header }: BuildRecord,
  sources: ReadonlySet<number>,
): Map<string, number> {
  const some = header.sources.filter((_, index) => sources.has(index));
  const counts = FATES.map(
    ([fate]) => [fate, some.reduce((sum, { dropped }) => sum + (dropped[fate] ?? 0), 0)] as const,
  );
  return new Map(counts.filter(([, lines]) => lines > 0));
}

/** A line has one fate, however many names it has. */
function linesIn(
  rows: RecordedRows,
  wanted: ReadonlySet<number>,
): { readonly line: number; readonly fate: number }[] {
  const found: { line: number; fate: number }[] = [];
  for (; !rows.isOver; rows.next())
    if (rows.isCounted && wanted.has(rows.fate)) found.push({ line: rows.line, fate: rows.fate });
  return found;
}

/** The texts of lines; their numbers must be in ascending order. */
function textsIn(bytes: Buffer, lines: readonly number[]): string[] {
  let at = 1;
  let start = 0;
  return lines.map((line) => {
    for (; at < line; at++) start = lineEnd(bytes, start) + 1;
    return bytes.toString("utf8", start, lineEnd(bytes, start)).replace(/\r$/, "");
  });
}

/** The statistics of a build, from its record. */
export function statsOf(record: BuildRecord): ListStats {
  const { sources, name, rules, lines, minSources = 1 } = record.header;
  const groups = carriedRules(record);
  const overlap = overlapMatrix(groups, sources.length);
  const onlyHere = sources.map((_, index) =>
    groups
      .filter((group) => neededOf(group).includes(index))
      .reduce((sum, group) => sum + group.rules, 0),
  );
  // A rule with fewer sources than it needs is in the list twice, so that which sources it has is not known.
  const isKnown = groups.every(({ sources: own, least }) => own.length >= least);
  const all: Cover = { sources: [...sources.keys()], isSmallest: false };
  const cover = isKnown ? smallestCover(groups) : all;
  return {
    name,
    rules,
    lines,
    ...(minSources > 1 && { minSources }),
    sources: sources.map(({ label, lines: read, kept, dropped, state }, index) => ({
      label,
      lines: read,
      kept,
      dropped,
      redundant: redundantIn(dropped),
      rules: overlap[index]![index]!,
      onlyHere: onlyHere[index]!,
      state,
    })),
    overlap,
    cover: {
      sources: cover.sources.map((index) => sources[index]!.label),
      isSmallest: cover.isSmallest,
    },
  };
}

function redundantIn(dropped: Readonly<Record<string, number>>): number {
  return Object.entries(dropped)
    .filter(([fate]) => FATE_ENTRIES.get(fate)?.rank === "redundant")
    .reduce((sum, [, count]) => sum + count, 0);
}
