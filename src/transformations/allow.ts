import { HASH_SEED, hashEnd, hashLabel, hashText } from "../bytes/hash.ts";
import { DOT, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { HashFilter, type RowFinder } from "../kernel/rows.ts";
import { writtenName } from "../meaning/line.ts";
import { nameScope } from "../meaning/rule-index.ts";
import {
  type Effects,
  type Rule,
  SubtreeEffects,
  addEffects,
  cancelledKey,
  noEffects,
  readRule,
} from "../meaning/rule.ts";
import { NameMatcher, isForHost } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-line.ts";
import { type AllowEntry, asciiLabels } from "../syntax/written-names.ts";
import { type Pass, type Stage, type StageContext, addExceptions, eachChunk } from "./stage.ts";

/** The effect of an allow-list entry. */
export interface AllowUse {
  readonly entry: AllowEntry;
  /** Rules that it removed. */
  removed: number;
  /** The exception that was added because a broader rule blocks this name. */
  exception?: string;
}

/** Names that must stay reachable, whatever the syntax of the rules against them. */
export class AllowList {
  readonly uses: readonly AllowUse[];
  private readonly byName = new Map<string, AllowUse[]>();
  readonly filter: HashFilter = new HashFilter();
  /** Whether all entries match only the name itself. */
  readonly isExact: boolean;

  constructor(entries: readonly AllowEntry[]) {
    this.isExact = !entries.some(({ below }) => below);
    this.uses = entries.map((entry) => ({ entry, removed: 0 }));
    for (const use of this.uses) {
      const { name } = use.entry;
      this.filter.add(hashText(name));
      const known = this.byName.get(name);
      if (known === undefined) this.byName.set(name, [use]);
      else known.push(use);
    }
  }

  get isEmpty(): boolean {
    return this.uses.length === 0;
  }

  /** The entry that matches a name, given by its bytes. */
  useFor(bytes: Uint8Array, start: number, end: number): AllowUse | undefined {
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start - 1; at--) {
      if (at >= start && bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      if (!this.filter.has(hashEnd(state))) continue;
      const uses = this.byName.get(decodeUtf8(bytes, at + 1, end).toLowerCase());
      const isSelf = at + 1 === start;
      const use = uses?.find(({ entry }) => (isSelf ? entry.self : entry.below));
      if (use !== undefined) return use;
    }
    return undefined;
  }

  matchesName(name: string): boolean {
    const bytes = encodeUtf8(name.toLowerCase());
    return this.useFor(bytes, 0, bytes.length) !== undefined;
  }
}

/** Drops rules for allowed names. */
export function allowing(list: AllowList, { finder }: StageContext): Stage {
  return eachChunk((chunk) => takeOut(list, chunk, finder, { fate: Fate.Allowed }));
}

/** The fate of rules for listed names, and the callback to notify. */
interface Removal {
  /** For some entries, another fate may be needed. */
  readonly fate: Fate | ((use: AllowUse) => Fate);
  /** Whether a row stays, or its name in a row with several. */
  spares?(use: AllowUse, chunk: Chunk, row: number): boolean;
  note?(use: AllowUse, chunk: Chunk, row: number): void;
}

/** Drops the rules of a chunk for listed names. */
export function takeOut(list: AllowList, chunk: Chunk, finder: RowFinder, removal: Removal): void {
  if (!list.isExact) {
    for (const row of finder.live(chunk)) takeOutRow(list, chunk, row, removal);
    return;
  }
  // Plain names are found by their hash: 5 ms instead of 200 for two million rows.
  for (const row of finder.special(chunk)) takeOutRow(list, chunk, row, removal);
  for (const row of finder.hashed(chunk, list.filter)) takeOutRow(list, chunk, row, removal);
}

function fateFor(use: AllowUse, { fate }: Removal): Fate {
  return typeof fate === "function" ? fate(use) : fate;
}

function remove(use: AllowUse, chunk: Chunk, row: number, removal: Removal): void {
  if (removal.spares?.(use, chunk, row) === true) return;
  use.removed++;
  removal.note?.(use, chunk, row);
  chunk.drop(row, fateFor(use, removal));
}

function takeOutRow(list: AllowList, chunk: Chunk, row: number, removal: Removal): void {
  if (chunk.kind[row]! < Kind.Hosts || chunk.fate[row] !== Fate.Kept) return;
  const flags = chunk.flags[row]!;
  // An exception for an allowed name stays, unless it cancels such an exception.
  if ((flags & Flag.Allow) !== 0 && cancelledKey(textOf(chunk, row)) === undefined) return;
  if (chunk.kind[row] === Kind.Hosts && (flags & Flag.SeveralNames) !== 0) {
    takeOutSome(list, chunk, row, removal);
    return;
  }
  const start = chunk.hostStart[row]!;
  const end = chunk.hostEnd[row]!;
  if (start === end) {
    takeOutPattern(list, chunk, row, removal);
    return;
  }
  const isOdd = (flags & (Flag.UpperHost | Flag.NonAscii)) !== 0;
  const folded = isOdd ? foldedName(decodeUtf8(chunk.bytesOf(row), start, end)) : undefined;
  const use =
    folded === undefined
      ? list.useFor(chunk.bytesOf(row), start, end)
      : list.useFor(folded, 0, folded.length);
  if (use === undefined) return;
  remove(use, chunk, row, removal);
}

/** `||name`, `|name^`, `||*.name^`, `/^name$/` or `name # note`: lines that consist of one name. */
function takeOutPattern(list: AllowList, chunk: Chunk, row: number, removal: Removal): void {
  const text = textOf(chunk, row).trim();
  const name = writtenName(text) ?? nameOfPattern(text);
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(name)) return;
  const bytes = encodeUtf8(name);
  const use = list.useFor(bytes, 0, bytes.length);
  if (use === undefined) return;
  remove(use, chunk, row, removal);
}

