import type { KernelMemory } from "./kernel-memory.ts";
import { LastingArea } from "./lasting-area.ts";

/** The kernel reads and writes sixteen bytes at a time. */
export const SLACK = 16;

/** Texts in the memory of the kernel, one after the other, and where each ends. */
export interface PackedTexts {
  readonly textsAt: number;
  readonly endsAt: number;
  readonly count: number;
  readonly byteCount: number;
}

/** Writes values in the forms of Parquet pages. Results are valid until the next call. */
export class PagePacker {
  readonly kernel: KernelMemory;
  private readonly values: LastingArea;
  private readonly page: LastingArea;

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
    this.values = new LastingArea(kernel);
    this.page = new LastingArea(kernel);
  }

  /** Numbers from 0 to 2³¹ - 1, as differences. */
  numbers(numbers: Int32Array): Uint8Array {
    this.page.need(roomFor(numbers.length));
    const at = this.enter(numbers);
    return this.written(this.kernel.exports.packNumbers(at, numbers.length, this.page.at));
  }

  /** Numbers of up to 24 bits, as runs. */
  runs(numbers: Int32Array, bits: number): Uint8Array {
    this.page.need(roomFor(numbers.length));
    const at = this.enter(numbers);
    return this.written(this.kernel.exports.packRuns(at, numbers.length, bits, this.page.at));
  }

  /** Texts, each as the length that it shares with the one before and the rest. */
  texts({ textsAt, endsAt, count, byteCount }: PackedTexts): Uint8Array {
    this.page.need(2 * roomFor(count) + byteCount + SLACK);
    this.values.need(count * 8);
    const { values, page } = this;
    return this.written(
      this.kernel.exports.packTexts(textsAt, endsAt, count, values.at, page.at),
    );
  }

  private enter(numbers: Int32Array): number {
    this.values.need(numbers.length * 4);
    this.kernel.integers(this.values.at, numbers.length).set(numbers);
    return this.values.at;
  }

  private written(end: number): Uint8Array {
    return this.kernel.bytes(this.page.at, (end >>> 0) - this.page.at);
  }
}

/** Four bytes a number, and the heads of blocks and runs. */
function roomFor(numbers: number): number {
  return numbers * 5 + 1024;
}
