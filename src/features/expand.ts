import { ByteBuffer, LF, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/render.ts";
import type { FeatureResult, FeatureRun, ListFeature, ListWork } from "../engine/feature.ts";
import type { KnownNames } from "../formats/names.ts";
import { readSpecialRule, resolvableName } from "../formats/special-rule.ts";
import { namesOfRow, writtenName } from "../meaning/line.ts";
import { LoggedNames, RankList, RankedNames } from "../meaning/ranked-names.ts";
import { type PlacedRule, RuleIndex, nameScope } from "../meaning/rule-index.ts";
import { type Rule, cancelledKey, readRule, ruleKey } from "../meaning/rule.ts";
import { decide, isBlockLevel, strongest } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { patternParts } from "../syntax/name-pattern.ts";
import { suffixIn } from "../syntax/public-suffix.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { TrafficReader } from "../traffic/traffic-reader.ts";

/** Writes known names that a list blocks, for formats of single names and for formats without patterns. */
export const expand: ListFeature<ExpandRun> = {
  name: "expand",
  open: (list) => (list.plan.config.expand === undefined ? undefined : new ExpandRun(list)),
};

/** A rule for a known name that a pattern matches. */
interface KnownRule {
  readonly text: string;
  readonly source: number;
}

/** A line of the list that is not a common name. */
interface SpecialLine extends KnownRule {
  readonly row: number;
}

/** A domain with random names below it then costs half a megabyte of a hosts file. */
const PER_DOMAIN = 20_000;

export class ExpandRun implements FeatureRun {
  private readonly list: ListWork;
  private logs: QueryLogs | undefined;
  /** The names of the logs, then those of the files. A name of the logs may be in the files, too. */
  private sets: readonly KnownSet[] = [];
  private readonly specials: SpecialLine[] = [];
  private readonly cancelled = new Set<string>();
  private readonly diagnostics: Diagnostic[] = [];
  private readonly room: DomainRoom;
  private logged: LoggedNames | undefined;
  /** The patterns that match known names, and the rules for these names. The list means the same with and without the rules. */
  private matched: { readonly rules: KnownRule[]; readonly patterns: Set<string> } | undefined;

  constructor(list: ListWork) {
    this.list = list;
    this.room = new DomainRoom(list.plan.config.expand?.per_domain ?? PER_DOMAIN);
  }

  async fetch(): Promise<void> {
    const { plan, reader } = this.list;
    this.logs = await this.readLogs(plan.config.expand?.logs ?? []);
    const known = await reader.entries.ranks(plan.expand);
    const sets = [this.logs?.names, known].filter((names) => names !== undefined);
    this.sets = sets.map((names) => new KnownSet(names));
  }

  /** A log that cannot be read does not stop the list: its names are missing, as the warning says. */
  private async readLogs(logs: readonly string[]): Promise<QueryLogs | undefined> {
    if (logs.length === 0) return undefined;
    const { host, options, reader } = this.list;
    const folder = host.path.resolve(host.cwd, options.configFolder ?? "");
    const paths = logs.map((log) => host.path.resolve(folder, log));
    for (const path of paths) reader.inputs.push({ path, stamp: await host.stampOf(path) });
    try {
      return await QueryLogs.of(options.logs?.(paths) ?? new TrafficReader(paths, host));
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      for (const one of error.diagnostics) this.diagnostics.push({ ...one, severity: "warning" });
      return undefined;
    }
  }

  take(chunk: Chunk): void {
    if (this.sets.length === 0) return;
    const source = this.list.context.pool.sourceOf(chunk);
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      const kind = chunk.kind[row]!;
      if ((fate !== Fate.Kept && fate !== Fate.Covered) || kind < Kind.Hosts) continue;
      const flags = chunk.flags[row]!;
      if (fate === Fate.Kept && kind === Kind.Rule) {
        this.takeRule({ text: textOf(chunk, row).trim(), source, row: chunk.idOf(row) });
        continue;
      }
      const isSubtree = kind === Kind.Block || (flags & Flag.AsBlock) !== 0;
      if ((flags & Flag.RealAddress) !== 0) {
        for (const name of namesOfRow(chunk, row))
          for (const set of this.sets) set.takeAnswered(encodeUtf8(name));
      } else if ((flags & Flag.Ordinary) !== 0 && (flags & Flag.SeveralNames) === 0) {
        const bytes = chunk.bytesOf(row);
        const [start, end] = [chunk.hostStart[row]!, chunk.hostEnd[row]!];
        for (const set of this.sets) set.takeName(bytes, start, end, isSubtree ? source : -1);
      } else
        for (const name of namesOfRow(chunk, row)) this.takeText(name, isSubtree ? source : -1);
    }
  }

  private takeText(name: string, source: number): void {
    const bytes = encodeUtf8(name);
    for (const set of this.sets) set.takeName(bytes, 0, bytes.length, source);
  }

  private takeRule(line: SpecialLine): void {
    const key = cancelledKey(line.text);
    if (key === undefined) this.specials.push(line);
    else this.cancelled.add(key);
  }

  /** Calls `visit` with each name that only files get. */
  eachName(visit: (name: string) => void): void {
    for (const { text } of this.rules().rules) visit(nameScope(text.split("$")[0]!)?.name ?? "");
    for (const set of this.sets) for (const { index } of set.found) visit(set.names.nameAt(index));
  }

  result(): FeatureResult {
    const { rules, patterns } = this.rules();
    this.list.options.names?.takeKnown({
      added: this.added(),
      leftOut: this.room.leftOut,
      logged: this.logged,
    });
    const { diagnostics } = this;
    if (this.sets.length === 0) return { diagnostics };
    return { diagnostics, shape: { expanded: { rules, patterns: [...patterns] } } };
  }

  /** Finds, once, everything that is known and blocked. */
  private rules(): NonNullable<ExpandRun["matched"]> {
    if (this.matched !== undefined) return this.matched;
    const { cancelled, sets } = this;
    this.matched = { rules: [], patterns: new Set() };
    for (const key of cancelled) {
      const scope = nameScope(key);
      if (scope?.self === true && scope.below)
        for (const set of sets) set.forget(encodeUtf8(scope.name));
    }
    const active = this.specials.filter((line) => !this.isCancelled(line.text));
    this.logged = this.logs && this.blockedIn(this.logs, active);
    const patterns = new RuleIndex<PlacedRule>();
    const sources = new Map<number, number>();
    for (const { text, source, row } of active) {
      if (text.startsWith("@@") || writtenName(text) !== undefined) continue;
      const read = readSpecialRule(text);
      if (read.kind === "names")
        for (const { name, level, below } of read.rules)
          if (below && isBlockLevel(level))
            for (const set of sets) set.takeScope(encodeUtf8(name), source);
      const rule = read.kind === "lost" ? readRule(text) : undefined;
      if (rule === undefined || !isPattern(rule)) continue;
      patterns.add({ ...rule, row });
      sources.set(row, source);
    }
    if (sources.size > 0) this.match(patterns, sources, this.matched);
    for (const [index, set] of sets.entries()) set.findBelow(sets.slice(0, index), this.room);
    return this.matched;
  }

  private isCancelled(text: string): boolean {
    const key = this.cancelled.size === 0 ? undefined : ruleKey(text);
    return key !== undefined && this.cancelled.has(key);
  }

  private match(
    index: RuleIndex<PlacedRule>,
    sources: ReadonlyMap<number, number>,
    found: NonNullable<ExpandRun["matched"]>,
  ): void {
    const known = new Set<string>();
    for (const { names } of this.sets)
      names.each(Infinity, (bytes, start, end) => {
        if (!index.mayMatchBytes(bytes, start, end)) return true;
        const name = decodeUtf8(bytes, start, end);
        const matching = index.matching(name);
        const by = strongest(matching);
        if (by === undefined || known.has(name) || !this.room.take(name)) return true;
        known.add(name);
        const alike = matching.filter(({ isImportant }) => isImportant === by.isImportant);
        const scope = alike.some(blocksBelow) ? "||" : "|";
        const text = `${scope}${name}^${by.isImportant ? "$important" : ""}`;
        found.rules.push({ text, source: sources.get(by.row)! });
        for (const one of matching) found.patterns.add(one.text);
        return true;
      });
  }

  /** The names of the logs that the list blocks. */
  private blockedIn(logs: QueryLogs, specials: readonly SpecialLine[]): LoggedNames {
    const [set] = this.sets;
    const index = new RuleIndex<PlacedRule>();
    for (const { text, row } of specials) {
      const written = writtenName(text);
      if (written !== undefined) {
        this.takeText(written, -1);
        continue;
      }
      const rule = readRule(text);
      if (rule !== undefined) index.add({ ...rule, row });
    }
    const logged = new LoggedNames(logs.queries);
    for (let at = 0; at < logs.names.length; at++) {
      const name = logs.names.nameAt(at);
      const { verdict } = decide(index.matching(name));
      const isBlocked = verdict === "blocked" || (verdict === "neither" && set!.isBlocked(at));
      if (isBlocked) logged.add(name, logs.counts[at]!);
    }
    return logged;
  }

  /** The names below blocked ones, by source. */
  private added(): KnownNames["added"] {
    const bySource = new Map<number, { names: ByteBuffer; count: number }>();
    for (const { names, found } of this.sets)
      for (const { index, source } of found) {
        let known = bySource.get(source);
        if (known === undefined)
          bySource.set(source, (known = { names: new ByteBuffer(), count: 0 }));
        names.appendTo(known.names, index);
        known.names.push(LF);
        known.count++;
      }
    return [...bySource]
      .toSorted(([a], [b]) => a - b)
      .map(([source, { names, count }]) => ({ source, names: names.view(), count }));
  }
}

