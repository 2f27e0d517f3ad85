import { ByteBuffer, DOT, LF, decodeUtf8, encodeUtf8, lineEnd } from "../bytes/text.ts";
import type { Scratch } from "../host/host.ts";
import { sharedReader } from "../kernel/names.ts";
import type { LoggedNames } from "../meaning/ranked-names.ts";
import { type Chunk, Flag } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Suffix, publicSuffixKind } from "../syntax/public-suffix.ts";
import { resolvableName } from "./special-rule.ts";

/** Longer names are handled one by one. */
export const LONG_NAME = 128;
/** A long text is read in pieces. */
const PIECE = 1024 * 1024;

/** A rule other than `||name^`. */
export interface SpecialRule {
  readonly text: string;
  readonly source: number;
}

/** Names that are known from elsewhere than the sources, and that the list blocks by their parents. */
export interface KnownNames {
  /** By the source of the rule that blocks them. Each name ends in a line feed. */
  readonly added: readonly {
    readonly source: number;
    readonly names: Uint8Array;
    readonly count: number;
  }[];
  /** Names that were too many of their domain, and the first of them. */
  readonly leftOut: { readonly count: number; readonly example: string };
  /** What clients asked for and the list blocks; undefined without logs. */
  readonly logged: LoggedNames | undefined;
}

/** Collects the rules of a list for other formats: plain names as bytes, special rules as texts. */
export class NameBuffer {
  readonly specials: SpecialRule[] = [];
  /** Names of `||name^` lines. */
  readonly names: NameBlocks;
  /** Names of sources that a parent in the list covers. Formats that block single names need them. */
  readonly covered: NameBlocks;
  /** Names that are known from elsewhere, if the list is written with some. */
  known: KnownNames | undefined;
  private readonly wantsCovered: boolean;

  constructor(openScratch: () => Scratch, wantsCovered: boolean) {
    this.names = new NameBlocks(openScratch);
    this.covered = new NameBlocks(openScratch);
    this.wantsCovered = wantsCovered;
  }

  /** Adds lines of the list from one source; a line feed precedes each. */
  take(bytes: Uint8Array, source: number): void {
    for (let from = 0; from < bytes.length;) {
      const to = lineEnd(bytes, from + PIECE);
      this.takePiece(bytes.subarray(from, to), source);
      from = to;
    }
  }

  private takePiece(bytes: Uint8Array, source: number): void {
    const { names } = this;
    const reader = sharedReader();
    reader.setText(bytes);
    for (let at = 0; at < bytes.length;) {
      const taken = reader.takeFrom(at, LONG_NAME);
      names.addAll(taken.names, taken.count, source);
      if (taken.read >= bytes.length) return;
      const start = bytes[taken.read] === LF ? taken.read + 1 : taken.read;
      at = lineEnd(bytes, start);
      this.addSpecial(decodeUtf8(bytes, start, at).trim(), source);
    }
  }

  private addSpecial(text: string, source: number): void {
    if (text === "" || text.startsWith("!") || text.startsWith("#")) return;
    this.specials.push({ text, source });
  }

  /** Adds the names of a chunk that are not in the list because a parent covers them. */
  takeCovered(chunk: Chunk, source: number): void {
    if (!this.wantsCovered) return;
    const { fate, flags, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (fate[row] !== Fate.Covered) continue;
      const bytes = chunk.bytesOf(row);
      const start = chunk.hostStart[row]!;
      const end = chunk.hostEnd[row]!;
      if ((flags[row]! & Flag.Ordinary) !== 0) this.covered.add(bytes, start, end, source);
      else this.addCovered(decodeUtf8(bytes, start, end), source);
    }
  }

  /** Adds names that the list covers and no source has, and what is known about them. Each ends in a line feed. */
  takeKnown(known: KnownNames): void {
    this.known = known;
    if (!this.wantsCovered) return;
    for (const { source, names, count } of known.added) this.covered.addAll(names, count, source);
  }

  private addCovered(written: string, source: number): void {
    const name = resolvableName(written);
    if (name === undefined || !name.includes(".")) return;
    const bytes = encodeUtf8(name);
    this.covered.add(bytes, 0, bytes.length, source);
  }

  close(): void {
    this.names.close();
    this.covered.close();
  }
}

/** Size of a block in bytes. */
const BLOCK = 1024 * 1024;
/** Blocks that are kept in memory; the others go to a scratch file. */
const MOST_IN_MEMORY = 64;

