import { HASH } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { hashEnd } from "../bytes/hash.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { HashFilter } from "../kernel/row-finder.ts";
import { type WrittenNames, eachWrittenName } from "../syntax/written-names.ts";
import { type DeclaredCount, declaredCount } from "./declared-count.ts";
import { type Sketch, SketchMaker } from "./name-sketch.ts";

/** The second bytes of `##`, `#@#`, `#?#`, `#$#` and `#%#`. */
const COSMETIC: ReadonlySet<number> = new Set([35, 64, 63, 36, 37]);

/** Statistics of a source's text, gathered without parsing its rules. */
export interface SourceMeasure {
  /** Entries: names, and lines without one. */
  readonly entries: number;
  /** Makes hashes unpredictable, so that no list can be crafted to look like another one. */
  readonly salt: number;
  readonly sketch: Sketch;
  /** Watched names in its text. */
  readonly watched: readonly string[];
}

/** Measures a text block by block. */
export class SourceGauge implements WrittenNames {
  /** How many entries its header names. */
  declared: DeclaredCount | undefined;
  private hasBegun = false;
  private entries = 0;
  private lines = 0;
  private cosmetic = 0;
  private readonly salt: number;
  private readonly names = new SketchMaker();
  private readonly filter = new HashFilter();
  private readonly watchedNames: ReadonlySet<string>;
  private readonly seen = new Set<string>();

  constructor(salt: number, watched: ReadonlySet<string>) {
    this.salt = salt;
    this.watchedNames = watched;
    for (const name of watched) {
      const bytes = encodeUtf8(name);
      this.filter.add(this.hashOf(bytes, 0, bytes.length));
    }
  }

  look(bytes: Uint8Array, start: number, end: number): void {
    if (!this.hasBegun) this.declared = declaredCount(bytes.subarray(start, end));
    this.hasBegun = true;
    if (this.declared?.isOfLines === true) this.lines += countLineFeeds(bytes, start, end);
    eachWrittenName(bytes, start, end, this);
  }

  name(bytes: Uint8Array, start: number, end: number, isException: boolean): void {
    const hash = this.hashOf(bytes, start, end);
    this.names.add(hash >>> 0);
    if (isException || !this.filter.has(hash)) return;
    const name = decodeUtf8(bytes, start, end).toLowerCase();
    if (this.watchedNames.has(name)) this.seen.add(name);
  }

  line(names: number): void {
    this.entries += Math.max(1, names);
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
    const { entries, salt, names, seen } = this;
    return { entries, salt, sketch: names.sketch, watched: [...seen] };
  }

  /** Ignores case: the bit that differs between cases is set in all other bytes of names anyway. */
  private hashOf(bytes: Uint8Array, start: number, end: number): number {
    let state = this.salt;
    for (let at = start; at < end; at++) {
      state = Math.imul(state ^ (bytes[at]! | 32), 0x9e3779b1);
      state ^= state >>> 15;
    }
    return hashEnd(state);
  }
}

/** An unpredictable salt. */
export function freshSalt(): number {
  return (Math.random() * 0x1_0000_0000) | 0;
}

/** Checks every field, because other programs may have changed the file. */
export function isMeasure(measure: unknown): measure is SourceMeasure {
  if (typeof measure !== "object" || measure === null) return false;
  const { entries, salt, sketch, watched } = measure as Partial<SourceMeasure>;
  return (
    typeof entries === "number" &&
    typeof salt === "number" &&
    Array.isArray(sketch) &&
    sketch.every((hash) => typeof hash === "number") &&
    Array.isArray(watched) &&
    watched.every((name) => typeof name === "string")
  );
}
