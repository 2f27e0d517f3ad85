import type { Diagnostic } from "../diagnostics/render.ts";
import { countText, numberText, printable } from "../diagnostics/text.ts";
import type { ComparisonSlot } from "../kernel/names.ts";
import { type Chunk, textOf } from "../rules/chunk.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { type LineFilter, exclude, include } from "../transformations/filter.ts";
import type {
  Pass,
  Stage,
  StageContext,
  TransformationContext,
  WarningCode,
} from "../transformations/stage.ts";
import type { StageSettings } from "./plan.ts";

export interface NamedStage {
  readonly name: string;
  readonly stage: Stage;
}

/** Sends chunks through every stage in turn. Their order never changes. */
export class Pipeline {
  private readonly stages: readonly NamedStage[];
  private readonly passes: readonly Pass[];
  /** Milliseconds per stage, without the stages after it. */
  private readonly spent: number[];
  private at = 0;
  private since = 0;

  constructor(stages: readonly NamedStage[], out: Pass) {
    this.stages = stages;
    this.spent = Array.from({ length: stages.length + 1 }, () => 0);
    const passes: Pass[] = [];
    for (const [index, { stage }] of [...stages.entries()].toReversed()) {
      const next = passes[0] ?? out;
      passes.unshift((chunk) => {
        const before = this.enter(index);
        stage.push(chunk, next);
        this.enter(before);
      });
    }
    this.passes = [...passes, out];
  }

  push(chunk: Chunk): void {
    this.since = performance.now();
    this.at = this.stages.length;
    this.passes[0]!(chunk);
  }

  /** `between` runs before each stage and may return a promise to wait for. */
  async end(between: () => Promise<void> | undefined): Promise<void> {
    for (const [index, { stage }] of this.stages.entries()) {
      const waiting = between();
      if (waiting !== undefined) await waiting;
      this.since = performance.now();
      this.at = index;
      stage.end(this.passes[index + 1]!);
      this.enter(this.stages.length);
    }
  }

  /** Stages with their times, in order. */
  *times(): Generator<{ name: string; ms: number }> {
    for (const [index, { name }] of this.stages.entries()) yield { name, ms: this.spent[index]! };
  }

  /** Starts the clock of this stage. Returns the stage that it ran for. */
  private enter(index: number): number {
    const now = performance.now();
    const before = this.at;
    this.spent[before]! += now - this.since;
    this.since = now;
    this.at = index;
    return before;
  }
}

/** Exclusions and inclusions of one level, including those from files. */
export interface Filters {
  readonly exclusions: LineFilter;
  readonly inclusions: LineFilter;
  /** Whether a feature drops all rules for a name; only for the list. */
  readonly drops?: ((name: string) => boolean) | undefined;
  /** Names whose rules other sources cancel; only for the list. */
  readonly cancelled?: ReadonlySet<string>;
}

/** The parts of a level besides its transformations. */
interface LevelParts {
  readonly filters: Filters;
  /** The filters of the level above, which run later. */
  readonly above?: Filters;
  readonly first?: readonly NamedStage[];
  /** Stages between filters and transformations. */
  readonly filtered?: readonly NamedStage[];
  /** Stages that check the finished rules or add some. */
  readonly last?: readonly NamedStage[];
  readonly comparison?: ComparisonSlot | undefined;
  /** How trusted each source is, if Compress must not prefer rules of less trusted ones. */
  readonly tiers?: readonly number[] | undefined;
}

/** The stages of one level, in fixed order: first stages, filters, stages for what is left, transformations, last stages. */
export function stagesOf(
  passes: StageSettings,
  { filters, above, first = [], filtered = [], last = [], comparison, tiers }: LevelParts,
  warnings: Warnings,
  stageContext: StageContext,
): NamedStage[] {
  const context: TransformationContext = {
    ...stageContext,
    ...(passes.validator === undefined ? {} : { validator: passes.validator }),
    compresses: passes.steps.some(({ name }) => name === "Compress"),
    leavesUnderscores: passes.compat,
    removesModifiers: passes.steps.some(({ name }) => name === "RemoveModifiers"),
    ...(above === undefined || isEmpty(above)
      ? {}
      : { willBeFiltered: (text) => isFiltered(text, above) }),
    ...(comparison === undefined ? {} : { comparison }),
    ...(tiers === undefined ? {} : { tiers }),
    ...(above?.cancelled === undefined ? {} : { cancelledLater: above.cancelled }),
    warn: (code, chunk, row, detail) => warnings.add(code, chunk, row, detail),
  };
  const stages: NamedStage[] = [...first];
  if (!filters.exclusions.isEmpty)
    stages.push({ name: "exclusions", stage: exclude(filters.exclusions, context) });
  if (!filters.inclusions.isEmpty)
    stages.push({ name: "inclusions", stage: include(filters.inclusions, context) });
  stages.push(...filtered);
  const ends = [...last];
  for (const { name, transformation } of passes.steps) {
    // The final newline stays at the end.
    if (name === "InsertFinalNewLine") stages.push(...ends.splice(0));
    for (const stage of transformation.stages(context)) stages.push({ name, stage });
  }
  stages.push(...ends);
  return stages;
}

function isEmpty({ exclusions, inclusions, drops }: Filters): boolean {
  return exclusions.isEmpty && inclusions.isEmpty && drops === undefined;
}

function isFiltered(text: string, { exclusions, inclusions, drops }: Filters): boolean {
  if (drops?.(text.slice(2, -1)) === true) return true;
  if (exclusions.matchesLine(text)) return true;
  return !inclusions.isEmpty && !inclusions.matchesLine(text);
}

/** Warnings of the transformations, counted by source and kind, with the first example of each. */
interface Note {
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
