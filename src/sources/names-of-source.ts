import { HashTable, hashEnd, hashStep, otherHashStep } from "../bytes/hash.ts";
import { DOT, HASH, PIPE, SLASH, countLineFeeds, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { numberText } from "../diagnostics/text.ts";
import { type TypeCheck, isFlag, isNumber, isText, arrayOf, objectOf } from "../host/files.ts";
import { HashFilter } from "../kernel/rows.ts";
import { isLocalLine } from "../syntax/hosts-line.ts";
import { endsLine } from "../syntax/list-scan.ts";
import { type WrittenNames, eachWrittenName } from "../syntax/written-names.ts";
import { sourceError } from "./limits.ts";
import type { LineSink } from "./source-list.ts";

const EQUALS = 61;
/** What an entry of a table is known for. */
const Known = { Listed: 1, Covering: 2, Counted: 4 } as const;

/** The entries of a text: which names it lists, and of which names it lists the subdomains too. */
export class CoveredNames {
  private readonly table = new HashTable(4096);
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
    const known = this.table.get(hash);
    if (known === 0) this.size++;
    this.table.set(hash, known | flags);
  }

  /** How many entries of a part of the text another text lacks. Each is counted once. */
  countMissing(bytes: Uint8Array, { start, end }: Stretch, other: CoveredNames): number {
    let missing = 0;
    const isFirst = (hash: number): boolean => {
      const known = this.table.get(hash);
      this.table.set(hash, known | Known.Counted);
      return (known & Known.Counted) === 0;
    };
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
  explain(bytes: Uint8Array, { start, end }: Stretch, take: KnownLineTaker): void {
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

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Gets where a line starts, and whether all of it is known. */
type KnownLineTaker = (start: number, isKnown: boolean) => void;

function hashIn(seed: number, bytes: Uint8Array, start: number, end: number): number {
  let state = seed;
  for (let at = end - 1; at >= start; at--) state = hashStep(state, bytes[at]! | 32);
  return hashEnd(state);
}

/** Whether a name includes its subdomains: `||name^`, `*.name`, `.name`, `address=/name/`. */
function coversChildren(bytes: Uint8Array, start: number): boolean {
  const before = bytes[start - 1];
  if (before === DOT) return true;
  const first = bytes[start - 2];
  return (before === PIPE && first === PIPE) || (before === SLASH && first === EQUALS);
}

const START = 0x3c6ef372;
/** Names in exceptions have other hashes than blocked ones. */
const EXCEPTION = 0x5bd1e995;

/**
 * Hashes entries of lists, ignoring case: the bit that differs between cases is set in all other bytes of names anyway. `open` is the same
 * everywhere. `secret` cannot be predicted, not even from `open`,
 * so that no list can be made to look like another one.
 */
class EntryHash {
  open = 0;
  secret = 0;
  private readonly salt: number;

  constructor(salt: number) {
    this.salt = salt;
  }

  of(bytes: Uint8Array, start: number, end: number, isException: boolean): void {
    let state = isException ? START ^ EXCEPTION : START;
    let other = ~state;
    for (let at = end - 1; at >= start; at--) {
      const byte = bytes[at]! | 32;
      state = hashStep(state, byte);
      other = otherHashStep(other, byte);
    }
    this.open = hashEnd(state);
    this.secret = hashEnd(state ^ otherHashStep(other, this.salt));
  }
}

/** Calls `found` with the hash of a name, then with that of each of its parents, until it returns true. */
function someSuffix(
  bytes: Uint8Array,
  { start, end, seed }: { start: number; end: number; seed: number },
  found: (hash: number, isWhole: boolean) => boolean,
): boolean {
  let state = seed;
  for (let at = end - 1; at >= start; at--) {
    const byte = bytes[at]! | 32;
    if (byte === 46 && found(hashEnd(state), false)) return true;
    state = hashStep(state, byte);
  }
  return found(hashEnd(state), true);
}

/** The second bytes of `##`, `#@#`, `#?#`, `#$#` and `#%#`. */
const COSMETIC: ReadonlySet<number> = new Set([35, 64, 63, 36, 37]);

/** Statistics of a source's text, gathered without parsing its rules. */
export interface SourceMeasure {
  /** Entries: names, and lines without one. */
  readonly entries: number;
  /** Whether a line can be a rule: it has a name, a character of patterns or an IP address. */
  readonly hasRules: boolean;
  /** Makes the hashes of `sketch` unpredictable. */
  readonly salt: number;
  readonly sketch: Sketch;
  /** A short sketch without a salt, which is published. */
  readonly open: Sketch;
  /** Watched names in its text. */
  readonly watched: readonly string[];
}

/** Measures a text block by block. */
export class SourceGauge implements WrittenNames {
  /** How many entries its header names. */
  declared: DeclaredCount | undefined;
  private hasBegun = false;
  private entries = 0;
  private hasRules = false;
  private lines = 0;
  private cosmetic = 0;
  private readonly salt: number;
  private readonly names = new SketchMaker();
  private readonly openNames = new SketchMaker(OPEN_SIZE);
  private readonly hash: EntryHash;
  private readonly filter = new HashFilter();
  private readonly watchedNames: ReadonlySet<string>;
  private readonly seen = new Set<string>();

  constructor(salt: number, watched: ReadonlySet<string>) {
    this.salt = salt;
    this.hash = new EntryHash(salt);
    this.watchedNames = watched;
    for (const name of watched) {
      const bytes = encodeUtf8(name);
      this.hash.of(bytes, 0, bytes.length, false);
      this.filter.add(this.hash.secret);
    }
  }

  look(bytes: Uint8Array, start: number, end: number): void {
    if (!this.hasBegun) this.declared = declaredCount(bytes.subarray(start, end));
    this.hasBegun = true;
    if (this.declared?.isOfLines === true) this.lines += countLineFeeds(bytes, start, end);
    eachWrittenName(bytes, start, end, this);
  }

  name(bytes: Uint8Array, start: number, end: number, isException: boolean): void {
    const hash = this.add(bytes, start, end, isException);
    if (isException || !this.filter.has(hash)) return;
    const name = decodeUtf8(bytes, start, end).toLowerCase();
    if (this.watchedNames.has(name)) this.seen.add(name);
  }

  line(names: number, bytes: Uint8Array, start: number, end: number): void {
    if (isLocalLine(names, bytes, start, end)) return;
    this.entries += Math.max(1, names);
    this.hasRules ||= names > 0 || isRuleLike(bytes, start, end);
    if (names === 0) this.add(bytes, start, end, false);
  }

  private add(bytes: Uint8Array, start: number, end: number, isException: boolean): number {
    const { hash } = this;
    hash.of(bytes, start, end, isException);
    this.names.add(hash.secret >>> 0);
    this.openNames.add(hash.open >>> 0);
    return hash.secret;
  }

  /** Cosmetic rules for all sites. A few comments look the same, which does no harm. */
  comment(bytes: Uint8Array, start: number): void {
    if (bytes[start] === HASH && COSMETIC.has(bytes[start + 1]!)) this.cosmetic++;
  }

  /** What to compare with the number in the header: lists count rules that become no entries, or all lines. */
  get counted(): number {
    return Math.max(this.entries + this.cosmetic, this.lines);
  }

  get measure(): SourceMeasure {
    const { entries, hasRules, salt, names, openNames, seen } = this;
    const [sketch, open] = [names.sketch, openNames.sketch];
    return { entries, hasRules, salt, sketch, open, watched: [...seen] };
  }
}

/** Whether a line without a name can be a rule: it has a character of patterns, or looks like an IP address. */
function isRuleLike(bytes: Uint8Array, start: number, end: number): boolean {
  return /[*/^|]|\.\d|:[\da-f]*:/i.test(decodeUtf8(bytes, start, end));
}

/** An unpredictable salt. */
export function freshSalt(): number {
  return (Math.random() * 0x1_0000_0000) | 0;
}

/** Checks every field, because other programs may have changed the file. */
export const isMeasure: TypeCheck<SourceMeasure> = objectOf<SourceMeasure>({
  entries: isNumber,
  hasRules: isFlag,
  salt: isNumber,
  sketch: arrayOf(isNumber),
  open: arrayOf(isNumber),
  watched: arrayOf(isText),
});

/** Headers are at the start of a list. */
const HEAD_BYTES = 8192;
/** A list with a smaller share of what it declares is taken as truncated. */
const LEAST_SHARE = 0.9;
/** Lists count in different ways, which matters for small ones. */
const MOST_MISSING = 20;
/** A comment such as `! Number of entries: 1234`, `# Domains: 26,029`, `#TOTAL_LINES=110862` or `# Blocked: 1.747 domains`. */
const DECLARED =
  /^\s*[!#;]+[\s|]*(?:(?:the )?(?:total )?(?:number of (?:unique )?(?:domain |network |blocked )?(?:entries|domains|names|hosts|hostnames|rules|filters|urls)|(?:domain |entry |rule )?count|entries|domains|blocked|rules|(?<lines>(?:total[ _])?lines)))\s*[:=]\s*(?<number>\d{1,3}(?:[.,']\d{3})+|\d+)(?:\s+(?:domains|entries|names|hosts|rules|filters|\[.*))?\s*$/im;

/** What a list says about its size. */
interface DeclaredCount {
  readonly number: number;
  /** Whether it counts lines, which may include comments and blank ones. */
  readonly isOfLines: boolean;
}

/** The number of entries that a list names in its header; undefined if it names none. `text` is its start. */
export function declaredCount(text: Uint8Array): DeclaredCount | undefined {
  const head = decodeUtf8(text, 0, Math.min(text.length, HEAD_BYTES));
  const { number, lines } = DECLARED.exec(head)?.groups ?? {};
  if (number === undefined) return undefined;
  return { number: Number(number.replace(/[.,']/g, "")), isOfLines: lines !== undefined };
}

/** Throws a `CompilerError` if a list has far fewer entries than it declares. */
export function refuseTruncated(
  label: string,
  entries: number,
  declared: number | undefined,
): void {
  if (declared === undefined || declared - entries <= MOST_MISSING) return;
  if (entries >= declared * LEAST_SHARE) return;
  throw sourceError(
    "source-truncated",
    `${label} is not complete`,
    `its header names ${numberText(declared)} entries, it has ${numberText(entries)}`,
  );
}

/** The smallest hashes of a set of names, sorted. Two sketches give an estimate of how much the sets have in common. */
export type Sketch = readonly number[];

/** With this many, an estimate is off by two percentage points. */
export const SKETCH_SIZE = 512;
/** The size of a sketch that is published. */
export const OPEN_SIZE = 64;

/** Collects the smallest of many hashes, each once. */
export class SketchMaker {
  private readonly kept = new Set<number>();
  private readonly size: number;
  private limit = 0x1_0000_0000;

  constructor(size: number = SKETCH_SIZE) {
    this.size = size;
  }

  add(hash: number): void {
    if (hash >= this.limit) return;
    this.kept.add(hash);
    if (this.kept.size >= this.size * 4) this.prune();
  }

  private prune(): void {
    const smallest = this.sketch;
    this.kept.clear();
    for (const hash of smallest) this.kept.add(hash);
    this.limit = smallest.at(-1)!;
  }

  get sketch(): Sketch {
    return [...Uint32Array.from(this.kept).toSorted().subarray(0, this.size)];
  }
}

/** How much two sets have in common: the share of the first that is in the second, and the reverse. */
interface Overlap {
  readonly kept: number;
  readonly known: number;
}

/** Estimates the overlap of two sets from their sketches of at most `size` hashes. */
export function overlapOf(before: Sketch, now: Sketch, size: number = SKETCH_SIZE): Overlap {
  // Below the largest hash of a full sketch, the sketch has all hashes of its set.
  const lastOf = (sketch: Sketch): number => (sketch.length < size ? Infinity : sketch.at(-1)!);
  const limit = Math.min(lastOf(before), lastOf(now));
  let [at, beside, both] = [0, 0, 0];
  for (;;) {
    const [own, other] = [before[at] ?? Infinity, now[beside] ?? Infinity];
    if (Math.min(own, other) > limit || (own === Infinity && other === Infinity)) break;
    if (own === other) both++;
    if (own <= other) at++;
    if (other <= own) beside++;
  }
  return { kept: at === 0 ? 1 : both / at, known: beside === 0 ? 1 : both / beside };
}

/** A sketch as text: four bytes a hash, in Base64. */
export function sketchText(sketch: Sketch): string {
  const bytes = new Uint8Array(sketch.length * 4);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < sketch.length; index++) view.setUint32(index * 4, sketch[index]!);
  return btoa(String.fromCharCode(...bytes));
}

/** The sketch that a text describes; undefined if it is damaged. */
export function readSketch(text: unknown): Sketch | undefined {
  if (typeof text !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0)
    return undefined;
  const bytes = atob(text);
  if (bytes.length % 4 !== 0) return undefined;
  const sketch: number[] = [];
  let last = -1;
  // A ledger has hundreds of sketches, and each run reads it.
  for (let at = 0; at < bytes.length; at += 4) {
    const high = (bytes.charCodeAt(at) << 8) | bytes.charCodeAt(at + 1);
    const hash = high * 0x1_0000 + ((bytes.charCodeAt(at + 2) << 8) | bytes.charCodeAt(at + 3));
    if (hash <= last) return undefined;
    sketch.push(hash);
    last = hash;
  }
  return sketch;
}

/** Counts lines without keeping them, so that later problems have the right line number. */
export const LINE_COUNT: LineSink = {
  begin: () => ({ origin: 0, nextLine: 1 }),
  read(file, { bytes }, { start, end }) {
    for (let at = start + 1; at <= end; at++) if (endsLine(bytes, at)) file.nextLine++;
  },
  nextLine: (file) => file.nextLine,
  blank() {},
};