/** What the list has of a name. */
const Held = { Not: 0, Blocked: 1, Answered: 2 } as const;
const MOST_LABELS = 128;

/** Known names, and what the list says about them and their parents. */
class KnownSet {
  readonly names: RankedNames;
  /** Names that a rule for a parent blocks and no source has, with the source of that rule. */
  readonly found: { readonly index: number; readonly source: number }[] = [];
  /** By the number of a name or parent: 1 + the source of a rule for all names below it. */
  private readonly scopes: Int32Array;
  /** Whether a line of the list is for this very name. */
  private readonly held: Uint8Array;
  private readonly lineage = new Uint32Array(MOST_LABELS);

  constructor(names: RankedNames) {
    this.names = names;
    this.scopes = new Int32Array(names.numberCount);
    this.held = new Uint8Array(names.numberCount);
  }

  /** Takes a name of the list; with a source, also all names below it. */
  takeName(bytes: Uint8Array, start: number, end: number, source: number): void {
    const number = this.names.numberOf(bytes, start, end);
    if (number === -1) return;
    this.held[number] = Held.Blocked;
    if (source !== -1) this.scopes[number] ||= source + 1;
  }

  /** Takes a name that has another answer. */
  takeAnswered(name: Uint8Array): void {
    const number = this.names.numberOf(name, 0, name.length);
    if (number !== -1) this.held[number] = Held.Answered;
  }

