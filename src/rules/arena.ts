import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";

/**
 * The bytes that all rows and columns lie in, by address. There is one a compile. It may grow, which makes views of
 * `buffer` void; whoever keeps views listens.
 */
export interface Arena {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  /** An area of this size, on an 8-byte boundary, with whatever was in it before. */
  allocate(bytes: number): number;
  free(at: number, bytes: number): void;
  onGrow(listener: () => void): void;
}

/** Areas that were given back, in the order of their addresses. Neighbours become one, so that any sizes can follow others. */
export class FreeAreas {
  private readonly areas: { at: number; size: number }[] = [];

  clear(): void {
    this.areas.length = 0;
  }

  /** The smallest area that is large enough; what is left of it stays free. */
  take(size: number): number | undefined {
    let best = -1;
    for (const [index, area] of this.areas.entries())
      if (area.size >= size && (best === -1 || area.size < this.areas[best]!.size)) best = index;
    const area = this.areas[best];
    if (area === undefined) return undefined;
    const { at } = area;
    if (area.size === size) this.areas.splice(best, 1);
    else {
      area.at += size;
      area.size -= size;
    }
    return at;
  }

  give(at: number, size: number): void {
    let index = this.areas.findIndex((area) => area.at > at);
    if (index === -1) index = this.areas.length;
    const before = this.areas[index - 1];
    const after = this.areas[index];
    const joinsBefore = before !== undefined && before.at + before.size === at;
    const joinsAfter = after !== undefined && at + size === after.at;
    if (joinsBefore && joinsAfter) {
      before.size += size + after.size;
      this.areas.splice(index, 1);
    } else if (joinsBefore) before.size += size;
    else if (joinsAfter) {
      after.at = at;
      after.size += size;
    } else this.areas.splice(index, 0, { at, size });
  }
}

export function roundSize(bytes: number): number {
  return Math.max(64, Math.ceil(bytes / 64) * 64);
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
    if (this.next > LARGEST)
      throw new CompilerError([errorOf("too-large", "A file of entries is larger than 1 GiB")]);
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
