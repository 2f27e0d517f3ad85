import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import type { LineSink } from "../sources/load-list.ts";
import { readAllowEntry } from "../syntax/allow-entry.ts";
import { readFilterEntry } from "../syntax/filter-entry.ts";
import { compileEntryRegex, loadRegex } from "../syntax/regex-rule.ts";
import { type FileLines, ListScan, type Stretch } from "../syntax/scan.ts";
import type { TextBlock } from "../syntax/text-block.ts";
import { AllowList } from "../transformations/allow.ts";
import { LineFilter } from "../transformations/line-filter.ts";

/** An entry of a file or of the configuration itself, with the place a person would mend it. */
interface Entry {
  readonly text: string;
  readonly at?: Diagnostic["at"];
}

/** The filter for one level's exclusions or inclusions. Rejects with a `CompilerError` that names every bad expression. */
export async function filterOf(
  inline: readonly string[],
  files: readonly EntrySink[],
): Promise<LineFilter> {
  const entries: Entry[] = inline.map((text) => ({ text }));
  for (const file of files) for (const entry of file.entries) entries.push(entry);
  if (entries.some(({ text }) => text.startsWith("/"))) await loadRegex();
  const problems = entries.flatMap((entry) => problemsOf(entry));
  if (problems.length > 0) throw new CompilerError(problems);
  return new LineFilter(entries.map(({ text }) => text));
}

/** The allow-list of these entries. Throws a `CompilerError` that names every one that is no name. */
export function allowListOf(inline: readonly string[], files: readonly EntrySink[]): AllowList {
  const entries: Entry[] = inline.map((text) => ({ text }));
  for (const file of files) for (const entry of file.entries) entries.push(entry);
  const problems: Diagnostic[] = [];
  const read = entries.flatMap(({ text, at }) => {
    const names = readAllowEntry(text);
    if (names !== undefined) return names;
    const message = `Invalid configuration: ${printable(text)} is not a name to allow`;
    problems.push(errorOf("bad-allow-entry", message, at === undefined ? {} : { at }));
    return [];
  });
  if (problems.length > 0) throw new CompilerError(problems);
  return new AllowList(read);
}

function problemsOf({ text, at }: Entry): Diagnostic[] {
  const entry = readFilterEntry(text);
  if (entry.kind !== "regex") return [];
  try {
    compileEntryRegex(entry.source);
    return [];
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    const message = `Invalid configuration: ${printable(text)} is not a regular expression`;
    return [
      errorOf("bad-regex-entry", message, {
        cause: printable(cause),
        ...(at === undefined ? {} : { at }),
      }),
    ];
  }
}

/** Gathers the entries of a file: its lines without comments, outer blanks and trailing notes. */
export class EntrySink implements LineSink {
  readonly entries: Entry[] = [];
  private readonly files: string[] = [];
  private readonly scan: ListScan = new ListScan(
    new ChunkPool(),
    { hashComments: false, splitHosts: false },
    (chunk) => this.take(chunk),
  );

  begin(label: string): FileLines {
    return { origin: this.files.push(label) - 1, nextLine: 1 };
  }

  read(file: FileLines, block: TextBlock, stretch: Stretch): void {
    this.scan.read(file, block, stretch);
  }

  nextLine(file: FileLines): number {
    return file.nextLine;
  }

  blank(): void {}

  end(): void {
    this.scan.flush();
  }

  private take(chunk: Chunk): void {
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.fate[row] !== Fate.Live || chunk.kind[row] === Kind.Comment) continue;
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
