import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { ChunkPool, RuleTable } from "../rules/rule-table.ts";
import type { LoadedList } from "../sources/load-list.ts";
import { scan } from "../syntax/scan.ts";
import { readFilterEntry } from "../syntax/filter-entry.ts";
import { compileEntryRegex, loadRegex } from "../syntax/regex-rule.ts";
import { LineFilter } from "../transformations/line-filter.ts";

/** An entry of a file or of the configuration itself, with the place a person would mend it. */
interface Entry {
  readonly text: string;
  readonly at?: Diagnostic["at"];
}

/** The filter for one level's exclusions or inclusions. Rejects with a `CompilerError` that names every bad expression. */
export async function filterOf(
  inline: readonly string[],
  files: readonly LoadedList[],
): Promise<LineFilter> {
  const entries: Entry[] = inline.map((text) => ({ text }));
  for (const list of files) entries.push(...entriesOf(list));
  if (entries.some(({ text }) => text.startsWith("/"))) await loadRegex();
  const problems = entries.flatMap((entry) => problemsOf(entry));
  if (problems.length > 0) throw new CompilerError(problems);
  return new LineFilter(entries.map(({ text }) => text));
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

/** The lines of a file of entries, without comments, outer blanks and trailing notes. */
function entriesOf(list: LoadedList): Entry[] {
  const entries: Entry[] = [];
  const rules = new RuleTable(new ChunkPool());
  const files = [...new Set(list.pieces.map(({ file }) => file))];
  for (const { file, stretch } of list.pieces) {
    const origin = files.indexOf(file);
    scan(rules, file.bytes, stretch, { origin, hashComments: false, splitHosts: false });
  }
  for (const chunk of rules.chunks) {
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.fate[row] !== Fate.Live || chunk.kind[row] === Kind.Comment) continue;
      const text = entryText(textOf(chunk, row));
      const at = { file: files[chunk.origin]!.label, line: chunk.line[row]! };
      if (text !== "") entries.push({ text, at });
    }
  }
  return entries;
}

function entryText(line: string): string {
  const text = line.trim();
  if (text.startsWith("!") || text.startsWith("# ")) return "";
  if (text.startsWith("/") && text.endsWith("/")) return text;
  for (let at = text.indexOf("#", 1); at !== -1; at = text.indexOf("#", at + 1))
    if (/\s/.test(text[at - 1]!)) return text.slice(0, at).trimEnd();
  return text;
}
