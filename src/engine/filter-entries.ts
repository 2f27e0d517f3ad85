import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import { type Chunk, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { FileLines } from "../syntax/list-scan.ts";
import { RegexEntryError, compileEntryRegex, loadRegex } from "../syntax/regex-rule.ts";
import { isWideAllowEntry, isWideExclusion, readFilterEntry } from "../syntax/trust.ts";
import { loadIdna, readAllowEntry } from "../syntax/written-names.ts";
import { AllowList } from "../transformations/allow.ts";
import { LineFilter, isInternationalName } from "../transformations/filter.ts";
import type { Engine } from "./shared-sources.ts";
import { ScanSink } from "./source-sink.ts";

/** An entry of a file or of the configuration, and where the user can fix it. */
interface Entry {
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
  const own: Entry[] = inline.map((text) => ({ text }));
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
    const ignored: Entry[] = [];
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

function isUsable(entry: Entry, mayBeWide: boolean): boolean {
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
    const unread: Entry[] = [];
    const wide: Entry[] = [];
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
  entries: readonly Entry[],
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
function problemsOf({ text, at }: Entry, isOwn: boolean): Diagnostic[] {
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
  readonly entries: Entry[] = [];
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
