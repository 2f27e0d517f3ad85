import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";
import { spareRowsAfter } from "./to-block-rule.ts";

/** Makes a hosts line of each name of a hosts line, so that each has its own fate. The scanner reserved rows for them. */
export class SplitHosts implements Stage {
  private readonly context: StageContext;
  /** Lines for the next spare rows. */
  private further: string[] = [];

  constructor(context: StageContext) {
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    for (const row of this.context.finder.specialOrSpare(chunk))
      if (chunk.fate[row] === Fate.Spare) this.fill(chunk, row);
      else this.split(chunk, row);
    pass(chunk);
  }

  end(): void {}

  private split(chunk: Chunk, row: number): void {
    this.further = [];
    if (chunk.kind[row] !== Kind.Hosts || (chunk.flags[row]! & Flag.SeveralNames) === 0) return;
    const names: string[] = [];
    const line = textOf(chunk, row);
    const first = filterNames(line, (name) => names.push(name) === 1);
    // Spare rows are missing only if another transformation produced the hosts line. Then it stays.
    if (first === undefined || spareRowsAfter(chunk, row) < names.length - 1) return;
    const address = /\S+/.exec(line)![0];
    this.further = names.slice(1).map((name) => `${address} ${name}`);
    rewriteText(chunk, row, first);
    classifyAgain(chunk, row);
  }

  private fill(chunk: Chunk, row: number): void {
    const text = this.further.shift();
    if (text === undefined) return;
    chunk.fate[row] = Fate.Kept;
    rewriteText(chunk, row, text);
    classifyAgain(chunk, row);
  }
}