/** Names of one source, as bytes. */
export interface NameBlock {
  readonly source: number;
  readonly count: number;
  /** Size of the names with their line feeds. */
  readonly length: number;
  /** Reads the names. The bytes are valid until the next block is read. */
  readonly load: () => Uint8Array;
}

interface KeptBlock {
  readonly source: number;
  count: number;
  length: number;
  bytes: Uint8Array | undefined;
  /** Position in the scratch file. */
  readonly position: number;
}

/** Names of a block that may have to go: their positions in order, and whether the name at one has to go. */
export interface NameTrial {
  readonly starts: Iterable<number>;
  readonly isOut: (start: number, end: number) => boolean;
}

/** Many names, in the order in which they were added. */
class NameBlocks {
  /** The number of names in `blocks`. */
  private flushed = 0;
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly blocks: KeptBlock[] = [];
  private readonly current = new ByteBuffer();
  private currentCount = 0;
  private source = -1;

  constructor(openScratch: () => Scratch) {
    this.openScratch = openScratch;
  }

  /** The number of names. */
  get count(): number {
    return this.flushed + this.currentCount;
  }

  add(bytes: Uint8Array, start: number, end: number, source: number): void {
    const { current } = this;
    if (source !== this.source || current.length >= BLOCK) {
      this.flush();
      this.source = source;
    }
    current.append(bytes, start, end);
    current.push(LF);
    this.currentCount++;
  }

  /** Adds `count` names that each end in a line feed. */
  addAll(names: Uint8Array, count: number, source: number): void {
    if (count === 0) return;
    const { current } = this;
    if (source !== this.source || current.length >= BLOCK) {
      this.flush();
      this.source = source;
    }
    current.append(names, 0, names.length);
    this.currentCount += count;
  }

  all(): NameBlock[] {
    this.flush();
    return this.blocks.map((block) => ({
      source: block.source,
      count: block.count,
      length: block.length,
      load: () => this.load(block),
    }));
  }

  private load({ bytes, length, position }: KeptBlock): Uint8Array {
    if (bytes !== undefined) return bytes;
    const read = new Uint8Array(length);
    this.scratch!.read(position, read);
    return read;
  }

  /** Removes names. `begin` is called for each block. */
  remove(begin: (bytes: Uint8Array, source: number) => NameTrial): void {
    this.flush();
    for (const block of this.blocks) {
      const bytes = this.load(block);
      const { starts, isOut } = begin(bytes, block.source);
      let { count } = block;
      let to = 0;
      /** Start of the names that stay, after the last removed one. */
      let kept = 0;
      for (const start of starts) {
        const end = lineEnd(bytes, start);
        if (!isOut(start, end)) continue;
        // Close the gap to the names before it.
        bytes.copyWithin(to, kept, start);
        to += start - kept;
        kept = end + 1;
        count--;
      }
      bytes.copyWithin(to, kept);
      to += bytes.length - kept;
      if (count === block.count) continue;
      this.flushed -= block.count - count;
      block.count = count;
      block.length = to;
      if (block.bytes === undefined) this.scratch!.rewrite(block.position, bytes.subarray(0, to));
      else block.bytes = bytes.subarray(0, to);
    }
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }

  private flush(): void {
    const { current, currentCount: count, source } = this;
    if (count === 0) return;
    this.flushed += count;
    const { length } = current;
    const isKept = this.blocks.length < MOST_IN_MEMORY;
    const bytes = isKept ? current.view().slice() : undefined;
    let position = 0;
    if (!isKept) {
      this.scratch ??= this.openScratch();
      position = this.scratch.append(current.view());
    }
    this.blocks.push({ source, count, length, bytes, position });
    current.length = 0;
    this.currentCount = 0;
  }
}

/** The names of some blocks, one by one. */
export function* namesOf(
  blocks: readonly NameBlock[],
): Generator<{ name: string; source: number }> {
  for (const { source, load } of blocks)
    for (const name of new TextDecoder().decode(load()).split("\n"))
      if (name !== "") yield { name, source };
}

/** How many bytes of a registrable domain fit into a number. */
const KEY_BYTES = 6;

/** The first `taken` names of a block. */
interface SomeNames {
  readonly block: NameBlock;
  readonly taken: number;
}

/**
 * Sorts names by registrable domain, which keeps the names of one owner together, and then by name. The order depends on the names
 * alone, not on sources or earlier versions. Needs about 25 bytes per name in addition to the names.
 */
