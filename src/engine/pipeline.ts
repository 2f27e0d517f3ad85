import type { Chunk } from "../rules/chunk.ts";
import type { Pass, Stage } from "../transformations/stage.ts";

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