  /** Takes a rule for all names below one. */
  takeScope(name: Uint8Array, source: number): void {
    const number = this.names.numberOf(name, 0, name.length);
    if (number !== -1) this.scopes[number] ||= source + 1;
  }

  /** The rule for a name and all names below it is cancelled. */
  forget(name: Uint8Array): void {
    const number = this.names.numberOf(name, 0, name.length);
    if (number !== -1) this.scopes[number] = this.held[number] = 0;
  }

  /** Whether common lines block a name, by its index. */
  isBlocked(index: number): boolean {
    const count = this.names.lineage(index, this.lineage);
    const own = this.held[this.lineage[count - 1]!]!;
    return own === Held.Not ? this.scopeAbove(count) !== 0 : own === Held.Blocked;
  }

  /** Finds the names that are only below blocked ones, the best known first. Names of other sets have been found already. */
  findBelow(others: readonly KnownSet[], room: DomainRoom): void {
    const { names, held, lineage, found } = this;
    names.each(Infinity, (bytes, start, end, index) => {
      const count = names.lineage(index, lineage);
      if (held[lineage[count - 1]!] !== Held.Not) return true;
      const scope = this.scopeAbove(count);
      if (scope === 0 || others.some((one) => one.names.hasRank(bytes, start, end))) return true;
      const name = decodeUtf8(bytes, start, end);
      if (resolvableName(name) === name && room.take(name))
        found.push({ index, source: scope - 1 });
      return true;
    });
  }

