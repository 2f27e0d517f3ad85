import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { withParents } from "../syntax/parents.ts";
import { LONG_NAME, type NameSpool } from "./name-spool.ts";
import { type NameVerdict, RuleTree } from "./rule-tree.ts";
import { Level, type LossReason, readSpecialRule } from "./special-rule.ts";

/** A rule that is for no name. */
export interface NamelessRule {
  readonly text: string;
  readonly reason: LossReason;
  /** The source of its expression, if it is one and nothing else. */
  readonly regex?: string;
}

export interface NameBlock {
  readonly source: number;
  readonly count: number;
  /** Names with a line feed behind each. */
  readonly bytes: Uint8Array;
}

const FILTER_MASK = 0xffff;

/**
 * What a list means, in the form that all formats are written from: names that are blocked with everything below them and
 * have nothing to do with any other rule, which are nearly all, in blocks of bytes; and the others one by one.
 */
export class ListModel {
  readonly nameless: NamelessRule[] = [];
  private readonly spool: NameSpool;
  private readonly tree = new RuleTree();
  private readonly cancelled = new Set<string>();
  /** The last two labels of names that are looked at one by one, and their hashes. */
  private readonly tails = new Set<string>();
  private readonly filter = new Uint8Array((FILTER_MASK + 1) >> 3);
  /** Top-level domains with a rule for all of them. */
  private readonly tops = new Set<string>();
  /** Whether every name has to be looked at. */
  private readonly isAnyRelated: boolean;
  private found: ReturnType<ListModel["parted"]> | undefined;
  /** Plain names that have to do with others. */
  private readonly related: string[] = [];
  /** The first source that names a name which is looked at by itself. */
  private readonly sources = new Map<string, number>();

  /** `isMinimal` when it is certain that no plain name is there twice or below another. */
  constructor(spool: NameSpool, isMinimal: boolean) {
    this.spool = spool;
    const names: string[] = [];
    for (const { text } of spool.specials) {
      const read = readSpecialRule(text);
      if (read.kind === "cancel") {
        this.cancelled.add(read.text);
        names.push(/^\|\|(?<name>[^^]+)\^$/.exec(read.text)?.groups?.["name"] ?? "");
      }
    }
    for (const { text, source } of spool.specials) {
      if (this.cancelled.has(text)) continue;
      const read = readSpecialRule(text);
      if (read.kind === "lost") {
        const { kind: _kind, ...rest } = read;
        this.nameless.push({ text, ...rest });
      } else if (read.kind === "names")
        for (const rule of read.rules) {
          this.tree.enter(rule);
          names.push(rule.name);
          if (!this.sources.has(rule.name)) this.sources.set(rule.name, source);
          // A rule for a whole top-level domain is related to everything in it.
          if (rule.below && !rule.name.includes(".")) this.tops.add(rule.name);
        }
    }
    this.isAnyRelated = !isMinimal;
    for (const name of names) this.addTail(name);
    this.enterRelated();
  }

  /** The rules that are not in blocks, as they are. */
  *otherTexts(): Generator<string> {
    for (const { text } of this.spool.specials) yield text;
    for (const name of this.related) yield `||${name}^`;
  }

  /** Names to be looked at one by one, those of whole blocks left out. */
  verdicts(): readonly NameVerdict[] {
    return this.parted().verdicts;
  }

  /** The source of a name that is looked at by itself. */
  sourceOf(name: string): number {
    return this.sources.get(name) ?? 0;
  }

  /** Most names that might have had to do with others have not: they go with the blocks after all. */
  private parted(): {
    readonly verdicts: readonly NameVerdict[];
    readonly loose: readonly NameBlock[];
  } {
    if (this.found !== undefined) return this.found;
    const all = [...this.tree.verdicts()];
    const parents = new Set(
      all.flatMap((one) => (isPlain(one) ? [] : withParents(one.name).slice(1))),
    );
    const isLoose = (one: NameVerdict): boolean => isPlain(one) && !parents.has(one.name);
    const bySource = new Map<number, string[]>();
    for (const { name } of all.filter(isLoose)) {
      const source = this.sourceOf(name);
      const known = bySource.get(source);
      if (known === undefined) bySource.set(source, [name]);
      else known.push(name);
    }
    const loose = [...bySource].map(([source, names]): NameBlock => ({
      source,
      count: names.length,
      bytes: encodeUtf8(names.map((name) => `${name}\n`).join("")),
    }));
    this.found = { verdicts: all.filter((one) => !isLoose(one)), loose };
    return this.found;
  }

  /** Names that are blocked with everything below them, in the order of the list. A block is good until the next. */
  *blocks(): Generator<NameBlock> {
    yield* this.parted().loose;
    yield* this.spool.names();
  }

  /** The blocks without those that `otherTexts` has. */
  plainBlocks(): Iterable<NameBlock> {
    return this.spool.names();
  }

  private enterRelated(): void {
    if (this.tails.size === 0 && !this.isAnyRelated) return;
    this.spool.remove((bytes, start, end, tail, top, source) => {
      if (!this.isAnyRelated && !this.isRelated(bytes, end, tail, top)) return false;
      const name = decodeUtf8(bytes, start, end);
      this.related.push(name);
      if (!this.sources.has(name)) this.sources.set(name, source);
      if (!this.cancelled.has(`||${name}^`))
        this.tree.enter({ name, level: Level.Block, self: true, below: true });
      return true;
    });
  }

  private addTail(name: string): void {
    if (name === "") return;
    const tail = name.split(".").slice(-2).join(".");
    this.tails.add(tail);
    let hash = 0;
    for (let at = 0; at < tail.length; at++) hash = nextHash(hash, tail.charCodeAt(at));
    this.filter[(hash & FILTER_MASK) >> 3]! |= 1 << (hash & 7);
  }

  private isRelated(bytes: Uint8Array, end: number, tail: number, top: number): boolean {
    if (this.tops.size > 0 && this.tops.has(decodeUtf8(bytes, top, end))) return true;
    let hash = 0;
    for (let at = tail; at < end; at++) hash = nextHash(hash, bytes[at]!);
    if ((this.filter[(hash & FILTER_MASK) >> 3]! & (1 << (hash & 7))) === 0) return false;
    return this.tails.has(decodeUtf8(bytes, tail, end));
  }
}

/** Whether everything below a name is blocked with it, and no parent has to do with it. */
function isPlain({ name, self, below, inherited }: NameVerdict): boolean {
  return (
    self === "block" && below === "block" && inherited === undefined && name.length <= LONG_NAME
  );
}

function nextHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193) ^ (hash >>> 15);
}
