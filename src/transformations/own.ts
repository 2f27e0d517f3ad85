import type { Chunk } from "../rules/chunk.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { RuleStage } from "./rule-stage.ts";
import type { StageContext } from "./stage-context.ts";
import type { Transformation } from "./transformation.ts";

const SEVERAL_NAMES = /^\s*[\da-f.:]*[.:][\da-f.:]*\s+\S+\s+[^\s#]/i;

type Judge = (text: string) => string | undefined | null;

/** A user-defined transformation. It sees the text of one rule at a time and decides its fate. */
export function ownTransformation(name: string, summary: string, judge: Judge): Transformation {
  return {
    summary,
    details: summary,
    stages: (context) => [new OwnStage(name, judge, context)],
  };
}

class OwnStage extends RuleStage {
  protected readonly keepsOrdinary = false;
  private readonly name: string;
  private readonly ask: Judge;

  constructor(name: string, ask: Judge, context: StageContext) {
    super(context);
    this.name = name;
    this.ask = ask;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const text = textOf(chunk, row);
    const answer = this.answer(text);
    if (answer === text) return true;
    if (answer === undefined || answer === null || answer === "") {
      chunk.drop(row, Fate.Own);
      return false;
    }
    // The user's own code may do more than a source.
    const mayBeSaid = (chunk.flags[row]! & (Flag.Judged | Flag.Ordinary)) !== 0;
    rewriteText(chunk, row, answer);
    classifyAgain(chunk, row);
    if (mayBeSaid) chunk.flags[row]! |= Flag.Judged;
    return true;
  }

  private answer(text: string): string | undefined | null {
    try {
      const answer = this.ask(text);
      if (answer === undefined || answer === null) return answer;
      if (typeof answer === "string" && !/[\r\n]/.test(answer)) {
        // Rows for further names are allocated when the line is read.
        if (SEVERAL_NAMES.test(answer))
          throw new TypeError("it returned several names in one line");
        return answer;
      }
      throw new TypeError("it returned something else than a line of text");
    } catch (error) {
      throw new CompilerError([
        errorOf("plugin-failed", `${printable(this.name, 60)} failed at ${printable(text, 120)}`, {
          cause: printable(error instanceof Error ? error.message : String(error), 200),
        }),
      ]);
    }
  }
}
