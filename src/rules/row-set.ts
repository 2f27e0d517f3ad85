/**
 * An index of rows by hash: open addressing, hash and row number side by side so that a miss costs one cache line.
 *
 *   slots  | hash | id + 1 | hash | id + 1 | …      0 in the second place: free
 *
 * It knows nothing of what the rows are compared by; callers walk the candidates and compare bytes themselves.
 */
export class RowSet {
  private slots: Int32Array;
  private mask: number;
  private limit: number;
  size = 0;

  constructor(expected: number) {
    let capacity = 16;
    while (capacity * 0.6 < expected) capacity *= 2;
    this.slots = new Int32Array(capacity * 2);
    this.mask = capacity - 1;
    this.limit = capacity * 0.7;
  }

  /** The first slot that holds this hash, or -1. */
  first(hash: number): number {
    return this.seek(hash, hash);
  }

  /** The next one after `slot`, or -1. */
  next(slot: number, hash: number): number {
    return this.seek(slot + 1, hash);
  }

  private seek(from: number, hash: number): number {
    const { slots, mask } = this;
    for (let at = from & mask; slots[at * 2 + 1] !== 0; at = (at + 1) & mask)
      if (slots[at * 2] === hash) return at;
    return -1;
  }

  idAt(slot: number): number {
    return this.slots[slot * 2 + 1]! - 1;
  }

  add(hash: number, id: number): void {
    if (this.size >= this.limit) this.grow();
    const { slots, mask } = this;
    let at = hash & mask;
    while (slots[at * 2 + 1] !== 0) at = (at + 1) & mask;
    slots[at * 2] = hash;
    slots[at * 2 + 1] = id + 1;
    this.size++;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    this.mask = this.slots.length / 2 - 1;
    this.limit *= 2;
    this.size = 0;
    for (let at = 0; at < old.length; at += 2)
      if (old[at + 1] !== 0) this.add(old[at]!, old[at + 1]! - 1);
  }
}