  /** The outermost rule for all names below a parent. The last of `count` numbers is the name itself. */
  private scopeAbove(count: number): number {
    for (let at = 0; at < count - 1; at++) {
      const scope = this.scopes[this.lineage[at]!]!;
      if (scope !== 0) return scope;
    }
    return 0;
  }
}

/** How many more names a registrable domain may get. */
class DomainRoom {
  readonly leftOut = { count: 0, example: "" };
  private readonly most: number;
  private readonly taken = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  take(name: string): boolean {
    const { start } = suffixIn(encodeUtf8(name), false);
    const dot = start < 2 ? -1 : name.lastIndexOf(".", start - 2);
    const domain = name.slice(dot + 1);
    const taken = this.taken.get(domain) ?? 0;
    if (taken < this.most) {
      this.taken.set(domain, taken + 1);
      return true;
    }
    if (this.leftOut.count++ === 0) this.leftOut.example = name;
    return false;
  }
}

/** At most this many names of logs are held: those with the most queries. */
const MOST_LOGGED = 2_000_000;

/** The names that clients asked for, the most frequent first. */
class QueryLogs {
  readonly names: RankedNames;
  /** By the index of the name. */
  readonly counts: readonly number[];
  /** All queries. */
  readonly queries: number;

  /** By their readers, which several lists of a run share. */
  private static readonly known = new WeakMap<TrafficReader, Promise<QueryLogs>>();

  /** Rejects with a `CompilerError`. */
  static async of(reader: TrafficReader): Promise<QueryLogs> {
    const read = QueryLogs.known.get(reader) ?? QueryLogs.read(reader);
    QueryLogs.known.set(reader, read);
    return await read;
  }

  private constructor(sorted: readonly (readonly [string, number])[], queries: number) {
    const list = new RankList();
    for (const [index, [name]] of sorted.entries()) {
      const bytes = encodeUtf8(name);
      list.add(bytes, 0, bytes.length, index + 1);
    }
    this.names = new RankedNames([list]);
    this.counts = sorted.map(([, count]) => count);
    this.queries = queries;
  }

  private static async read(reader: TrafficReader): Promise<QueryLogs> {
    let counts = new Map<string, number>();
    let queries = 0;
    const sorted = (): [string, number][] =>
      [...counts].toSorted(([a, few], [b, many]) => many - few || (a < b ? -1 : 1));
    for await (const batch of reader.batches()) {
      for (const [logged, count] of batch) {
        queries += count;
        const name = resolvableName(logged);
        if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + count);
      }
      if (counts.size > MOST_LOGGED) counts = new Map(sorted().slice(0, MOST_LOGGED));
    }
    return new QueryLogs(sorted(), queries);
  }
}

/** Whether other formats cannot express the rule because it is not for one name. */
function isPattern({ pattern, isPartial, rewrite, denied }: Rule): boolean {
  if (isPartial || rewrite !== undefined || denied.length > 0) return false;
  return nameScope(pattern) === undefined;
}

/** Whether a pattern that matches a name matches all names below it, too: nothing ties it to the start of the name. */
function blocksBelow({ pattern }: Rule): boolean {
  return !isRegexText(pattern) && patternParts(pattern)?.startsAtName === false;
}
