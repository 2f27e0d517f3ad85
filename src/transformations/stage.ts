import { encodeUtf8 } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import type { ComparisonSlot } from "../kernel/names.ts";
import type { MemoryBudget } from "../kernel/paged-lists.ts";
import type { RowFinder } from "../kernel/rows.ts";
import type { NameMatcher } from "../meaning/verdict.ts";
import { Chunk, Flag, Kind, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { type ChunkCache, type ChunkPool, rowOf } from "../rules/rule-table.ts";
import type { ValidatorOptions } from "../syntax/adblock-rule.ts";
import { classifyAgain } from "../syntax/classify.ts";

export type Pass = (chunk: Chunk) => void;

/**
 * One step of the pipeline. Chunks arrive and leave in order. Most stages process each chunk alone and pass it on at once, so
 * that it is still in the CPU cache for the next stage. Stages that need all chunks first hold them.
 */
export interface Stage {
  /** Takes the next chunk. Passes on finished chunks: this one, held ones, or none yet. */
  push(chunk: Chunk, pass: Pass): void;
  /** Called after the last chunk. */
  end(pass: Pass): void;
}

/** A stage that processes every chunk by itself. */
export function eachChunk(work: (chunk: Chunk) => void): Stage {
  return {
    push(chunk, pass) {
      work(chunk);
      pass(chunk);
    },
    end() {},
  };
}

/** A stage that shows all chunks to a matcher, and then judges each with what `decide` returns. */
export function afterMatching(
  watch: NameMatcher,
  { cache }: ChunkPool,
  decide: (held: readonly Chunk[]) => (chunk: Chunk) => void,
): Stage {
  const held: Chunk[] = [];
  return {
    push(chunk) {
      watch.take(chunk);
      held.push(chunk);
    },
    end(pass) {
      const judge = decide(held);
      cache.each(held.splice(0), (chunk) => {
        judge(chunk);
        pass(chunk);
      });
    },
  };
}

/** Passes on held chunks without some of their rows, which are given by their ids. */
export function passWithout(
  { held, dropped }: { readonly held: readonly Chunk[]; readonly dropped: Iterable<number> },
  fate: Fate,
  pool: ChunkPool,
  pass: Pass,
): void {
  const byChunk = Map.groupBy(dropped, (id) => pool.chunkOf(id));
  pool.cache.each(held, (chunk) => {
    for (const id of byChunk.get(chunk) ?? []) chunk.drop(rowOf(id), fate);
    pass(chunk);
  });
}

/** The exceptions of a chunk that sources wrote. */
export function* exceptionsIn(chunk: Chunk, finder: RowFinder): Generator<number> {
  for (const row of finder.special(chunk)) {
    const flags = chunk.flags[row]! & (Flag.Allow | Flag.Generated);
    if (chunk.kind[row] === Kind.Rule && flags === Flag.Allow) yield row;
  }
}

/** A stage that must see all chunks before it processes the first. */
export abstract class BarrierStage implements Stage {
  private readonly cache: ChunkCache;
  private held: Chunk[] = [];

  constructor(cache: ChunkCache) {
    this.cache = cache;
  }

  protected abstract gather(chunk: Chunk): void;
  protected abstract resolve(): void;
  protected abstract apply(chunk: Chunk): void;
  protected abstract close(): void;

  push(chunk: Chunk): void {
    this.gather(chunk);
    this.held.push(chunk);
  }

  end(pass: Pass): void {
    this.resolve();
    this.cache.each(this.held, (chunk) => {
      this.apply(chunk);
      pass(chunk);
    });
    this.held = [];
    this.close();
  }
}

/** Shows all rules to a matcher, and adds exceptions at the end of the list. `label` says what added them. */
export function exceptionsAtEnd(
  watch: NameMatcher,
  context: StageContext,
  exceptions: () => readonly string[],
  label?: string,
): Stage {
  let origin = 0;
  return {
    push: (chunk: Chunk, pass: Pass) => {
      origin = chunk.origin;
      watch.take(chunk);
      pass(chunk);
    },
    end: (pass: Pass) => {
      const lines = exceptions();
      const { pool } = context;
      if (label !== undefined && lines.length > 0)
        origin = pool.addOrigin({ source: pool.origins[origin]!.source, file: label });
      addExceptions(lines, origin, context, pass);
    },
  };
}

/** Adds exceptions, one per line, as a chunk of generated rows. `origin` is that of an earlier chunk. */
export function addExceptions(
  lines: readonly string[],
  origin: number,
  { pool }: StageContext,
  pass: Pass,
): void {
  if (lines.length === 0) return;
  const bytes = encodeUtf8(lines.join("\n"));
  const chunk = pool.add(new Chunk(pool.arena, origin, bytes, { capacity: lines.length }));
  let at = 0;
  for (const line of lines) {
    const end = at + encodeUtf8(line).length;
    const row = chunk.push(at, end, 0);
    chunk.kind[row] = Kind.Rule;
    chunk.flags[row] = Flag.Generated | (line.startsWith("@@") ? Flag.Allow : 0);
    at = end + 1;
  }
  chunk.has.otherRows = true;
  pass(chunk);
  pool.cache.done(chunk);
}

/** Shared by all stages. It decides where data is stored and never affects the output. */
export interface StageContext {
  readonly pool: ChunkPool;
  readonly budget: MemoryBudget;
  readonly finder: RowFinder;
}

/**
 * A stage that judges rule by rule. A comment describes the rule below it: when that rule is dropped, the comments and empty
 * lines directly above are dropped too, up to the first other line. Chunks that end in comments are held until the next rule
 * is known. Banners do not count as comments.
 */
export abstract class RuleStage implements Stage {
  private readonly cache: ChunkCache;
  private readonly finder: RowFinder;
  /** Chunks whose last lines, from a row on, wait for the rule below. */
  private held: { readonly chunk: Chunk; readonly from: number }[] = [];

  constructor({ pool, finder }: StageContext) {
    this.cache = pool.cache;
    this.finder = finder;
  }

  /** Whether rows of ordinary names stay without a call to `judge`. */
  protected abstract readonly keepsOrdinary: boolean;

  /** Called before the rows of a chunk. */
  protected begin?(chunk: Chunk): void;

  /** Whether the rule stays. `judge` itself drops a rule, with the reason. */
  protected abstract judge(chunk: Chunk, row: number): boolean;

  push(chunk: Chunk, pass: Pass): void {
    this.begin?.(chunk);
    const rows = this.keepsOrdinary ? this.finder.special(chunk) : this.finder.live(chunk);
    let waiting = -1;
    let next = 0;
    for (const row of rows) {
      if ((waiting !== -1 || this.held.length > 0) && hasLive(chunk, next, row)) {
        waiting = -1;
        this.settle(true, pass);
      }
      next = row + 1;
      if (isComment(chunk, row)) {
        if ((chunk.flags[row]! & Flag.Banner) === 0) {
          if (waiting === -1) waiting = row;
          continue;
        }
        waiting = -1;
        this.settle(true, pass);
        continue;
      }
      const isKept = this.judge(chunk, row);
      if (waiting !== -1 && !isKept) dropComments(chunk, waiting, row);
      waiting = -1;
      if (this.held.length > 0) this.settle(isKept, pass);
    }
    if ((waiting !== -1 || this.held.length > 0) && hasLive(chunk, next, chunk.length)) {
      waiting = -1;
      this.settle(true, pass);
    }
    if (waiting !== -1 || this.held.length > 0)
      this.held.push({ chunk, from: waiting === -1 ? chunk.length : waiting });
    else pass(chunk);
  }

  end(pass: Pass): void {
    this.settle(true, pass);
  }

  /** The line below the held comments is known. If it was dropped, they are dropped too. */
  private settle(isKept: boolean, pass: Pass): void {
    const { held, cache } = this;
    this.held = [];
    for (const { chunk, from } of held) {
      cache.use(chunk);
      if (!isKept) dropComments(chunk, from, chunk.length);
      pass(chunk);
      cache.done(chunk);
    }
  }
}

/** Whether one of these rows, which `judge` does not see, is in the list. */
function hasLive(chunk: Chunk, from: number, to: number): boolean {
  for (let row = from; row < to; row++) if (chunk.fate[row] === Fate.Kept) return true;
  return false;
}

/** A comment or an empty line, which belongs to the rule below. */
export function isComment(chunk: Chunk, row: number): boolean {
  const kind = chunk.kind[row]!;
  return kind === Kind.Comment || (kind === Kind.Blank && chunk.start[row] === chunk.end[row]);
}

/** These rows are live comments and lines that were already dropped. */
function dropComments(chunk: Chunk, from: number, to: number): void {
  for (let row = from; row < to; row++) chunk.drop(row, Fate.CommentAbove);
}

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

export interface Transformation {
  /** One line, shown by `--help` and in docs/reference/transformations.md. */
  readonly summary: string;
  /** A paragraph for the reference page. */
  readonly details: string;
  /** Loads a library that only some lists need. Called for each chunk after it was read. */
  prepare?(chunk: Chunk): Promise<void> | undefined;
  /** The stages for a list's chunks. They drop rows with a reason, and never remove them. */
  stages(context: TransformationContext): readonly Stage[];
}

/**
 * What a transformation works with, and what it knows about later stages. Compress needs that: a parent domain may only cover
 * its children if it is still present at the end.
 */
export interface TransformationContext extends StageContext {
  /** The validator for this list, at this level or the one above. */
  readonly validator?: ValidatorOptions;
  /** Whether RemoveModifiers runs too: rules that it widened cover only each other. */
  readonly removesModifiers?: boolean;
  /** Whether Compress ran on this list: rules for one name are then unique. */
  readonly compresses?: boolean;
  /** Whether names with an underscore stay as written, like in the reference. */
  readonly leavesUnderscores?: boolean;
  /** Whether a later filter of the list above (exclusions, inclusions) drops a row with this text. */
  readonly willBeFiltered?: (text: string) => boolean;
  /** What Compress found in the last compile of the same list, if it is compiled repeatedly. */
  readonly comparison?: ComparisonSlot;
  /** Names whose rules other sources of the list above cancel. */
  readonly cancelledLater?: ReadonlySet<string>;
  /** How trusted each source is, by its index: rules of less trusted ones (a greater number) do not replace others. */
  readonly tiers?: readonly number[];
  /** Warns the user. Equal warnings are counted, not repeated. */
  warn(code: WarningCode, chunk: Chunk, row: number, detail?: string): void;
}

export type WarningCode =
  | "real-address"
  | "no-name"
  | "not-converted"
  | "bad-regex"
  | "exclusion-splits-label"
  | "modifiers-removed";
