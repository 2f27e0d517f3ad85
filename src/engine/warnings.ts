import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Chunk } from "../rules/chunk.ts";
import { textOf } from "../rules/row-text.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import type { WarningCode } from "../transformations/transformation-context.ts";

/** Warnings of the transformations, counted by source and kind, with the first example of each. */
export interface Note {
  readonly code: WarningCode;
  readonly source: number;
  readonly detail?: string;
  readonly example: { readonly file: string; readonly line: number; readonly text: string };
  count: number;
}

const WORDS: Record<WarningCode, (count: number, detail: string) => string> = {
  "real-address": (count) =>
    count === 1
      ? "1 hosts line maps a name to a real address; it is blocked like all others"
      : `${numberText(count)} hosts lines map a name to a real address; the names are blocked like all others`,
  "no-name": (count) => `${countText(count, "line has", "lines have")} an address but no name`,
  "not-converted": (count) =>
    count === 1
      ? "1 line has a name without an ASCII form and was not changed"
      : `${numberText(count)} lines have a name without an ASCII form and were not changed`,
  "bad-regex": (count) =>
    `${countText(count, "regular expression does", "regular expressions do")} not compile`,
  "exclusion-splits-label": (count, detail) =>
    `the exclusion "${detail}" removed ${countText(count, "line")} in which it is only part of a name; write ||${detail}^ for the domain`,
  "modifiers-removed": (count) =>
    count === 1
      ? "1 rule now blocks without the conditions of its removed modifiers"
      : `${numberText(count)} rules now block without the conditions of their removed modifiers`,
};

export class Warnings {
  private readonly warnings = new Map<string, Note>();
  private readonly pool: ChunkPool;

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }

  add(code: WarningCode, chunk: Chunk, row: number, detail?: string): void {
    const { source, file } = this.pool.origins[chunk.origin]!;
    const key = `${code} ${source} ${detail ?? ""}`;
    const known = this.warnings.get(key);
    if (known !== undefined) {
      known.count++;
      return;
    }
    const example = { file, line: chunk.lineOf(row), text: printable(textOf(chunk, row), 80) };
    this.warnings.set(key, {
      code,
      source,
      example,
      count: 1,
      ...(detail === undefined ? {} : { detail }),
    });
  }

  /** The user can change an exclusion. The rest is about lines of others. */
  diagnostics(labels: readonly string[]): Diagnostic[] {
    return Array.from(this.warnings.values(), ({ code, source, detail, example, count }) => ({
      code: "list-note",
      severity: code === "exclusion-splits-label" ? "warning" : "note",
      message: `${printable(labels[source] ?? "")}: ${WORDS[code](count, printable(detail ?? ""))}`,
      at: { file: example.file, line: example.line, frame: example.text },
      subject: printable(`${labels[source] ?? ""} ${code} ${detail ?? ""}`),
    }));
  }
}
