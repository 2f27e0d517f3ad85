import { LF } from "../bytes/ascii.ts";
import { KernelArea } from "./kernel-area.ts";
import { KernelMemory } from "./kernel-memory.ts";

/** Bytes behind a text that the kernel may read. */
const AFTER = 32;
/** Bytes of a filter of names, 2^20 bits. Names take two bits each. */
const NAME_FILTER_BYTES = 128 * 1024;

/** Names in the kernel's memory, valid until the next call. */
interface TakenNames {
  /** The names, each with a line feed behind it. */
  readonly names: Uint8Array;
  readonly count: number;
  /** How much of the text was read: up to the first line that is not `||name^`. */
  readonly read: number;
}

/** Finds names in the text of a list, and names by their last labels, in a memory of its own. */
export class NameReader {
  private readonly kernel = new KernelMemory();
  private readonly text = new KernelArea(this.kernel);
  private readonly filter = new KernelArea(this.kernel);
  private readonly out = new KernelArea(this.kernel);
  private length = 0;

  /** Sets the text for `takeFrom`: lines with a line feed before each. */
  setText(text: Uint8Array): void {
    this.length = text.length;
    this.text.need(text.length + AFTER);
    const bytes = this.kernel.bytes(this.text.at, text.length + AFTER);
    bytes.set(text);
    bytes.fill(0, text.length);
    bytes[text.length] = LF;
  }

  /** Takes the names of the lines `||name^` from a position up to the first other line; names may have `longest` bytes. */
  takeFrom(position: number, longest: number): TakenNames {
    const { kernel, length } = this;
    this.out.need(length + AFTER);
    const { at } = this.text;
    const out = this.out.at;
    const read = kernel.exports.takeNames(at + position, at + length, longest, out) >>> 0;
    const end = kernel.exports.namesEnd.value >>> 0;
    return {
      names: kernel.bytes(out, end - out),
      count: kernel.exports.namesCount.value,
      read: read - at,
    };
  }

  /** The positions of names that may be in a filter: their ends or the whole name. A line feed follows each name. */
  findEnds(names: Uint8Array, filter: Uint8Array): Uint32Array {
    const { kernel } = this;
    this.text.need(names.length + AFTER);
    this.filter.need(NAME_FILTER_BYTES);
    this.out.need(names.length * 4);
    kernel.bytes(this.text.at, names.length).set(names);
    kernel.bytes(this.filter.at, NAME_FILTER_BYTES).set(filter);
    const { at } = this.text;
    const out = this.out.at;
    const count = kernel.exports.findEnds(at, at + names.length, this.filter.at, out);
    return kernel.words(out, count).slice();
  }
}

let shared: NameReader | undefined;

/** One reader for all lists, because a memory takes longer to make than a small list. No call leaves it in use. */
export function sharedReader(): NameReader {
  return (shared ??= new NameReader());
}

/** An empty filter of names. */
export function nameFilter(): Uint8Array {
  return new Uint8Array(NAME_FILTER_BYTES);
}

/** Adds a name to a filter that finds it and all names that end in it, from a dot on. */
export function addEnd(filter: Uint8Array, name: string): void {
  setBits(filter, hashOf(name));
}

/** Adds a name to a filter that finds it alone. */
export function addWhole(filter: Uint8Array, name: string): void {
  setBits(filter, ~hashOf(name));
}

/** From the end to the start, so that the kernel has the hashes of all ends on the way. */
function hashOf(name: string): number {
  let hash = 0;
  for (let at = name.length - 1; at >= 0; at--)
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) ^ (hash >>> 15);
  return hash;
}

function setBits(filter: Uint8Array, hash: number): void {
  for (const bit of [hash >>> 12, Math.imul(hash, 0x9e3779b1) >>> 12])
    filter[bit >> 3]! |= 1 << (bit & 7);
}
