import { encodeUtf8 } from "../bytes/text.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import { fateOfLine } from "../feeds/feed.ts";
import { type Host, HostError } from "../host/host.ts";
import { resolvableName } from "../formats/special-rule.ts";
import { namesOfLine, namesOfRow } from "../meaning/line.ts";
import { RankList } from "../meaning/ranked-names.ts";
import { FreedNames } from "../meaning/rule-index.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import type { RemoteSource } from "../sources/acquire.ts";
import type { FreedNow } from "../sources/ledger.ts";
import { sourceError } from "../sources/limits.ts";
import { SourceList } from "../sources/source-list.ts";
import type { FileLines, LineRange, TextBlock } from "../syntax/list-scan.ts";
import { RegexEntryError, compileEntryRegex, loadRegex } from "../syntax/regex-rule.ts";
import { isWideAllowEntry, isWideExclusion, readFilterEntry } from "../syntax/trust.ts";
import { loadIdna, readAllowEntry } from "../syntax/written-names.ts";
import { AllowList } from "../transformations/allow.ts";
import { LineFilter, isInternationalName } from "../transformations/filter.ts";
import { prepareRegex } from "../transformations/trust.ts";
import type { EngineOptions, SourceOptions } from "./compile-options.ts";
import type { Engine } from "./shared-sources.ts";
import { ScanSink, SourceSink } from "./source-sink.ts";

/** An entry of a file or of the configuration, and where the user can fix it. */
interface PlacedEntry {
  readonly text: string;
  readonly at?: Diagnostic["at"];
}

/** Limit per level for regular expressions from remote files: each may run on every line. */
const MOST_REMOTE_REGEXES = 300;

/** The combined entries of one or more files, with a warning for each file that has ignored entries. */
export interface Entries<T> {
  readonly value: T;
  readonly warnings: readonly Diagnostic[];
}

/**
 * The filter for one level's exclusions or inclusions. Rejects with a `CompilerError` that lists every invalid expression of
 * the configuration and of local files. Unless `mayBeWide`, remote entries that match far too much are ignored.
 */
export async function filterOf(
  inline: readonly string[],
  files: readonly EntrySink[],
  mayBeWide: boolean,
): Promise<Entries<LineFilter>> {
  const own: PlacedEntry[] = inline.map((text) => ({ text }));
  // Spread would exceed the limit on call arguments.
  for (const file of files) if (!file.isRemote) for (const entry of file.entries) own.push(entry);
  const all = [...own, ...files.flatMap(({ entries }) => entries)];
  if (all.some(({ text }) => text.startsWith("/"))) await loadRegex();
  if (all.some(({ text }) => isInternationalName(text))) await loadIdna();
  const problems = own.flatMap((entry) => problemsOf(entry, true));
  if (problems.length > 0) throw new CompilerError(byFile(problems));
  const taken = own.map(({ text }) => text);
  const warnings: Diagnostic[] = [];
  let regexes = 0;
  for (const file of files) {
    if (!file.isRemote) continue;
    const ignored: PlacedEntry[] = [];
    for (const entry of file.entries) {
      const isRegex = readFilterEntry(entry.text).kind === "regex";
      const isOneTooMany = isRegex && ++regexes > MOST_REMOTE_REGEXES;
      if (!isOneTooMany && isUsable(entry, mayBeWide)) taken.push(entry.text);
      else ignored.push(entry);
    }
    warnings.push(
      ...ignoredEntries(ignored, {
        one: "matches far too much, takes too long to match, or is invalid",
        many: "match far too much, take too long to match, or are invalid",
      }),
    );
  }
  const remote = new Set(taken.slice(own.length));
  for (const { text } of own) remote.delete(text);
  return { value: new LineFilter(taken, remote), warnings };
}

function isUsable(entry: PlacedEntry, mayBeWide: boolean): boolean {
  if (problemsOf(entry, false).length > 0) return false;
  if (mayBeWide) return true;
  const filter = new LineFilter([entry.text], new Set([entry.text]));
  return !isWideExclusion(entry.text, (line) => filter.matchesLine(line));
}

/**
 * Builds the allow-list. Throws a `CompilerError` that lists every entry of the configuration that is not a name. In files,
 * other lines are ignored, and so are names that a remote file may not allow.
 */
