/**
 * The bytes that all rows and columns lie in, by address. There is one a compile. It may grow, which makes views of
 * `buffer` void; whoever keeps views listens.
 */
export interface Arena {
  readonly buffer: ArrayBuffer;
  /** An area of this size, on an 8-byte boundary, with whatever was in it before. */
  allocate(bytes: number): number;
  free(at: number, bytes: number): void;
  onGrow(listener: () => void): void;
}

/** Areas that were given back, by size. Sizes are rounded, so that chunks of about one size can follow each other. */
export class FreeAreas {
  private readonly bySize = new Map<number, number[]>();

  take(bytes: number): number | undefined {
    return this.bySize.get(bytes)?.pop();
  }

  give(at: number, bytes: number): void {
    const areas = this.bySize.get(bytes);
    if (areas === undefined) this.bySize.set(bytes, [at]);
    else areas.push(at);
  }
}

/** Sizes are rounded up by a sixteenth at the most. */
export function roundSize(bytes: number): number {
  let step = 64;
  while (step * 32 <= bytes) step *= 2;
  return Math.ceil(bytes / step) * step;
}

const LARGEST = 2 ** 30;

/** An arena without a kernel. */
export class PlainArena implements Arena {
  readonly buffer: ArrayBuffer = new ArrayBuffer(1 << 16, { maxByteLength: LARGEST });
  private readonly areas = new FreeAreas();
  private next = 64;

  allocate(bytes: number): number {
    const size = roundSize(bytes);
    const free = this.areas.take(size);
    if (free !== undefined) return free;
    const at = this.next;
    this.next += size;
    if (this.next > this.buffer.byteLength)
      this.buffer.resize(Math.min(LARGEST, Math.max(this.next, this.buffer.byteLength * 2)));
    return at;
  }

  free(at: number, bytes: number): void {
    this.areas.give(at, roundSize(bytes));
  }

  /** Views of a buffer that is resized stay as they are. */
  onGrow(): void {}
}
