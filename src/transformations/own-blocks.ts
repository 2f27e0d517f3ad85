import { type BlockedName, NameMatcher, type RowTest } from "../meaning/name-matcher.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { judgeBlockRow } from "../syntax/judge-row.ts";
import { type ValidatorOptions, judgeRule } from "../syntax/validate-rule.ts";
import { type Stage, eachChunk } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/**
 * What fully trusted sources block by rules of their own. It looks at the list before Compress, which drops their rules if broader ones
 * of other sources cover them.
 */
export class OwnBlocks {
  private readonly names: readonly string[];
  private readonly counts: RowTest | undefined;
  private matcher: NameMatcher | undefined;
  private readonly isOwn: (source: number) => boolean;
  private readonly context: StageContext;
  private found: ReadonlyMap<string, BlockedName> | undefined;

  /** Rules for which `counts` is false are ignored. */
  constructor(
    names: readonly string[],
    isOwn: (source: number) => boolean,
    context: StageContext,
    counts?: RowTest,
  ) {
    this.names = names;
    this.counts = counts;
    this.isOwn = isOwn;
    this.context = context;
  }

  /** Lazy: there are thousands of names, and many lists have no such source. */
  private get watch(): NameMatcher {
    this.matcher ??= new NameMatcher(this.names, this.context.finder, true, this.counts);
    return this.matcher;
  }

  stage(): Stage {
    const { pool } = this.context;
    return eachChunk((chunk) => {
      if (this.isOwn(pool.sourceOf(chunk))) this.watch.take(chunk);
    });
  }

  /** How they block a name, if they do. */
  blockOf(name: string): BlockedName | undefined {
    if (this.matcher === undefined) return undefined;
    this.found ??= new Map(Array.from(this.watch.blocked(), (one) => [one.name, one]));
    return this.found.get(name);
  }

  /** Whether no client gets an address. */
  blocksForAll(name: string): boolean {
    return this.blockOf(name)?.isForAll === true;
  }

  /** Their rules that block a name for some clients or questions, in a form that an added exception does not override. */
  strengthened(name: string): string[] {
    if (this.blockOf(name) === undefined) return [];
    return this.watch
      .matching(name)
      .flatMap(({ text, isAllow, isImportant, isForSome, rewrite }) => {
        const rule = isForSome === true ? parseAdblockRule(text) : undefined;
        if (rule === undefined || isAllow === true || isImportant === true) return [];
        if (rewrite !== undefined) return [];
        const modifiers = [...rule.modifiers, { name: "important" }];
        return [formatAdblockRule({ ...rule, pattern: `|${name}^`, modifiers })];
      });
  }
}

/** Tells whether the validator of a list will keep a row. */
export function validRows(validator: ValidatorOptions | undefined): RowTest | undefined {
  if (validator === undefined) return undefined;
  return (chunk, row) => {
    // Names in other letters may be converted before they are validated.
    if ((chunk.flags[row]! & Flag.NonAscii) !== 0) return true;
    const fate =
      chunk.kind[row] === Kind.Rule
        ? judgeRule(textOf(chunk, row).trim(), validator)
        : judgeBlockRow(chunk, row, validator);
    return fate === Fate.Kept;
  };
}
