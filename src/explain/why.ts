import type { BuildRecord } from "../record/build-record.ts";
import { FATES, Fate, hasCause } from "../rules/fate.ts";
import type { Verdict } from "../meaning/verdict.ts";
import type { ListRule, ListRules } from "./list-rules.ts";
import type { Since } from "./since.ts";
import type { SourceLines } from "./source-lines.ts";

/** Where a line stands. */
export interface LineLocation {
  readonly source: string;
  readonly file: string;
  readonly line: number;
  /** Where the file is on this machine, if it is. */
  readonly path?: string;
}

/** A line of a source, and what became of it. */
export interface LineFate extends LineLocation {
  readonly text: string;
  /** `kept`, or the fate that took it out. */
  readonly fate: string;
  readonly meaning: string;
  /** The line that made it redundant. */
  readonly by?: LineLocation;
}

export interface RuleInList extends LineLocation {
  readonly text: string;
}

export interface Explanation {
  readonly name: string;
  readonly verdict: Verdict;
  /** The rule that decides, and the line it came from. */
  readonly rule?: RuleInList;
  readonly since?: Since;
  /** Rules for some clients or some kinds of questions. */
  readonly partial: readonly RuleInList[];
  readonly lines: readonly LineFate[];
  /** Files that could not be looked at. */
  readonly unseen: readonly string[];
  /** What to write into `allow`, and what that does. */
  readonly unblock?: { readonly allow: string; readonly effect: string };
}

/** Everything that is known about names in lower case. */
export async function explainNames(
  names: readonly string[],
  record: BuildRecord,
  rules: ListRules,
  sources: SourceLines,
  sinceOf: (rules: readonly string[]) => Promise<ReadonlyMap<string, Since>> = async () =>
    await Promise.resolve(new Map()),
): Promise<Explanation[]> {
  const answers = names.map((name) => ({ name, ...rules.answer(name) }));
  // Older lists are unpacked apart, while files are searched here.
  const [since, { lines, unseen }] = await Promise.all([
    sinceOf(answers.flatMap(({ by }) => by?.text ?? [])),
    sources.find(names),
  ]);
  return answers.map(({ name, verdict, by, partial }): Explanation => {
    const known = by && since.get(by.text);
    return {
      name,
      verdict,
      ...(by && { rule: inList(by, record) }),
      ...(known && { since: known }),
      partial: partial.map((rule) => inList(rule, record)),
      lines: (lines.get(name) ?? []).map(({ row, text }) => fateOf(row, text, record)),
      unseen: unseen.map(({ file }) => file),
      ...(verdict === "blocked" && by && { unblock: unblocking(name, by.text) }),
    };
  });
}

export function inList({ text, row }: ListRule, record: BuildRecord): RuleInList {
  return { text, ...locationOf(row, record) };
}

export function locationOf(row: number, record: BuildRecord): LineLocation {
  const { source, file, path } = record.fileOf(row);
  const line = record.lineOf(row);
  // Lines that no source has are written for the allow-list of the configuration.
  if (line === 0) return { source: "allow", file: "the configuration", line };
  const { label } = record.header.sources[source]!;
  return { source: label, file, line, ...(path && { path }) };
}

function fateOf(row: number, text: string, record: BuildRecord): LineFate {
  const fate = record.fateOf(row);
  const place = locationOf(row, record);
  if (fate === Fate.Live) return { ...place, text, fate: "kept", meaning: "in the list" };
  const [name, meaning] = FATES[fate] ?? ["unknown", ""];
  return {
    ...place,
    text,
    fate: name,
    meaning,
    ...(hasCause(fate) ? { by: locationOf(record.keeperOf(row), record) } : {}),
  };
}

function unblocking(name: string, rule: string): { allow: string; effect: string } {
  const isOwn = rule === `||${name}^` || rule === name || rule.endsWith(` ${name}`);
  const effect = isOwn
    ? `takes ${rule} out of the list`
    : `adds @@|${name}^; ${rule} stays for everything else`;
  return { allow: name, effect };
}
