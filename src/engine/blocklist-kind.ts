import type { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { RowFinder } from "../kernel/row-finder.ts";
import { NameMatcher } from "../meaning/name-matcher.ts";
import { hostOf } from "../rules/row-text.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import type { ListKind } from "../sources/acquire.ts";
import { sourceError } from "../sources/source-error.ts";
import { withParents } from "../syntax/parents.ts";
import { type Stage, eachChunk } from "../transformations/stage.ts";
import { prepareRegex } from "../transformations/trust.ts";
import type { PlannedSource } from "./plan.ts";
import { PROTECTED_NAMES, waivedNames } from "./protected-names.ts";
import { refuseNoRanks } from "./rank-sink.ts";
import type { SourceOptions } from "./source-options.ts";
import { SourceSink } from "./source-sink.ts";
import type { Engine } from "./engine.ts";

/**
 * Real block-lists have rules for 1 to 7 protected names, which the engine handles one by one. A list with more than this is
 * something else: allow-lists used by mistake have 28 to 71.
 */
const MOST = 10;

/** Protected names and their parents, except top-level domains. */
const WATCHED: ReadonlySet<string> = new Set(PROTECTED_NAMES.flatMap(watchedFor));

function watchedFor(name: string): string[] {
  return withParents(name).filter((one) => one.includes("."));
}

/** For a source that may hold anything. It has watched names too: another configuration may use its copy as a block-list. */
export const ANY_KIND: ListKind = { watched: WATCHED, judge: async () => {} };

/** What a source or a file of names must be. */
export function kindOf(wish: SourceOptions, engineOf: () => Engine): ListKind {
  const { mayBlock, role, shown } = wish;
  if (role === "ranks")
    return { ...ANY_KIND, judge: (_, list) => refuseNoRanks(list, shown, engineOf()) };
  return mayBlock === undefined ? ANY_KIND : new BlocklistKind(wish, mayBlock, engineOf);
}

/** Recognizes block-lists. A list that blocks too many of the built-in protected names is something else. */
export class BlocklistKind implements ListKind {
  readonly watched: ReadonlySet<string> = WATCHED;
  private readonly source: Pick<PlannedSource, "type" | "shown" | "feed">;
  private readonly names: readonly string[];
  /** With their parents. */
  private readonly own: ReadonlySet<string>;
  private readonly engineOf: () => Engine;

  /** Names in `mayBlock` do not count. `engineOf` is lazy: few lists need their rules checked. */
  constructor(
    source: Pick<PlannedSource, "type" | "shown" | "feed">,
    mayBlock: readonly string[],
    engineOf: () => Engine,
  ) {
    const waived = new Set(waivedNames(mayBlock));
    this.source = source;
    this.names = PROTECTED_NAMES.filter((name) => !waived.has(name));
    this.own = new Set(this.names.flatMap(watchedFor));
    this.engineOf = engineOf;
  }

  /** Checks the names in the text first, and the rules only if there are many. */
  async judge(...[found, list]: Parameters<ListKind["judge"]>): Promise<void> {
    if (found.filter((name) => this.own.has(name)).length <= MOST) return;
    const { kernel, scanner } = this.engineOf();
    const { stage, problem } = this.counter(new RowFinder(kernel), true);
    const sink = new SourceSink(
      new ChunkPool(kernel),
      { ...this.source, index: 0, splitHosts: false },
      { scanner, preparing: [{ prepare: prepareRegex }] },
      (chunk) => stage.push(chunk, (judged) => judged.leave()),
    );
    await list.readAhead(sink);
    await sink.end();
    const said = problem();
    if (said !== undefined) throw said;
  }

  /** Counts a source's rules for protected names during the compile; `isRaw` if its lines are not tidied yet. */
  counter(
    finder: RowFinder,
    isRaw = false,
  ): {
    readonly stage: Stage;
    readonly problem: () => CompilerError | undefined;
  } {
    const watch = new NameMatcher(this.names, finder, true);
    // Readers of other formats write patterns.
    const looksAtAll = isRaw || foreignFormats.has(this.source.type);
    let hits = 0;
    return {
      stage: eachChunk((chunk) => {
        if (looksAtAll) {
          watch.take(chunk);
          return;
        }
        // Allow-lists are lists of names. Matching patterns against protected names would cost 10% of the compile time.
        const rows = finder
          .hashed(chunk, watch.filter)
          .filter((row) => this.own.has(hostOf(chunk, row).toLowerCase()));
        hits += rows.length;
        if (rows.length > 0) watch.takeRows(chunk, rows);
      }),
      problem: () => {
        if (!looksAtAll && hits <= MOST) return undefined;
        const blocked = [...watch.verdicts()].filter(({ isBlocked }) => isBlocked);
        // A rule that blocks several protected names counts once.
        const rules = new Set(blocked.map(({ by }) => by.name ?? by.text));
        if (rules.size <= MOST) return undefined;
        const label = printable(this.source.shown);
        return sourceError(
          "source-not-blocklist",
          `${label} is not a block-list: it blocks ${blocked.length} names that devices need`,
          someOf(blocked.map(({ name }) => name)),
        );
      },
    };
  }
}
