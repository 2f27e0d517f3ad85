/**
 * The memory of all rows and columns, by address. Each compile has one arena. Growth invalidates all views of `buffer`;
 * code that keeps views must listen for it.
 */
export interface Arena {
  readonly buffer: ArrayBuffer;
  /** An area of this size on an 8-byte boundary. It is not zeroed. */
  allocate(bytes: number): number;
  free(at: number, bytes: number): void;
  onGrow(listener: () => void): void;
}

/** Freed areas, sorted by address. Adjacent areas are merged, so that any size can reuse them. */
export class FreeAreas {
  private readonly areas: { at: number; size: number }[] = [];

  clear(): void {
    this.areas.length = 0;
  }

  /** Takes the smallest area that is large enough; the rest of it stays free. */
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
