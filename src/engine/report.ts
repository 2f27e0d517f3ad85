import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { RowWriter } from "../kernel/row-writer.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate, type FateName, fateName } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { type SourceState, isDegraded } from "../sources/acquire.ts";
import type { Plan, PlannedSource } from "./plan.ts";

/** What became of a source's lines: `lines` is the sum of `kept` and everything in `dropped`. */
export interface SourceReport {
  readonly label: string;
  readonly source: string;
  /** How it was had: `stale` and `held` are its last good copy, `dropped` is an optional source that is not there. */
  readonly state: SourceState["kind"];
  /** When its server last said that this is the list; for a copy that stands in for it. */
  readonly goodAt?: string;
  /** When it is taken as it is now, if it stays so; for one that is held. */
  readonly heldUntil?: string;
  /** Why it is not there or not taken. */
  readonly problem?: { readonly code: string; readonly message: string };
  readonly bytes: number;
  readonly lines: number;
  readonly kept: number;
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
  /** Exceptions that are in the list without their `$important`, which the source is not trusted with. */
  readonly weakened?: number;
}

export interface CompileReport {
  readonly name: string;
  readonly sources: readonly SourceReport[];
  readonly lines: number;
  readonly kept: number;
  /** Rules in the list; differs from `kept` where one line gave several. Comments, blank lines and banners do not count. */
  readonly rules: number;
  readonly bytes: number;
  /** Whether a source is not what it should be: its last good copy, or left out. */
  readonly degraded: boolean;
  /** Protected names that the list blocks. */
  readonly blocked?: readonly string[];
  /** Protected names that sources below full trust tried to block; they stay reachable. */
  readonly protected?: readonly string[];
  /** What each entry of the allow-list did. */
  readonly allow?: readonly {
    readonly entry: string;
    readonly removed: number;
    readonly exception?: string;
  }[];
}

/** Whether a list is complete and every source did only what it may: what `--strict` asks for. */
export function isFlawless({ degraded, protected: kept, sources }: CompileReport): boolean {
  const isOver = sources.some(({ dropped }) => dropped["over-budget"] !== undefined);
  return !degraded && kept === undefined && !isOver;
}

/** What a compile knows besides what it counted; arrays are by source. */
export interface CompileFacts {
  readonly plan: Plan;
  readonly bytesRead: readonly number[];
  readonly states: readonly SourceState[];
  /** Exceptions that lost their `$important`. */
  readonly weakened: readonly number[];
  readonly allow: Pick<CompileReport, "allow">;
}

export function compileReport(count: FateCount, bytes: number, facts: CompileFacts): CompileReport {
  const { plan, bytesRead, states, weakened, allow } = facts;
  const sources = sourceReports(count, plan.sources, bytesRead, states).map((one, index) =>
    weakened[index] === undefined ? one : { ...one, weakened: weakened[index] },
  );
  return {
    name: plan.config.name,
    sources,
    rules: count.rules,
    lines: sources.reduce((sum, { lines }) => sum + lines, 0),
    kept: sources.reduce((sum, { kept }) => sum + kept, 0),
    bytes,
    ...allow,
    degraded: states.some(({ kind }) => isDegraded(kind)),
  };
}

/** The report of every source, from what was counted. */
function sourceReports(
  count: FateCount,
  sources: readonly PlannedSource[],
  bytesRead: readonly number[],
  states: readonly SourceState[],
): SourceReport[] {
  return sources.map(({ label, shown }, index): SourceReport => {
    const dropped: Partial<Record<FateName, number>> = {};
    let lines = 0;
    const state = states[index] ?? { kind: "local" };
    for (const [fate, rows] of count.fates[index]!.entries()) {
      lines += rows;
      if (fate !== Fate.Live && rows > 0) dropped[fateName(fate)] = rows;
    }
    return {
      label,
      source: shown,
      state: state.kind,
      ...("goodAt" in state ? { goodAt: new Date(state.goodAt).toISOString() } : {}),
      ...(state.kind === "held" ? { heldUntil: new Date(state.until).toISOString() } : {}),
      ...(state.kind === "held" || state.kind === "dropped"
        ? { problem: problemOf(state.causes) }
        : {}),
      bytes: bytesRead[index] ?? 0,
      lines,
      kept: count.fates[index]![Fate.Live]!,
      dropped,
    };
  });
}

/** What went wrong last, which is nearest to the cause. */
function problemOf(causes: readonly Diagnostic[]): NonNullable<SourceReport["problem"]> {
  const { code = "fetch-failed", message = "", cause } = causes.at(-1) ?? {};
  return { code, message: cause ?? message };
}

/** Counts the fate of every line of the input, by source, and the rules of the list, chunk by chunk in its order. */
export class FateCount {
  private readonly pool: ChunkPool;
  /** For each source, how many lines have each fate. */
  readonly fates: readonly Float64Array[];
  rules = 0;
  private readonly writer: RowWriter;
  private lineFate: number = Fate.Live;

  constructor(pool: ChunkPool, sources: number, writer: RowWriter) {
    this.pool = pool;
    this.writer = writer;
    this.fates = Array.from({ length: sources }, () => new Float64Array(256));
  }

  /** A hosts line that became several rules counts once, and as kept if one of them is. */
  add(chunk: Chunk): void {
    const count = this.fates[this.pool.origins[chunk.origin]!.source]!;
    // Where every row is a line of its own, and of the input, rows are simply counted.
    if (!chunk.has.otherRows) {
      this.rules += this.writer.count(chunk, count);
      this.lineFate = chunk.fate[chunk.length - 1] ?? this.lineFate;
      return;
    }
    const { flags: allFlags, fate: fates, kind, length } = chunk;
    for (let row = 0; row < length; row++) {
      const flags = allFlags[row]!;
      const fate = fates[row]!;
      if (fate === Fate.Live && kind[row]! >= Kind.Hosts) this.rules++;
      if ((flags & Flag.Generated) !== 0) continue;
      if ((flags & Flag.Continued) === 0) {
        count[fate]!++;
        this.lineFate = fate;
      } else if (fate === Fate.Live && this.lineFate !== Fate.Live) {
        count[this.lineFate]!--;
        count[Fate.Live]!++;
        this.lineFate = Fate.Live;
      }
    }
  }
}
