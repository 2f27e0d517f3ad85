import { CARET, DOT, HYPHEN, LF, PIPE } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Scratch } from "../host/host.ts";

/** Names of a block, each with a line feed behind it. */
const BLOCK = 1024 * 1024;
/** Blocks that are kept in memory; the others go to a scratch file. */
const MOST_IN_MEMORY = 64;
/** Longer names are looked at one by one. */
export const LONG_NAME = 128;
const LONGEST_LABEL = 63;

/** A rule that is more than `||name^`. */
export interface SpecialRule {
  readonly text: string;
  readonly source: number;
}

interface Block {
  readonly source: number;
  count: number;
  length: number;
  bytes: Uint8Array | undefined;
  /** Where it is in the scratch file. */
  readonly position: number;
}

/** The rules of a list on their way into other formats: names that are nothing but names as bytes, the others as texts. */
export class NameSpool {
  readonly specials: SpecialRule[] = [];
  /** Plain names, all of them. */
  count = 0;
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly blocks: Block[] = [];
  private current = new ByteBuffer(BLOCK + 256);
  private currentCount = 0;
  private source = -1;

  constructor(openScratch: () => Scratch) {
    this.openScratch = openScratch;
  }

  /** Takes lines of the list, each with a line feed before it, that come from a source. */
  take(bytes: Uint8Array, source: number): void {
    if (source !== this.source) this.flush();
    this.source = source;
    for (let at = 0; at < bytes.length;) {
      const start = bytes[at] === LF ? at + 1 : at;
      const nameEnd = plainNameEnd(bytes, start);
      if (nameEnd === -1) {
        const next = bytes.indexOf(LF, start);
        const end = next === -1 ? bytes.length : next;
        this.special(decodeUtf8(bytes, start, end).trim());
        at = end;
        continue;
      }
      const { current } = this;
      current.append(bytes, start + 2, nameEnd);
      current.push(LF);
      this.currentCount++;
      if (current.length >= BLOCK) this.flush();
      at = nameEnd + 1;
    }
  }

  private special(text: string): void {
    if (text === "" || text.startsWith("!") || text.startsWith("#")) return;
    this.specials.push({ text, source: this.source });
  }

  /** Hands out the names, a block at a time, in the order of the list. A block is good until the next. */
  *names(): Generator<{
    readonly source: number;
    readonly count: number;
    readonly bytes: Uint8Array;
  }> {
    this.flush();
    for (const { source, count, length, bytes, position } of this.blocks) {
      if (bytes !== undefined) yield { source, count, bytes };
      else {
        const read = new Uint8Array(length);
        this.scratch!.read(position, read);
        yield { source, count, bytes: read };
      }
    }
  }

  /** Takes names out, once and for all; `take` is told where each begins and ends and where its last two labels do. */
  remove(
    isOut: (
      bytes: Uint8Array,
      start: number,
      end: number,
      tail: number,
      top: number,
      source: number,
    ) => boolean,
  ): void {
    this.flush();
    for (const block of this.blocks) {
      const bytes = block.bytes ?? new Uint8Array(block.length);
      if (block.bytes === undefined) this.scratch!.read(block.position, bytes);
      let to = 0;
      let count = 0;
      eachName(bytes, (start, end, tail, top) => {
        if (isOut(bytes, start, end, tail, top, block.source)) return;
        // What stays moves up to what stayed before it.
        if (to !== start) bytes.copyWithin(to, start, end + 1);
        to += end + 1 - start;
        count++;
      });
      this.count -= block.count - count;
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
    const { current, currentCount, source } = this;
    if (currentCount === 0) return;
    this.count += currentCount;
    const { length } = current;
    const isKept = this.blocks.length < MOST_IN_MEMORY;
    const bytes = isKept ? current.view().slice() : undefined;
    let position = 0;
    if (!isKept) {
      this.scratch ??= this.openScratch();
      position = this.scratch.append(current.view());
    }
    this.blocks.push({ source, count: currentCount, length, bytes, position });
    current.length = 0;
    this.currentCount = 0;
  }
}

const LETTER_L = 108;
const LETTER_R = 114;
const LOCAL_DOMAIN_LENGTH = "localhost.localdomain".length;

/**
 * Where the name ends in `||name^` up to the end of the line; -1 when the line is anything else, or the name anything but
 * two or more labels of small letters, digits and inner hyphens that do not end in a number.
 */
function plainNameEnd(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== PIPE || bytes[start + 1] !== PIPE) return -1;
  const first = start + 2;
  let label = first;
  let at = first;
  for (; ; at++) {
    const byte = bytes[at];
    if (byte === undefined) return -1;
    // Letters and digits, which nearly all are.
    if ((byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57)) continue;
    if (byte === HYPHEN) {
      if (at === label) return -1;
      continue;
    }
    if (byte !== DOT && byte !== CARET) return -1;
    if (at === label || at - label > LONGEST_LABEL || bytes[at - 1] === HYPHEN) return -1;
    if (byte === CARET) break;
    label = at + 1;
  }
  if (label === first || at - first > LONG_NAME) return -1;
  if (bytes[label]! < 58 && bytes[at - 1]! < 58) return -1;
  // `rpz-client-ip` and its like, and `localhost.localdomain`, are looked at one by one.
  if (bytes[label] === LETTER_R && bytes[label + 3] === HYPHEN) return -1;
  if (at - first === LOCAL_DOMAIN_LENGTH && bytes[first] === LETTER_L) return -1;
  const next = bytes[at + 1];
  return next === undefined || next === LF ? at : -1;
}

/** Goes through the names of a block; `tail` is where the last two labels of one begin, `top` where the last does. */
function eachName(
  bytes: Uint8Array,
  visit: (start: number, end: number, tail: number, top: number) => void,
): void {
  let start = 0;
  let tail = 0;
  let label = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === DOT) {
      tail = label;
      label = at + 1;
    } else if (byte === LF) {
      visit(start, at, tail, label);
      start = tail = label = at + 1;
    }
  }
}