export function allowListOf(
  inline: readonly string[],
  files: readonly EntrySink[],
): Entries<AllowList> {
  const bad: string[] = [];
  const read = inline.flatMap((text) => {
    const names = readAllowEntry(text);
    if (names === undefined) bad.push(text);
    return names ?? [];
  });
  if (bad.length > 0) {
    const what =
      bad.length === 1
        ? `${printable(bad[0]!)} is not a name`
        : `${countText(bad.length, "entry", "entries")} are not names`;
    const some = bad.length === 1 ? "" : `: ${someOf(bad)}`;
    const message = `Invalid configuration: ${what} to allow${some}`;
    throw new CompilerError([errorOf("bad-allow-entry", message, { all: bad })]);
  }
  const warnings: Diagnostic[] = [];
  for (const { entries, isRemote } of files) {
    const unread: PlacedEntry[] = [];
    const wide: PlacedEntry[] = [];
    for (const entry of entries) {
      const names = readAllowEntry(entry.text);
      if (names === undefined) unread.push(entry);
      else if (isRemote && names.some(isWideAllowEntry)) wide.push(entry);
      else for (const name of names) read.push(name);
    }
    warnings.push(
      ...ignoredEntries(unread, { one: "is not a name", many: "are not names" }),
      ...ignoredEntries(wide, {
        one: "allows a whole suffix or a shared host",
        many: "allow a whole suffix or a shared host",
      }),
    );
  }
  return { value: new AllowList(read), warnings };
}

/** The names in files of protected names. Throws a `CompilerError` if a local file has no names. */
export function protectedOf(files: readonly EntrySink[]): Entries<string[]> {
  const problems = files.flatMap(({ entries, isRemote }): Diagnostic[] => {
    const [first] = entries;
    if (isRemote || first === undefined) return [];
    if (entries.some(({ text }) => readAllowEntry(text) !== undefined)) return [];
    const count = countText(entries.length, "entry", "entries");
    const message = `Invalid configuration: none of the ${count} of guards.protect is a name, such as ${printable(first.text, 60)}`;
    const hint = "Write one name per line; from a CSV file, use the column with the names";
    return [errorOf("bad-allow-entry", message, { ...(first.at && { at: first.at }), hint })];
  });
  if (problems.length > 0) throw new CompilerError(problems);
  const { value, warnings } = allowListOf([], files);
  return { value: value.uses.map(({ entry }) => entry.name), warnings };
}

/** One problem per file: the first, with the number of the others. */
function byFile(problems: readonly Diagnostic[]): Diagnostic[] {
  const files = new Map<string | undefined, Diagnostic[]>();
  for (const one of problems) {
    const known = files.get(one.at?.file);
    if (known === undefined) files.set(one.at?.file, [one]);
    else known.push(one);
  }
  return [...files].flatMap(([file, [first, ...others]]) => {
    // Entries of the configuration itself have no position.
    if (first === undefined || others.length === 0 || file === undefined)
      return [first, ...others].filter((one) => one !== undefined);
    const count = `${countText(others.length, "entry", "entries")} of the file`;
    return [
      {
        ...first,
        message: `${first.message}, and so ${others.length === 1 ? "is" : "are"} ${count}`,
      },
    ];
  });
}

/** One warning for all of them, at the first. */
function ignoredEntries(
  entries: readonly PlacedEntry[],
  why: { readonly one: string; readonly many: string },
): Diagnostic[] {
  const [first] = entries;
  if (first === undefined) return [];
  const shown = printable(first.text, 60);
  const message =
    entries.length === 1
      ? `1 entry ignored, because it ${why.one}: ${shown}`
      : `${numberText(entries.length)} entries ignored, because they ${why.many}, such as ${shown}`;
  return [warningOf("entries-ignored", message, first.at === undefined ? {} : { at: first.at })];
}

/** Errors in an expression. RE2 must accept a remote one (`isOwn` is false). */
function problemsOf({ text, at }: PlacedEntry, isOwn: boolean): Diagnostic[] {
  const entry = readFilterEntry(text);
  if (entry.kind !== "regex") return [];
  try {
    compileEntryRegex(entry.source, isOwn);
    return [];
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    const what =
      error instanceof RegexEntryError ? "too large an expression" : "not a regular expression";
    const message = `Invalid configuration: ${printable(text, 80)} is ${what}`;
    return [
      errorOf("bad-regex-entry", message, {
        cause: printable(cause),
        ...(at === undefined ? {} : { at }),
      }),
    ];
  }
}

