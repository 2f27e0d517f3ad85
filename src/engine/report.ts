import type { Diagnostic } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { RowWriter } from "../kernel/rows.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { FATES, Fate, type FateName, fateName } from "../rules/fate.ts";
import { type ChunkPool, type RuleTable, placeOf } from "../rules/rule-table.ts";
import { type SourceState, isDegraded } from "../sources/acquire.ts";
import type { StoredFile } from "../sources/copies.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { FreedNamesOf } from "./compile-options.ts";
import type { FeatureResult } from "./feature.ts";
import type { Plan, PlannedSource } from "./plan.ts";
import type { AlarmLine, CompileReport, SourceReport } from "../documents/facts.ts";

/** A protected name that the list blocks because a fully trusted source does. */
export interface BlockedProtected {
  readonly name: string;
  /** Whether the rule is for this name only. */
  readonly isForName: boolean;
  /** Whether a device that cannot reach it reports a fault. */
  readonly isLifeline: boolean;
  readonly text: string;
  readonly at: Diagnostic["at"];
}

/** Facts about the rules of a list, for the guards. */
export interface ListFindings {
  readonly blocked: readonly BlockedProtected[];
  /** Rules for a whole public suffix, or, without one, for nearly everything. */
  readonly wide: readonly {
    readonly text: string;
    readonly suffix: string | undefined;
    readonly at: Diagnostic["at"];
  }[];
}

export const NO_FINDINGS: ListFindings = { blocked: [], wide: [] };

/** What a compile found out that later ones compare with. */
export interface Learned {
  /** Popular names that the replaced list blocks. */
  readonly blocked: readonly string[];
  readonly freed: readonly FreedNamesOf[];
}

/** What is known of a list once it is compiled. */
export interface CompiledList {
  /** Every row that was read, with its fate. */
  readonly rules: RuleTable;
  readonly report: CompileReport;
  /** The labels of sources and files of names that it is made without. */
  readonly leftOut: readonly string[];
  /** The labels of all sources and files of names, read or not. */
  readonly named: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
  /** Names that the rules should not block, for the guards. */
  readonly findings: ListFindings;
  /** The local files that were read. */
  readonly inputs: readonly InputFile[];
  /** Digest of all remote content; undefined if it cannot be computed. */
  readonly web: string | undefined;
  /** The files of each remote source, by `storeKeyOf` the source as written in the configuration. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** The sources, in report order. */
  readonly sources: readonly Pick<
    PlannedSource,
    "source" | "shown" | "feed" | "member" | "keyFiles"
  >[];
  /** The time in the list's header. */
  readonly builtAt: Date;
  /** The list's header without the parts that depend on the clock. */
  readonly timelessHead: string;
  /** Properties of the list that other formats need. */
  readonly shape: ListShape;
  /** Popular names, if the configuration has any. */
  readonly ranks: RankedNames | undefined;
  /** For the guards of later lists. */
  readonly learned: Learned;
  /** Deletes temporary files. Rows that did not fit into memory are unavailable afterwards. */
  close(): void;
}

/** The position of a rule, given by its row. */
export function findingLocation(
  { row, text }: { readonly row: number; readonly text?: string },
  pool: ChunkPool,
): Diagnostic["at"] {
  const { file, line, text: own } = placeOf(row, pool);
  return line === 0 ? undefined : { file, line, frame: printable(text ?? own, 120) };
}

/** Whether the list is complete and no source exceeded its trust: the condition of `--strict`. */
export function isFlawless({ degraded, protected: kept, sources }: CompileReport): boolean {
  const isOver = sources.some(({ dropped }) => dropped["over-budget"] !== undefined);
  return !degraded && kept === undefined && !isOver;
}

/** Facts about a compile besides its counts; arrays are indexed by source. */
export interface CompileFacts {
  readonly plan: Plan;
  readonly bytesRead: readonly number[];
  readonly states: readonly SourceState[];
  /** Whether no file of names and no source is left out. */
  readonly isWhole: boolean;
  /** Exceptions that lost their `$important`. */
  readonly weakened: readonly number[];
  readonly results: readonly FeatureResult[];
}

