/** What a file may hold at the most. */
export interface SizeLimit {
  readonly rules: number;
  readonly bytes: number;
}

export const NO_LIMIT: SizeLimit = { rules: Infinity, bytes: Infinity };

/** Keeps account of what goes into a file. Once something has no room, nothing that comes later has. */
export class FileBudget {
  rules: number;
  bytes: number;
  private isFull = false;

  constructor({ rules, bytes }: SizeLimit) {
    this.rules = rules;
    this.bytes = bytes;
  }

  /** Takes what must be there; false when there is no room for it. */
  demand(bytes: number): boolean {
    this.rules--;
    this.bytes -= bytes;
    return this.rules >= 0 && this.bytes >= 0;
  }

  /** Takes one rule, if there is room for it. */
  take(bytes: number): boolean {
    this.isFull ||= this.rules < 1 || this.bytes < bytes;
    if (!this.isFull) this.demand(bytes);
    return !this.isFull;
  }

  /** Takes as many of the next rules as there is room for; `fitting` says how many go into so many bytes. */
  takeSome(count: number, size: number, fitting: (most: number, bytes: number) => number): number {
    if (this.isFull) return 0;
    if (count <= this.rules && size <= this.bytes) {
      this.rules -= count;
      this.bytes -= size;
      return count;
    }
    this.isFull = true;
    return fitting(Math.min(count, Math.max(0, this.rules)), this.bytes);
  }
}