/** Collects the entries of a file: its lines without comments, surrounding blanks and trailing notes. */
export class EntrySink extends ScanSink {
  readonly entries: PlacedEntry[] = [];
  /** Whether a third party can change the file. */
  readonly isRemote: boolean;
  private readonly files: string[] = [];

  constructor(isRemote: boolean, engine: Engine) {
    super(engine, false);
    this.isRemote = isRemote;
  }

  begin(label: string): FileLines {
    return { origin: this.files.push(label) - 1, nextLine: 1 };
  }

  protected take(chunk: Chunk): void {
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.fate[row] !== Fate.Kept || chunk.kind[row] === Kind.Comment) continue;
      const text = entryText(textOf(chunk, row));
      const at = { file: this.files[chunk.origin]!, line: chunk.lineOf(row) };
      if (text !== "") this.entries.push({ text, at });
    }
    chunk.leave();
  }
}

function entryText(line: string): string {
  const text = line.trim();
  if (text.startsWith("!") || text.startsWith("# ")) return "";
  if (text.startsWith("/") && text.endsWith("/")) return text;
  for (let at = text.indexOf("#", 1); at !== -1; at = text.indexOf("#", at + 1))
    if (/\s/.test(text[at - 1]!)) return text.slice(0, at).trimEnd();
  return text;
}

/** Reads a list of popular names, in its order; with `takesRules`, also the names of hosts lines and of rules that block. */
export class RankSink extends ScanSink {
  readonly list: RankList = new RankList();
  private place = 0;
  private readonly takesRules: boolean;

  constructor(engine: Engine, takesRules: boolean) {
    super(engine, true);
    this.takesRules = takesRules;
  }

  begin(): FileLines {
    return { origin: 0, nextLine: 1 };
  }

  /** Rows of a feed without a name keep their place, so that ranks are those of the list. */
  protected take(chunk: Chunk): void {
    const { bytes, start, end } = chunk;
    for (let row = 0; row < chunk.length; row++) {
      const fate = fateOfLine(bytes, start[row]!, end[row]!);
      const kind = chunk.kind[row]!;
      if (fate === Fate.Kept && (chunk.fate[row] !== Fate.Kept || kind <= Kind.Comment)) continue;
      // A header, or rows that `where` leaves out.
      if (fate === Fate.NoValue || fate === Fate.NotChosen) continue;
      this.place++;
      const flags = chunk.flags[row]!;
      if (this.takesRules && (kind === Kind.Hosts || kind === Kind.Block)) {
        this.addAll(namesOfRow(chunk, row));
        continue;
      }
      if (fate !== Fate.Kept || kind !== Kind.Domain || (flags & Flag.PlainHost) === 0) continue;
      if ((flags & Flag.UpperHost) !== 0) {
        const name = encodeUtf8(hostOf(chunk, row).toLowerCase());
        this.list.add(name, 0, name.length, this.place);
      } else
        this.list.add(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!, this.place);
    }
    chunk.leave();
  }

  private addAll(names: readonly string[]): void {
    for (const written of names) {
      const name = resolvableName(written);
      if (name === undefined) continue;
      const bytes = encodeUtf8(name);
      this.list.add(bytes, 0, bytes.length, this.place);
    }
  }
}

type NameFile = Pick<SourceOptions, "shown" | "role">;

/** Rejects with a `CompilerError` if a list has no names. It can still be read afterwards. */
export async function refuseNoRanks(
  list: SourceList,
  file: NameFile,
  engine: Engine,
): Promise<void> {
  const sink = new FirstNames(engine, file.role === "known");
  await list.readAhead(sink);
  sink.end();
  if (sink.list.length === 0) throw noRanks(file);
}

/** Reads until there is a name. */
class FirstNames extends RankSink {
  override read(file: FileLines, block: TextBlock, range: LineRange): void {
    if (this.list.length > 0) return;
    super.read(file, block, range);
    this.end();
  }
}

export function noRanks({ shown, role }: NameFile): CompilerError {
  return sourceError(
    "bad-feed",
    `${printable(shown)} has no names${role === "known" ? "" : ", and so no ranks"}`,
    "its lines are neither names nor what its type describes",
  );
}

type FreeingRole = "allow" | "exclusions" | "protect";

/** Finds what a file of names frees; undefined for any other, and for one that no published list depends on. */
export function freeingOf(
  { source, role }: SourceOptions,
  listsWith: EngineOptions["listsWith"],
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
export async function readList(
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
