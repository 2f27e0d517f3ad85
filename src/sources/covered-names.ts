import { DOT, PIPE, SLASH } from "../bytes/ascii.ts";
import { hashEnd } from "../bytes/hash.ts";
import { type WrittenNames, eachWrittenName } from "../syntax/written-names.ts";
import { EXCEPTION, someSuffix } from "./name-hash.ts";

const EQUALS = 61;
/** What an entry of a table is known for. */
const Known = { Listed: 1, Covering: 2, Counted: 4 } as const;

/** Hashes with flags, in open addressing. */
class FlagTable {
  private hashes = new Int32Array(1 << 12);
  private flags = new Uint8Array(1 << 12);
  private used = 0;

  /** Adds flags to a hash and returns those that it had. */
  add(hash: number, flags: number): number {
    if (this.used * 2 > this.hashes.length) this.grow();
    const at = this.find(hash);
    const before = this.flags[at]!;
    if (before === 0) this.used++;
    this.hashes[at] = hash;
    this.flags[at] = before | flags;
    return before;
  }

  get(hash: number): number {
    return this.flags[this.find(hash)]!;
  }

  private find(hash: number): number {
    const mask = this.hashes.length - 1;
    let at = hash & mask;
    while (this.flags[at] !== 0 && this.hashes[at] !== hash) at = (at + 1) & mask;
    return at;
  }

  private grow(): void {
    const { hashes, flags } = this;
    this.hashes = new Int32Array(hashes.length * 4);
    this.flags = new Uint8Array(hashes.length * 4);
    for (let at = 0; at < hashes.length; at++) {
      if (flags[at] === 0) continue;
      const to = this.find(hashes[at]!);
      this.hashes[to] = hashes[at]!;
      this.flags[to] = flags[at]!;
    }
  }
}

/** The entries of a text: which names it lists, and of which names it lists the subdomains too. */
export class CoveredNames {
  private readonly table = new FlagTable();
  private readonly seed: number;
  /** Entries, each counted once. */
  size = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    eachWrittenName(bytes, start, end, {
      name: (text, from, to, isException) => {
        const flags = coversChildren(text, from) ? Known.Listed | Known.Covering : Known.Listed;
        this.put(hashIn(this.seedOf(isException), text, from, to), flags);
      },
      line: (names, text, from, to) => {
        if (names === 0) this.put(hashIn(this.seed, text, from, to), Known.Listed);
      },
    });
  }

  private put(hash: number, flags: number): void {
    if (this.table.add(hash, flags) === 0) this.size++;
  }

  /** How many entries of a part of the text another text lacks. Each is counted once. */
  countMissing(bytes: Uint8Array, { start, end }: Stretch, other: CoveredNames): number {
    let missing = 0;
    const isFirst = (hash: number): boolean =>
      (this.table.add(hash, Known.Counted) & Known.Counted) === 0;
    eachWrittenName(bytes, start, end, {
      name: (text, from, to, isException) => {
        const isNew = isFirst(hashIn(this.seedOf(isException), text, from, to));
        if (isNew && !other.covers(text, { start: from, end: to }, isException)) missing++;
      },
      line: (names, text, from, to) => {
        if (names > 0) return;
        const hash = hashIn(this.seed, text, from, to);
        if (isFirst(hash) && other.table.get(hash) === 0) missing++;
      },
    });
    return missing;
  }

  /** Calls `take` for each line with a rule: whether this text has all that the line lists. */
  explain(bytes: Uint8Array, { start, end }: Stretch, take: LineTaker): void {
    let isKnown = true;
    const seen: WrittenNames = {
      name: (text, from, to, isException) => {
        isKnown &&= this.covers(text, { start: from, end: to }, isException);
      },
      line: (names, text, from, to) => {
        if (names === 0) isKnown = this.table.get(hashIn(this.seed, text, from, to)) !== 0;
        take(from, isKnown);
        isKnown = true;
      },
    };
    eachWrittenName(bytes, start, end, seen);
  }

  private covers(bytes: Uint8Array, { start, end }: Stretch, isException: boolean): boolean {
    const seed = this.seedOf(isException);
    return someSuffix(bytes, { start, end, seed }, (hash, isWhole) => {
      const flags = this.table.get(hash);
      return isWhole ? (flags & Known.Listed) !== 0 : (flags & Known.Covering) !== 0;
    });
  }

  private seedOf(isException: boolean): number {
    return isException ? this.seed ^ EXCEPTION : this.seed;
  }
}

export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Gets where a line starts, and whether all of it is known. */
type LineTaker = (start: number, isKnown: boolean) => void;

function hashIn(seed: number, bytes: Uint8Array, start: number, end: number): number {
  let state = seed;
  for (let at = end - 1; at >= start; at--) {
    state = Math.imul(state ^ (bytes[at]! | 32), 0x9e3779b1);
    state ^= state >>> 15;
  }
  return hashEnd(state);
}

/** Whether a name includes its subdomains: `||name^`, `*.name`, `.name`, `address=/name/`. */
function coversChildren(bytes: Uint8Array, start: number): boolean {
  const before = bytes[start - 1];
  if (before === DOT) return true;
  const first = bytes[start - 2];
  return (before === PIPE && first === PIPE) || (before === SLASH && first === EQUALS);
}
