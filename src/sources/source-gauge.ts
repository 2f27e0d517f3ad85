import { HASH } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { HashFilter } from "../kernel/row-finder.ts";
import { isLocalLine } from "../syntax/local-names.ts";
import { type WrittenNames, eachWrittenName } from "../syntax/written-names.ts";
import { type DeclaredCount, declaredCount } from "./declared-count.ts";
import { EntryHash } from "./name-hash.ts";
import { OPEN_SIZE, type Sketch, SketchMaker } from "./name-sketch.ts";

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
export function isMeasure(measure: unknown): measure is SourceMeasure {
  if (typeof measure !== "object" || measure === null) return false;
  const { entries, hasRules, salt, sketch, open, watched } = measure as Partial<SourceMeasure>;
  return (
    typeof entries === "number" &&
    typeof hasRules === "boolean" &&
    typeof salt === "number" &&
    isSketch(sketch) &&
    isSketch(open) &&
    Array.isArray(watched) &&
    watched.every((name) => typeof name === "string")
  );
}

function isSketch(hashes: unknown): boolean {
  return Array.isArray(hashes) && hashes.every((hash) => typeof hash === "number");
}
