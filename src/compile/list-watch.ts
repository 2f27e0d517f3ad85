import { DOT } from "../bytes/ascii.ts";
import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { rowOf } from "../rules/rule-table.ts";
import { NameWatch, isForHost } from "../meaning/name-watch.ts";
import { suffixOf } from "../syntax/judge-row.ts";
import { Suffix } from "../syntax/public-suffix.ts";
import { isWholeSuffix } from "../syntax/reach.ts";
import { isTooWide } from "../syntax/trust.ts";

/** As many as a person reads. */
const MOST_FINDINGS = 5;

/** Looks at the rules of the finished list: whether they block what must not be blocked. */
export class ListWatch {
  private readonly pool: ChunkPool;
  private readonly finder: RowFinder;
  private readonly protectedNames: NameWatch;
  private readonly allowsSuffixes: boolean;
  private readonly wide: { readonly row: number; readonly text: string }[] = [];
  private wideCount = 0;

  constructor(
    names: Iterable<string>,
    allowsSuffixes: boolean,
    pool: ChunkPool,
    finder: RowFinder,
  ) {
    this.pool = pool;
    this.finder = finder;
    this.allowsSuffixes = allowsSuffixes;
    this.protectedNames = new NameWatch(names, finder);
  }

  take(chunk: Chunk): void {
    const odd = this.finder.odd(chunk);
    this.protectedNames.take(chunk, odd);
    if (this.allowsSuffixes) return;
    for (const row of odd) {
      const kind = chunk.kind[row]!;
      if (kind < Kind.Hosts || (chunk.flags[row]! & Flag.Generated) !== 0) continue;
      if (!this.isWide(chunk, row)) continue;
      if (++this.wideCount <= MOST_FINDINGS)
        this.wide.push({ row: chunk.idOf(row), text: textOf(chunk, row) });
    }
  }

  private isWide(chunk: Chunk, row: number): boolean {
    if (chunk.kind[row] !== Kind.Rule || isForHost(chunk, row)) {
      const endsInDot = chunk.bytesOf(row)[chunk.hostEnd[row]! - 1] === DOT;
      return endsInDot ? isWholeSuffix(hostOf(chunk, row)) : suffixOf(chunk, row) === Suffix.Icann;
    }
    return isTooWide(textOf(chunk, row));
  }

  /** What is wrong, each with the source and line that caused it. */
  findings(): Diagnostic[] {
    const blocked = [...this.protectedNames.verdicts()].filter(({ isBlocked }) => isBlocked);
    const findings = blocked.slice(0, MOST_FINDINGS).map(({ name, by }) =>
      errorOf("blocks-protected", `The list would block ${printable(name)}, which devices need`, {
        ...this.at(by),
      }),
    );
    if (blocked.length > MOST_FINDINGS)
      findings.push(
        errorOf(
          "blocks-protected",
          `and ${blocked.length - MOST_FINDINGS} more: ${blocked
            .slice(MOST_FINDINGS)
            .map(({ name }) => printable(name))
            .join(", ")}`,
        ),
      );
    for (const rule of this.wide)
      findings.push(
        errorOf(
          "blocks-suffix",
          `The rule ${printable(rule.text, 80)} is for a whole public suffix, or for nearly everything`,
          { ...this.at(rule) },
        ),
      );
    if (this.wideCount > MOST_FINDINGS)
      findings.push(errorOf("blocks-suffix", `and ${this.wideCount - MOST_FINDINGS} more`));
    return findings;
  }

  private at({ row, text }: { row: number; text: string }): Pick<Diagnostic, "at"> {
    const chunk = this.pool.chunkOf(row);
    const { file } = this.pool.origins[chunk.origin]!;
    this.pool.shelf.use(chunk);
    const line = chunk.lineOf(rowOf(row));
    this.pool.shelf.done(chunk);
    return line === 0 ? {} : { at: { file, line, frame: printable(text, 120) } };
  }
}
