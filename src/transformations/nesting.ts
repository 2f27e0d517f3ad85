import { DOT } from "../bytes/ascii.ts";
import { HASH_SEED, hashEnd, hashLabel, hashName } from "../bytes/hash.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { HashFilter } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { withParents } from "../syntax/parents.ts";
import { type NestedRule, NestedLevels } from "./nested-levels.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** A row whose rule interacts with an exception. */
interface RelatedRow {
  readonly row: number;
  readonly rule: NestedRule;
}

const RULE = /^(?<allow>@@)?\|(?<subtree>\|)?(?<below>\*\.)?(?<name>[^*|^/$]+)\^$/;

/**
 * In formats where the most specific name wins, a name below an exception can be blocked again, and so on. In adblock syntax
 * an exception overrides every block, so nested rules need `$important` for the same effect. This stage sees the rules of a
 * source first, as its reader wrote them.
 */
export class Nesting implements Stage {
  private readonly context: StageContext;
  private held: Chunk[] = [];
  /** Names of exceptions, and hashes of these and of their parents. */
  private readonly exceptions = new Set<string>();
  private readonly parents = new Set<string>();
  private readonly filter = new HashFilter();
  private readonly parentFilter = new HashFilter();
  private readonly levels = new NestedLevels();

  constructor(context: StageContext) {
    this.context = context;
  }

  push(chunk: Chunk): void {
    this.held.push(chunk);
    const { flags, kind } = chunk;
    for (const row of this.context.finder.special(chunk))
      if (kind[row] === Kind.Rule && (flags[row]! & Flag.Allow) !== 0) {
        const rule = ruleOf(chunk, row);
        if (rule !== undefined) this.enterException(rule.name);
      }
  }

  end(pass: Pass): void {
    const { cache } = this.context.pool;
    const related =
      this.exceptions.size === 0 ? [] : this.held.map((chunk) => this.relatedIn(chunk));
    this.levels.resolve();
    for (const [index, chunk] of this.held.entries()) {
      cache.use(chunk);
      for (const { row, rule } of related[index] ?? []) this.apply(chunk, row, rule);
      pass(chunk);
      cache.done(chunk);
    }
    this.held = [];
  }

  private enterException(name: string): void {
    this.exceptions.add(name);
    this.filter.add(hashOf(name));
    for (const parent of withParents(name)) {
      this.parents.add(parent);
      this.parentFilter.add(hashOf(parent));
    }
  }

  /** Exceptions, blocks of their parents, and blocks of their subdomains. */
  private relatedIn(chunk: Chunk): RelatedRow[] {
    const { finder, pool } = this.context;
    pool.cache.use(chunk);
    const rows: RelatedRow[] = [];
    for (const row of finder.live(chunk)) {
      if (chunk.kind[row]! < Kind.Hosts || !this.mayBeRelated(chunk, row)) continue;
      const rule = ruleOf(chunk, row);
      if (rule === undefined || !this.isRelated(rule.name)) continue;
      this.levels.enter(rule);
      rows.push({ row, rule });
    }
    pool.cache.done(chunk);
    return rows;
  }

  /** Compares hashes only, without decoding names. Few rows have no host. */
  private mayBeRelated(chunk: Chunk, row: number): boolean {
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    if (start === end || (chunk.flags[row]! & Flag.UpperHost) !== 0) return true;
    if (this.parentFilter.has(chunk.hostHash[row]!)) return true;
    const bytes = chunk.bytesOf(row);
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      if (!this.filter.has(hashEnd(state))) continue;
      if (this.exceptions.has(decodeUtf8(bytes, at + 1, end))) return true;
    }
    return false;
  }

  private isRelated(name: string): boolean {
    return this.parents.has(name) || withParents(name).some((one) => this.exceptions.has(one));
  }

  private apply(chunk: Chunk, row: number, rule: NestedRule): void {
    const level = this.levels.levelOf(rule);
    if (level === undefined || level === 0 || level === 1) return;
    if (level < 0) {
      chunk.drop(row, Fate.TooNested);
      return;
    }
    rewriteText(chunk, row, `${textFor(rule)}$important`);
    classifyAgain(chunk, row);
  }
}

function hashOf(name: string): number {
  const bytes = encodeUtf8(name);
  return hashName(bytes, 0, bytes.length);
}

/** The rule of a row, if it is for a name and was converted to adblock syntax. */
function ruleOf(chunk: Chunk, row: number): NestedRule | undefined {
  if ((chunk.flags[row]! & Flag.OwnWord) !== 0) return undefined;
  const kind = chunk.kind[row]!;
  if (kind === Kind.Block || kind === Kind.Hosts) {
    const name = hostOf(chunk, row).toLowerCase();
    return { name, scope: kind === Kind.Block ? "subtree" : "exact", isAllow: false };
  }
  const { allow, subtree, below, name } = RULE.exec(textOf(chunk, row))?.groups ?? {};
  if (name === undefined) return undefined;
  const scope = below !== undefined ? "below" : subtree === undefined ? "exact" : "subtree";
  return { name: name.toLowerCase(), scope, isAllow: allow !== undefined };
}

function textFor({ name, scope, isAllow }: NestedRule): string {
  const start = scope === "exact" ? "|" : scope === "below" ? "||*." : "||";
  return `${isAllow ? "@@" : ""}${start}${name}^`;
}
