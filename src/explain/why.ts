import type { BuildRecord } from "../record/build-record.ts";
import { FATES, hasCause } from "../rules/fate.ts";
import { NEWLY_BLOCKS_FILE } from "../rules/rule-table.ts";
import type { Verdict } from "../meaning/verdict.ts";
import { canaryIn } from "../syntax/canary-name.ts";
import type { ListRules } from "./list-rules.ts";
import type { ListRule } from "./plain-names.ts";
import type { Since } from "./since.ts";
import type { SourceLines } from "./source-lines.ts";

/** The location of a line. */
export interface LineLocation {
  readonly source: string;
  readonly file: string;
  readonly line: number;
  /** The path of a local file. */
  readonly path?: string;
}

/** A line of a source and its fate. */
export interface LineFate extends LineLocation {
  readonly text: string;
  /** `kept`, or the fate that removed it. */
  readonly fate: string;
  /** The fate in words. */
  readonly meaning: string;
  /** The line that made it redundant. */
  readonly by?: LineLocation;
  /** When the source first had it, if the source keeps rules. */
  readonly firstSeen?: string;
}

/** A rule of the list, and the line of a source that it comes from. */
export interface RuleInList extends LineLocation {
  readonly text: string;
}

/** Why a name is blocked, or why not. */
export interface Explanation {
  readonly name: string;
  readonly verdict: Verdict;
  /** The deciding rule, and its location. */
  readonly rule?: RuleInList;
  /** Whether it is an exception for a popular name that the list would newly block. */
  readonly isNewlyBlocked?: boolean;
  /** How long the rule has been in the list. */
  readonly since?: Since;
  /** Rules that apply only to some clients or query types. */
  readonly partial: readonly RuleInList[];
  /** The lines of all sources that are about the name. */
  readonly lines: readonly LineFate[];
  /** Files that could not be searched. */
  readonly unseen: readonly string[];
  /** The entry for `allow` that unblocks the name, and its effect. */
  readonly unblock?: { readonly allow: string; readonly effect: string };
}

/** The parts of a build that explanations are taken from. */
export interface ExplainedBuild {
  readonly record: BuildRecord;
  readonly rules: ListRules;
  readonly sources: SourceLines;
  /** How long rules have been in the list. */
  readonly sinceOf?: (rules: readonly string[]) => Promise<ReadonlyMap<string, Since>>;
}

/** Explains the answers for names in lower case. */
export async function explainNames(
  names: readonly string[],
  { record, rules, sources, sinceOf }: ExplainedBuild,
): Promise<Explanation[]> {
  const answers = names.map((name) => ({ name, ...rules.answer(name) }));
  // Older lists are decompressed in parallel with the search.
  const [since, { lines, unseen }] = await Promise.all([
    sinceOf?.(answers.flatMap(({ by }) => by?.text ?? [])),
    sources.find(names),
  ]);
  const first = await sources.firstSeen([...lines.values()].flat());
  return answers.map(({ name, verdict, by, partial }): Explanation => {
    const known = by && since?.get(by.text);
    const rule = by && inList(by, record);
    return {
      name,
      verdict,
      ...(rule && { rule }),
      ...(rule?.source === NEWLY_BLOCKS_FILE && { isNewlyBlocked: true }),
      ...(known && { since: known }),
      partial: partial.map((one) => inList(one, record)),
      lines: (lines.get(name) ?? []).map(({ row, text }) => {
        const seen = first.get(row);
        return { ...lineFate(row, text, record), ...(seen !== undefined && { firstSeen: seen }) };
      }),
      unseen: unseen.map(({ file }) => file),
      ...(verdict === "blocked" && by && { unblock: unblocking(name, by.text) }),
    };
  });
}

export function inList({ text, row }: ListRule, record: BuildRecord): RuleInList {
  const location = locationOf(row, record);
  const isCanary = location.line === 0 && canaryIn(text) !== undefined;
  return { text, ...location, ...(isCanary && { source: "canary" }) };
}

export function locationOf(row: number, record: BuildRecord): LineLocation {
  const { source, file, path, isKept, isOwn } = record.fileOf(row);
  const line = record.lineOf(row);
  if (line === 0 && isOwn === true && file === NEWLY_BLOCKS_FILE)
    return { source: file, file: "the configuration", line };
  // Other rules without a line were generated for the `allow` list of the configuration, except for the canary.
  if (line === 0) return { source: "allow", file: "the configuration", line };
  const { label } = record.header.sources[source]!;
  const shown = isKept === true ? `${label} (kept)` : label;
  return { source: shown, file, line, ...(path && { path }) };
}

function lineFate(row: number, text: string, record: BuildRecord): LineFate {
  const fate = record.fateOf(row);
  const location = locationOf(row, record);
  const [name, , meaning] = FATES[fate] ?? ["unknown", "", ""];
  return {
    ...location,
    text,
    fate: name,
    meaning,
    ...(hasCause(fate) ? { by: locationOf(record.keeperOf(row), record) } : {}),
  };
}

function unblocking(name: string, rule: string): { allow: string; effect: string } {
  const isExact = rule === `||${name}^` || rule === name || rule.endsWith(` ${name}`);
  const effect = isExact
    ? `removes ${rule} from the list`
    : `adds @@|${name}^; ${rule} still blocks all other names`;
  return { allow: name, effect };
}