export function namesByDomain(parts: readonly SomeNames[]): NameBlock[] {
  const names = new NameTable(parts);
  const order = names.order();
  const blocks: NameBlock[] = [];
  for (let from = 0; from < order.length;) {
    const { to, length } = names.run(order, from);
    const rows = order.subarray(from, to);
    blocks.push({ source: 0, count: rows.length, length, load: () => names.text(rows, length) });
    from = to;
  }
  return blocks;
}

/** The same order for single names. */
export function compareByDomain(a: string, b: string): number {
  const [one, other] = [domainKey(a), domainKey(b)];
  return one < other ? -1 : Number(one > other);
}

function domainKey(name: string): string {
  const bytes = encodeUtf8(name);
  const at = domainStart(bytes, 0, bytes.length);
  return `${name.slice(at)}\n${name.slice(0, at)}`;
}

/**
 * The start of the registrable domain in a name; the start of the name if it is a public suffix itself. The dozen exceptions of the
 * suffix list (`!city.kawasaki.jp`) are sorted with their parents.
 */
function domainStart(bytes: Uint8Array, start: number, end: number): number {
  if (publicSuffixKind(bytes, start, end) === Suffix.Icann) return start;
  let label = start;
  let last = start;
  for (let at = start; at < end; at++) {
    if (bytes[at] !== DOT) continue;
    if (publicSuffixKind(bytes, at + 1, end) === Suffix.Icann) return label;
    last = label;
    label = at + 1;
  }
  // Below an unknown top-level domain, the last two labels.
  return last;
}

class NameTable {
  private readonly bytes: Uint8Array;
  private readonly starts: Float64Array;
  /** Offset of the registrable domain in the name. */
  private readonly domains: Uint8Array;
  /** The first bytes of the registrable domain, which are enough to compare most names. */
  private readonly keys: Float64Array;
  private readonly count: number;

  constructor(parts: readonly SomeNames[]) {
    this.count = parts.reduce((sum, { taken }) => sum + taken, 0);
    this.bytes = new Uint8Array(parts.reduce((sum, { block }) => sum + block.length, 0));
    this.starts = new Float64Array(this.count);
    this.domains = new Uint8Array(this.count);
    this.keys = new Float64Array(this.count);
    let row = 0;
    let to = 0;
    for (const { block, taken } of parts) {
      if (taken === 0) continue;
      this.bytes.set(block.load(), to);
      for (const last = row + taken; row < last; row++) {
        const end = lineEnd(this.bytes, to);
        const domain = domainStart(this.bytes, to, end);
        this.starts[row] = to;
        this.domains[row] = domain - to;
        this.keys[row] = keyOf(this.bytes, domain, end);
        to = end + 1;
      }
    }
  }

  order(): Uint32Array {
    const { keys } = this;
    const order = Uint32Array.from({ length: this.count }, (_, row) => row);
    return order.toSorted((a, b) => keys[a]! - keys[b]! || this.compare(a, b));
  }

  /** The rows from `from` on that fill a block. */
  run(order: Uint32Array, from: number): { to: number; length: number } {
    let length = 0;
    let to = from;
    while (to < order.length && length < BLOCK) length += this.lengthOf(order[to++]!);
    return { to, length };
  }

  text(rows: Uint32Array, length: number): Uint8Array {
    const text = new Uint8Array(length);
    let to = 0;
    for (const row of rows) {
      const start = this.starts[row]!;
      for (let at = start; ; at++) if ((text[to++] = this.bytes[at]!) === LF) break;
    }
    return text;
  }

  private lengthOf(row: number): number {
    const start = this.starts[row]!;
    return lineEnd(this.bytes, start) + 1 - start;
  }

  private compare(a: number, b: number): number {
    const { bytes, starts, domains } = this;
    const [aStart, bStart] = [starts[a]!, starts[b]!];
    const [aDomain, bDomain] = [aStart + domains[a]!, bStart + domains[b]!];
    for (let at = 0; ; at++) {
      const byte = bytes[aDomain + at]!;
      if (byte !== bytes[bDomain + at]) return byte - bytes[bDomain + at]!;
      if (byte === LF) break;
    }
    for (let at = 0; aStart + at < aDomain && bStart + at < bDomain; at++) {
      const differs = bytes[aStart + at]! - bytes[bStart + at]!;
      if (differs !== 0) return differs;
    }
    return domains[a]! - domains[b]!;
  }
}

function keyOf(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let at = start; at < start + KEY_BYTES; at++) key = key * 256 + (at < end ? bytes[at]! : 0);
  return key;
}
