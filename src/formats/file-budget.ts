/** The size limit of a file. */
export interface SizeLimit {
  readonly rules: number;
  readonly bytes: number;
}

export const NO_LIMIT: SizeLimit = { rules: Infinity, bytes: Infinity };

/** Tracks how much of a size limit is left. After the first rule that does not fit, no later one does. */
export class FileBudget {
  rules: number;
  bytes: number;
  private isFull = false;

  constructor({ rules, bytes }: SizeLimit) {
    this.rules = rules;
    this.bytes = bytes;
  }

  /** Reserves space for a rule that must be written; false if the limit is exceeded. */
  demand(bytes: number): boolean {
    this.rules--;
    this.bytes -= bytes;
    return this.rules >= 0 && this.bytes >= 0;
  }

  /** Reserves space for one rule, if it fits. */
  take(bytes: number): boolean {
    this.isFull ||= this.rules < 1 || this.bytes < bytes;
    if (!this.isFull) this.demand(bytes);
    return !this.isFull;
  }

  /** Reserves space for as many of the next rules as fit; `fitting` returns how many fit into a number of bytes. */
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
