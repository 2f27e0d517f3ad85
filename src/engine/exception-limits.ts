import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import { RowFinder } from "../kernel/rows.ts";
import { namesOfLine } from "../meaning/line.ts";
import { FreedNames } from "../meaning/rule-index.ts";
import { NameMatcher } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import type { RemoteSource } from "../sources/acquire.ts";
import type { FreedNow } from "../sources/ledger.ts";
import { SourceList } from "../sources/source-list.ts";
import { type BlockedBefore, ExceptionBudget } from "../transformations/exception-budget.ts";
import type { LineFilter } from "../transformations/filter.ts";
import type { StageContext } from "../transformations/stage.ts";
import { prepareRegex } from "../transformations/trust.ts";
import type { CompileOptions, PublishedRules, SourceOptions } from "./compile-options.ts";
import { EntrySink, allowListOf, filterOf } from "./filter-entries.ts";
import { findingLocation } from "./list-findings.ts";
import type { PlannedSource } from "./plan.ts";
import type { Engine } from "./shared-sources.ts";
import type { SourceReader } from "./source-reader.ts";
import { SourceSink } from "./source-sink.ts";

/** The sources whose new exceptions are limited. Less trusted sources have no exceptions; more trusted ones have no limit. */
export function limitedSources(
  sources: readonly PlannedSource[],
  reader: SourceReader,
  { accept = [], compat }: CompileOptions,
): readonly PlannedSource[] {
  if (compat === true || accept.includes("new-exceptions")) return [];
  return sources.filter((source) => reader.trustOf(source).level === "standard");
}

/** The stage that limits new exceptions; undefined if no exception can be new. */
export function exceptionBudget(
  limited: readonly PlannedSource[],
  { exceptions: known, sources, freed = [] }: PublishedRules,
  context: StageContext,
): ExceptionBudget | undefined {
  // A source that the user just added has only new exceptions, and they are intended.
  const judged = new Map(
    limited.filter(({ shown }) => sources?.has(shown)).map(({ index, shown }) => [index, shown]),
  );
  if (known === undefined || judged.size === 0) return undefined;
  const terms = {
    known,
    isJudged: (source: number) => judged.has(source),
    freedBefore: (source: number) =>
      new Set(freed.flatMap((one) => (one.source === judged.get(source) ? one.names : []))),
  };
  return new ExceptionBudget(terms, context);
}

/** One warning per source over its budget. */
export function budgetWarnings(
  { over }: ExceptionBudget,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return over.map(({ source, rows, freed, freedBefore }) => {
    const count = countText(rows.length, "new exception");
    const subject = printable(labels[source] ?? "");
    const after =
      freedBefore === 0 ? "" : `, after ${numberText(freedBefore)} others within 30 days`;
    const message = `${subject} has ${count}, which would unblock ${countText(freed.length, "name")} that only other sources block${after}; all of them were dropped: ${someOf(freed)}`;
    const hint =
      "If they are intended, publish once with --accept new-exceptions, or set trust: full on the source";
    const at = findingLocation({ row: rows[0]! }, pool);
    return warningOf("new-exceptions", message, { ...(at && { at }), subject, all: freed, hint });
  });
}

type FreeingRole = "allow" | "exclusions" | "protect";

/** Finds what a file of names frees; undefined for any other, and for one that no published list depends on. */
export function freeingOf(
  { source, role }: SourceOptions,
  listsWith: CompileOptions["listsWith"],
  { host, engineOf }: { readonly host: Host; readonly engineOf: () => Engine },
): RemoteSource["frees"] {
  if (role !== "allow" && role !== "exclusions" && role !== "protect") return undefined;
  const lists = listsWith?.(source) ?? [];
  if (lists.length === 0) return undefined;
  return async (offer, published) =>
    await freedByFile(role, { offer, published }, lists, { host, engine: engineOf() });
}

