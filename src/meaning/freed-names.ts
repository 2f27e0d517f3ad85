import { AhoCorasick, EXACT } from "../bytes/aho-corasick.ts";
import { DOT } from "../bytes/ascii.ts";
import { HASH_SEED, hashEnd, hashLabel, hashName } from "../bytes/hash.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import { withParents } from "../syntax/parents.ts";
import { namesOfLine } from "./line.ts";
import { type NameScope, nameScope } from "./name-scope.ts";
import { type PlacedRule, RuleIndex, literalOf } from "./rule-index.ts";
import { readRule } from "./rule.ts";

/** Exceptions of one source, and the names that they match. */
class SourceExceptions {
  readonly scopes = new Map<string, Pick<NameScope, "self" | "below">>();
  readonly patterns = new RuleIndex<PlacedRule>();
  hasPatterns = false;
  /** Names that other sources block. */
  readonly others = new Set<string>();
  /** Names that the source blocks itself. */
  readonly own = new Set<string>();

  matches(name: string): boolean {
    for (const parent of withParents(name)) {
      const scope = this.scopes.get(parent);
      if (scope !== undefined && (parent === name ? scope.self : scope.below)) return true;
    }
    return this.hasPatterns && this.patterns.matching(name).length > 0;
  }
}

interface FreeingOptions {
  readonly countsDropped?: boolean;
  readonly freesImportant?: boolean;
}

/**
 * Finds the names that the exceptions of some sources free and only other sources block. Add all exceptions first, then take
 * all chunks. An exception for a subdomain of a blocked name frees only that subdomain.
 */
export class FreedNames {
  private readonly bySource = new Map<number, SourceExceptions>();
  /** Hashes of names with exceptions, and of their parents. Almost no row matches. */
  private readonly scopeHashes = new Set<number>();
  private readonly parentHashes = new Set<number>();
  /** Sources that block a parent and all its subdomains. */
  private readonly blockedParents = new Map<string, Set<number>>();
  private readonly namesOf: number[] = [];
  /** A literal of each pattern, which every matching name contains. */
  private readonly literals: string[] = [];
  private finder: AhoCorasick | undefined;
  private readonly countsDropped: boolean;
  private readonly freesImportant: boolean;

  /** `countsDropped` if rows of other sources count although another row made them redundant; `freesImportant` if important rules are freed, too. */
  constructor({ countsDropped = false, freesImportant = false }: FreeingOptions = {}) {
    this.countsDropped = countsDropped;
    this.freesImportant = freesImportant;
  }

  add(source: number, text: string): void {
    const rule = readRule(text);
    // A resolver ignores rules that it cannot read.
    if (rule === undefined) return;
    const scope = nameScope(rule.pattern);
    if (scope !== undefined) {
      this.addScope(source, scope);
      return;
    }
    const exceptions = this.exceptionsOf(source);
    exceptions.hasPatterns = true;
    exceptions.patterns.add({ ...rule, row: 0 });
    this.literals.push(literalOf(rule.pattern));
  }

  private exceptionsOf(source: number): SourceExceptions {
    let exceptions = this.bySource.get(source);
    if (exceptions === undefined) this.bySource.set(source, (exceptions = new SourceExceptions()));
    return exceptions;
  }

  /** Adds an exception for a name, for all names below it, or for both. */
  addScope(source: number, scope: Pick<NameScope, "name" | "self" | "below">): void {
    const exceptions = this.exceptionsOf(source);
    const known = exceptions.scopes.get(scope.name);
    exceptions.scopes.set(scope.name, {
      self: scope.self || known?.self === true,
      below: scope.below || known?.below === true,
    });
    this.scopeHashes.add(hashOf(scope.name));
    for (const parent of withParents(scope.name).slice(1)) this.parentHashes.add(hashOf(parent));
  }

  /** Takes the names of a chunk, including those that a row of another source made redundant. */
  take(chunk: Chunk, source: number): void {
    const { literals } = this;
    const needsAll = literals.includes("");
    if (literals.length > 0 && !needsAll)
      this.finder ??= new AhoCorasick(literals.map((text) => encodeUtf8(text)));
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      const isLive = fate === Fate.Kept;
      const kind = chunk.kind[row]!;
      if (kind < Kind.Hosts || !(isLive || hasCause(fate))) continue;
      const flags = chunk.flags[row]!;
      if ((flags & (Flag.Allow | Flag.Generated)) !== 0) continue;
      const isOdd = (flags & (Flag.UpperHost | Flag.SeveralNames | Flag.NonAscii)) !== 0;
      if (kind === Kind.Rule || isOdd) {
        this.takeText(textOf(chunk, row), source, isLive);
        continue;
      }
      if (isLive) this.count(source);
      if (needsAll || this.mayConcern(chunk, row))
        this.meet(hostOf(chunk, row), source, isLive, kind === Kind.Block);
    }
  }

  private takeText(text: string, source: number, isLive: boolean): void {
    // Exceptions of untrusted sources never override an important rule.
    const mayBeImportant = !this.freesImportant && text.includes("important");
    if (mayBeImportant && readRule(text)?.isImportant !== false) return;
    const isSubtree = text.trimStart().startsWith("||");
    for (const name of namesOfLine(text)) {
      if (isLive) this.count(source);
      this.meet(name.toLowerCase(), source, isLive, isSubtree);
    }
  }

  private count(source: number): void {
    this.namesOf[source] = (this.namesOf[source] ?? 0) + 1;
  }

  /** Compares hashes of the name and its parents, and literals of patterns, without decoding. */
  private mayConcern(chunk: Chunk, row: number): boolean {
    const { scopeHashes, parentHashes } = this;
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    let labelEnd = chunk.hostEnd[row]!;
    let state = HASH_SEED;
    for (let at = labelEnd - 1; at >= start; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      if (scopeHashes.has(hashEnd(state))) return true;
      labelEnd = at;
    }
    const hash = hashEnd(hashLabel(state, bytes, start, labelEnd));
    if (scopeHashes.has(hash) || parentHashes.has(hash)) return true;
    return (
      this.finder !== undefined &&
      this.finder.search(bytes, start, chunk.hostEnd[row]!, EXACT) !== -1
    );
  }

  private meet(name: string, source: number, isLive: boolean, isSubtree: boolean): void {
    for (const [judged, exceptions] of this.bySource)
      if (judged === source || isLive || this.countsDropped)
        if (exceptions.matches(name))
          (judged === source ? exceptions.own : exceptions.others).add(name);
    if (!isSubtree || !this.parentHashes.has(hashOf(name))) return;
    const sources = this.blockedParents.get(name) ?? new Set();
    this.blockedParents.set(name, sources.add(source));
  }

  /** The names that each source's exceptions free, and the name count of the others. */
  *results(): Generator<{ source: number; freed: string[]; names: number }> {
    const all = this.namesOf.reduce((sum, count) => sum + (count ?? 0), 0);
    for (const [source, exceptions] of this.bySource) {
      const { others, own, scopes } = exceptions;
      for (const name of scopes.keys())
        for (const parent of withParents(name).slice(1))
          for (const blocker of this.blockedParents.get(parent) ?? [])
            (blocker === source ? own : others).add(name);
      const freed = [...others].filter((name) => !own.has(name));
      yield { source, freed, names: all - (this.namesOf[source] ?? 0) };
    }
  }
}

function hashOf(name: string): number {
  const bytes = encodeUtf8(name);
  return hashName(bytes, 0, bytes.length);
}