function nameOfPattern(text: string): string {
  const pattern = text.replace(/^@@/, "").replace(/\$[^/]*$/, "");
  return asciiLabels(
    pattern
      .replace(/^\/\^?(.*?)\$?\/$/, "$1")
      .replaceAll("\\.", ".")
      .replace(/^[|:/]+|[|^]+$/g, "")
      // A pattern for all subdomains matches only entries for all subdomains.
      .replace(/^\*(?=\.)/, "below")
      .toLowerCase(),
  );
}

/** In lower-case ASCII, like every entry. */
function foldedName(name: string): Uint8Array {
  return encodeUtf8(asciiLabels(name.toLowerCase()).replace(/\.$/, ""));
}

function takeOutSome(list: AllowList, chunk: Chunk, row: number, removal: Removal): void {
  const line = textOf(chunk, row);
  let last: AllowUse | undefined;
  const rest = filterNames(line, (name) => {
    const bytes = foldedName(name);
    const use = list.useFor(bytes, 0, bytes.length);
    if (use === undefined || removal.spares?.(use, chunk, row) === true) return true;
    use.removed++;
    removal.note?.(use, chunk, row);
    last = use;
    return false;
  });
  if (rest === line) return;
  if (rest === undefined) {
    chunk.drop(row, fateFor(last!, removal));
    return;
  }
  rewriteText(chunk, row, rest);
  classifyAgain(chunk, row);
}

/** Adds exceptions at the end of the list for allowed names that broader rules could block or rewrite. */
export class AllowExceptions implements Stage {
  private readonly list: AllowList;
  private readonly context: StageContext;
  private readonly effects: AllowEffects;
  private origin = 0;

  constructor(list: AllowList, context: StageContext) {
    this.list = list;
    this.context = context;
    this.effects = new AllowEffects(
      list.uses.map(({ entry }) => entry),
      context.finder,
    );
  }

  push(chunk: Chunk, pass: Pass): void {
    this.origin = chunk.origin;
    this.effects.take(chunk);
    pass(chunk);
  }

  end(pass: Pass): void {
    const lines = new Set<string>();
    for (const use of this.list.uses)
      for (const line of exceptionsFor(use.entry, this.effects.on(use.entry))) {
        use.exception ??= line;
        lines.add(line);
      }
    addExceptions([...lines], this.origin, this.context, pass);
  }
}

/** What the rules of a list do to names that must stay reachable. */
export class AllowEffects {
  private readonly finder: RowFinder;
  private readonly watch: NameMatcher;
  /** Possible effects of patterns on the subdomains of entries. */
  private readonly patterns: SubtreeEffects | undefined;
  private blocked: ReadonlySet<string> | undefined;

  constructor(entries: readonly AllowEntry[], finder: RowFinder) {
    this.finder = finder;
    this.watch = new NameMatcher(entries.map(probeOf), finder);
    this.patterns = entries.some(({ below }) => below) ? new SubtreeEffects() : undefined;
  }

  take(chunk: Chunk): void {
    const special = this.finder.special(chunk);
    this.watch.take(chunk, special);
    if (this.patterns === undefined) return;
    for (const row of special)
      if (chunk.kind[row] === Kind.Rule && !isForHost(chunk, row)) {
        const rule = readRule(textOf(chunk, row).trim());
        if (rule !== undefined) this.patterns.add(rule);
      }
  }

  /** Call it when all chunks are taken. */
  on(entry: AllowEntry): Effects {
    this.blocked ??= new Set(
      [...this.watch.verdicts()].flatMap(({ name, isBlocked }) => (isBlocked ? [name] : [])),
    );
    const effects =
      entry.below && this.patterns !== undefined ? this.patterns.over(entry.name) : noEffects();
    const probe = probeOf(entry);
    const rules = this.watch.matching(probe);
    // An existing exception may cover only the name, or only some subdomains.
    if (this.blocked.has(probe) || (entry.below && !rules.some(isForAllBelow)))
      for (const rule of rules) addEffects(effects, rule);
    return effects;
  }
}

/** Whether a rule is an exception for a name and all its subdomains. */
function isForAllBelow({ isAllow, rewrite, denied, pattern = "" }: Partial<Rule>): boolean {
  if (isAllow !== true || rewrite !== undefined || denied?.length !== 0) return false;
  return nameScope(pattern)?.below === true;
}

/** A name that is blocked whenever the entry is: the name itself or a subdomain. */
function probeOf({ name, self }: AllowEntry): string {
  return self ? name : `below.${name}`;
}

/** A plain exception does not affect `$dnsrewrite`, which needs its own. */
export function exceptionsFor({ name, below, self }: AllowEntry, effects: Effects): string[] {
  const pattern = self ? (below ? `||${name}^` : `|${name}^`) : `||*.${name}^`;
  // The ASCII form of the name has its own entry.
  if (/[^\u0000-\u007f]/.test(name)) return [];
  const { blocks, blocksImportantly, rewrites, rewritesImportantly } = effects;
  return [
    ...(blocks ? [`@@${pattern}${blocksImportantly ? "$important" : ""}`] : []),
    ...(rewrites ? [`@@${pattern}$dnsrewrite${rewritesImportantly ? ",important" : ""}`] : []),
  ];
}
