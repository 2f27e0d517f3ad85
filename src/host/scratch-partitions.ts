import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Scratch } from "./host.ts";

/** Bytes of a partition that are collected before they go to the scratch file. */
const PIECE = 64 * 1024;

/** Many bytes in a number of partitions, each of which is small enough to be read at once. */
export class ScratchPartitions {
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly waiting: readonly ByteBuffer[];
  private readonly pieces: readonly { readonly position: number; readonly length: number }[][];

  constructor(openScratch: () => Scratch, count: number) {
    this.openScratch = openScratch;
    this.waiting = Array.from({ length: count }, () => new ByteBuffer());
    this.pieces = Array.from({ length: count }, () => []);
  }

  get count(): number {
    return this.waiting.length;
  }

  /** The end of a partition, to append to. Call `settle` afterwards. */
  end(index: number): ByteBuffer {
    return this.waiting[index]!;
  }

  /** Moves the end of a partition to the scratch file if it is large. */
  settle(index: number): void {
    const waiting = this.waiting[index]!;
    if (waiting.length < PIECE) return;
    this.scratch ??= this.openScratch();
    const position = this.scratch.append(waiting.view());
    this.pieces[index]!.push({ position, length: waiting.length });
    waiting.length = 0;
  }

  /** All bytes of a partition. */
  load(index: number): Uint8Array {
    const pieces = this.pieces[index]!;
    const waiting = this.waiting[index]!;
    const stored = pieces.reduce((sum, { length }) => sum + length, 0);
    const bytes = new Uint8Array(stored + waiting.length);
    let at = 0;
    for (const { position, length } of pieces) {
      this.scratch!.read(position, bytes.subarray(at, at + length));
      at += length;
    }
    bytes.set(waiting.view(), at);
    return bytes;
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }
}
