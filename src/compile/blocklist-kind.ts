import type { CompilerError, Diagnostic } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { hashName } from "../bytes/hash.ts";
import type { Host } from "../host/host.ts";
import { HashFilter, RowFinder } from "../kernel/row-finder.ts";
import { NameWatch } from "../meaning/name-watch.ts";
import { PlainArena } from "../rules/arena.ts";
import type { Chunk } from "../rules/chunk.ts";
import { ChunkShelf } from "../rules/chunk-shelf.ts";
import { Kind } from "../rules/kind.ts";
import { hostOf } from "../rules/row-text.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import type { ListKind } from "../sources/acquire.ts";
import type { SourceList } from "../sources/load-list.ts";
import { sourceError } from "../sources/source-error.ts";
import { withParents } from "../syntax/parents.ts";
import { type Stage, eachChunk } from "../transformations/stage.ts";
import { prepareRegex } from "../transformations/trust.ts";
import type { PlannedSource } from "./plan.ts";
import { PROTECTED_NAMES, waivedNames } from "./protected-names.ts";
import { scratchOf } from "./scratch.ts";
import { SourceSink } from "./source-sink.ts";

/**
 * Real block-lists have rules for 1 to 7 protected names, which are handled one by one. Lists with more than this are something
 * else: allow-lists that are used by mistake have them for 28 to 71.
 */
const MOST = 10;

/** Tells block-lists from lists that are something else, by the built-in protected names that they have rules for. */
export class BlocklistKind {
  private readonly names: ReadonlySet<string>;
  /** Names and those above them, but for the last label. */
  private readonly watched: ReadonlySet<string>;
  private readonly filter = new HashFilter();

  /** Names of `mayBlock` do not count. */
  constructor(mayBlock: readonly string[]) {
    const waived = new Set(waivedNames(mayBlock));
    this.names = new Set(PROTECTED_NAMES.filter((name) => !waived.has(name)));
    this.watched = new Set(
      [...this.names].flatMap((name) => withParents(name).filter((one) => one.includes("."))),
    );
    for (const name of this.watched) {
      const bytes = encodeUtf8(name);
      this.filter.add(hashName(bytes, 0, bytes.length));
    }
  }

  /** Judges a source before it is taken: by the names in its text, and only where there are many by its rules. */
  kindOf(source: Pick<PlannedSource, "type" | "shown">, host: Host): ListKind {
    return {
      watched: this.watched,
      judge: async (found, list) => {
        if (found.filter((name) => this.watched.has(name)).length <= MOST) return;
        const { names, targets } = await this.blockedBy(source, list, host);
        if (targets > MOST) throw notBlocklist(source.shown, names);
      },
    };
  }

  /** Counts the rules of a source for such names while it is compiled. */
  counter(finder: RowFinder): {
    readonly stage: Stage;
    problem(label: string): readonly Diagnostic[];
  } {
    const found = new Set<string>();
    const stage = eachChunk((chunk) => {
      for (const row of finder.hashed(chunk, this.filter)) this.count(chunk, row, found);
    });
    return {
      stage,
      problem: (label) => (found.size > MOST ? notBlocklist(label, [...found]).diagnostics : []),
    };
  }

  /** A rule for more than a protected name counts once. */
  private count(chunk: Chunk, row: number, found: Set<string>): void {
    const kind = chunk.kind[row]!;
    if (kind !== Kind.Block && kind !== Kind.Hosts && kind !== Kind.Domain) return;
    const name = hostOf(chunk, row).toLowerCase();
    if ((kind === Kind.Block ? this.watched : this.names).has(name)) found.add(name);
  }

  private async blockedBy(
    { type }: Pick<PlannedSource, "type" | "shown">,
    list: SourceList,
    host: Host,
  ): Promise<{ names: string[]; targets: number }> {
    const shelf = new ChunkShelf(Infinity, () => scratchOf(host));
    const pool = new ChunkPool(new PlainArena(), shelf);
    const watch = new NameWatch(this.names, new RowFinder(undefined), true);
    const source = { index: 0, type, splitHosts: false };
    const sink = new SourceSink(pool, source, undefined, [{ prepare: prepareRegex }], (chunk) =>
      watch.take(chunk),
    );
    await list.readAhead(sink);
    await sink.end();
    const blocked = [...watch.verdicts()].filter(({ isBlocked }) => isBlocked);
    return {
      names: blocked.map(({ name }) => name),
      targets: new Set(blocked.map(({ by }) => by.name ?? by.text)).size,
    };
  }
}

function notBlocklist(label: string, names: readonly string[]): CompilerError {
  return sourceError(
    "source-not-blocklist",
    `${printable(label)} is not a block-list: it blocks ${names.length} names that devices need`,
    someOf(names),
  );
}
