import { LF } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Scratch } from "../host/host.ts";

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
export class NameBlocks {
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
        const end = bytes.indexOf(LF, start);
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