/** The names of published lists that a file would free by entries which its published text lacks. */
async function freedByFile(
  role: FreeingRole,
  { offer, published }: { readonly offer: SourceList; readonly published: SourceList | undefined },
  lists: readonly string[],
  { host, engine }: { readonly host: Host; readonly engine: Engine },
): Promise<FreedNow> {
  const now = await entriesOf(offer, engine);
  const before = published && (await entriesOf(published, engine));
  const known = new Set(before?.entries.map(({ text }) => text));
  const fresh = new EntrySink(true, engine);
  for (const entry of now.entries) if (!known.has(entry.text)) fresh.entries.push(entry);
  const names = new Set<string>();
  let of = 0;
  if (fresh.entries.length === 0) return { names: [], of };
  for (const path of lists) {
    const judge = role === "exclusions" ? await excluded(fresh) : allowed(fresh);
    try {
      await readList(path, (chunk) => judge.take(chunk), host, engine);
    } catch (error) {
      // It is not published yet.
      if (error instanceof HostError) continue;
      throw error;
    }
    const found = judge.result();
    of = Math.max(of, found.of);
    for (const name of found.names) names.add(name);
  }
  return { names: [...names], of };
}

interface FreedJudge {
  take(chunk: Chunk): void;
  result(): FreedNow;
}

/** Names that an allow-list frees: also those below a blocked name, and those of important rules. */
function allowed(entries: EntrySink): FreedJudge {
  const freed = new FreedNames({ freesImportant: true });
  for (const { entry } of allowListOf([], [entries]).value.uses) freed.addScope(0, entry);
  return {
    take: (chunk) => freed.take(chunk, 1),
    result() {
      const [found] = freed.results();
      return { names: found?.freed ?? [], of: found?.names ?? 0 };
    },
  };
}

/** Names whose lines are excluded. Sources may write them in another syntax than the list. */
async function excluded(entries: EntrySink): Promise<FreedJudge> {
  const { value: filter } = await filterOf([], [entries], false);
  const names = new Set<string>();
  let of = 0;
  return {
    take(chunk) {
      for (let row = 0; row < chunk.length; row++) {
        if (chunk.fate[row] !== Fate.Kept || chunk.kind[row]! < Kind.Hosts) continue;
        if ((chunk.flags[row]! & Flag.Allow) !== 0) continue;
        const text = textOf(chunk, row);
        for (const name of namesOfLine(text)) {
          of++;
          if (matchesAny(filter, text, name)) names.add(name);
        }
      }
    },
    result: () => ({ names: [...names], of }),
  };
}

function matchesAny(filter: LineFilter, text: string, name: string): boolean {
  const forms = [text, `0.0.0.0 ${name}`, `127.0.0.1 ${name}`, name];
  return forms.some((line) => filter.matchesLine(line));
}

async function entriesOf(list: SourceList, engine: Engine): Promise<EntrySink> {
  const sink = new EntrySink(true, engine);
  await list.readAhead(sink);
  sink.end();
  return sink;
}

/** Reads a published list chunk by chunk. Rejects with a `HostError` if it cannot be read. */
async function readList(
  path: string,
  take: (chunk: Chunk) => void,
  host: Host,
  { kernel, scanner }: Engine,
): Promise<void> {
  const sink = new SourceSink(
    new ChunkPool(kernel),
    { index: 0, type: "adblock", feed: undefined, splitHosts: false },
    { scanner, preparing: [{ prepare: prepareRegex }] },
    (chunk) => {
      take(chunk);
      chunk.leave();
    },
  );
  const list = new SourceList({ location: { kind: "file", path }, label: path }, host, {});
  try {
    await list.readInto(sink);
    await sink.end();
  } finally {
    list.close();
  }
}

/** The rules for names in a published list. */
export async function rulesIn(
  path: string,
  names: readonly string[],
  host: Host,
  engine: Engine,
): Promise<NameMatcher> {
  const watch = new NameMatcher(names, new RowFinder(engine.kernel), true);
  await readList(path, (chunk) => watch.take(chunk), host, engine);
  return watch;
}

/** Which of the names it blocks or rewrites, and how. */
export function blockedIn(watch: NameMatcher): ReadonlyMap<string, BlockedBefore> {
  return new Map(
    Array.from(watch.blocked(), ({ name, isForAll }) => [
      name,
      { isForAll, rules: new Set(watch.matching(name).map(({ text }) => text)) },
    ]),
  );
}
