import { DOT, LF } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { Suffix, publicSuffixKind } from "../syntax/public-suffix.ts";
import type { NameBlock } from "./name-blocks.ts";

/** Size of an output block in bytes. */
const BLOCK = 1024 * 1024;
/** How many bytes of a registrable domain fit into a number. */
const KEY_BYTES = 6;

/** The first `taken` names of a block. */
export interface SomeNames {
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
        const end = this.bytes.indexOf(LF, to);
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
    return this.bytes.indexOf(LF, start) + 1 - start;
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