export function compileReport(count: FateCount, bytes: number, facts: CompileFacts): CompileReport {
  const { plan, bytesRead, states, isWhole, weakened, results } = facts;
  const sources = sourceReports(count, plan.sources, bytesRead, states).map((one, index) => {
    const alarms = [...count.alarms[index]!.values()];
    return {
      ...one,
      ...(alarms.length > 0 && { alarms }),
      ...(weakened[index] !== undefined && { weakened: weakened[index] }),
      ...Object.assign({}, ...results.map((result) => result.sources?.get(index))),
    };
  });
  return {
    name: plan.config.name,
    sources,
    rules: count.rules,
    lines: sources.reduce((sum, { lines }) => sum + lines, 0),
    kept: sources.reduce((sum, { kept }) => sum + kept, 0),
    bytes,
    ...Object.assign({}, ...results.map(({ report }) => report)),
    degraded: !isWhole || states.some(({ kind }) => isDegraded(kind)),
  };
}

/** The report of every source, from the counts. */
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
      if (fate !== Fate.Kept && rows > 0) dropped[fateName(fate)] = rows;
    }
    return {
      label,
      source: shown,
      state: state.kind,
      ...("goodAt" in state ? { goodAt: new Date(state.goodAt).toISOString() } : {}),
      ...(state.kind === "held" ? { heldUntil: new Date(state.until).toISOString() } : {}),
      ...((state.kind === "stale" || state.kind === "dropped") && state.until !== undefined
        ? { usedUntil: new Date(state.until).toISOString() }
        : {}),
      ...("causes" in state ? { problem: problemOf(state) } : {}),
      bytes: bytesRead[index] ?? 0,
      lines,
      kept: count.fates[index]![Fate.Kept]!,
      dropped,
    };
  });
}

/** Why it cannot be read; why it is held, the last cause, which is nearest to the root. */
function problemOf({
  kind,
  causes,
}: Extract<SourceState, { readonly causes: readonly Diagnostic[] }>): NonNullable<
  SourceReport["problem"]
> {
  const at = kind === "held" ? -1 : 0;
  const { code = "fetch-failed", message = "", cause } = causes.at(at) ?? {};
  return { code, message: cause ?? message };
}

const ALARMS: readonly number[] = FATES.flatMap(([, rank], fate) =>
  rank === "alarm" ? [fate] : [],
);
const LONGEST_TEXT = 200;

/** Counts the fates of all input lines by source, and the rules of the list. Takes chunks in list order. */
export class FateCount {
  private readonly pool: ChunkPool;
  /** Lines per fate, by source. */
  readonly fates: readonly Float64Array[];
  /** The first line of each fate that is an alarm, by source. */
  readonly alarms: readonly Map<number, AlarmLine>[];
  rules = 0;
  private readonly writer: RowWriter;
  private lineFate: number = Fate.Kept;

  constructor(pool: ChunkPool, sources: number, writer: RowWriter) {
    this.pool = pool;
    this.writer = writer;
    this.fates = Array.from({ length: sources }, () => new Float64Array(256));
    this.alarms = this.fates.map(() => new Map());
  }

  add(chunk: Chunk): void {
    const { source } = this.pool.origins[chunk.origin]!;
    const count = this.fates[source]!;
    this.countRows(chunk, count);
    const known = this.alarms[source]!;
    if (ALARMS.some((fate) => count[fate]! > 0 && !known.has(fate))) this.noteAlarms(chunk, known);
  }

  /** A hosts line that became several rules counts once. It counts as kept if one of them is. */
  private countRows(chunk: Chunk, count: Float64Array): void {
    // Fast path: every row is one line of the input.
    if (!chunk.has.otherRows) {
      this.rules += this.writer.count(chunk, count);
      this.lineFate = chunk.fate[chunk.length - 1] ?? this.lineFate;
      return;
    }
    const { flags: allFlags, fate: fates, kind, length } = chunk;
    for (let row = 0; row < length; row++) {
      const flags = allFlags[row]!;
      const fate = fates[row]!;
      if (fate === Fate.Kept && kind[row]! >= Kind.Hosts) this.rules++;
      if ((flags & Flag.Generated) !== 0) continue;
      if ((flags & Flag.Continued) === 0) {
        count[fate]!++;
        this.lineFate = fate;
      } else if (fate === Fate.Kept && this.lineFate !== Fate.Kept) {
        count[this.lineFate]!--;
        count[Fate.Kept]!++;
        this.lineFate = Fate.Kept;
      }
    }
  }
  private noteAlarms(chunk: Chunk, known: Map<number, AlarmLine>): void {
    const { file } = this.pool.origins[chunk.origin]!;
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      if (!ALARMS.includes(fate) || known.has(fate)) continue;
      if ((chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const text = textOf(chunk, row).slice(0, LONGEST_TEXT);
      known.set(fate, { fate: fateName(fate), file, line: chunk.lineOf(row), text });
    }
  }
}
