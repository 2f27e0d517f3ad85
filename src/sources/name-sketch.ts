/** The smallest hashes of a set of names. Two sketches give an estimate of how much the sets have in common. */
export type Sketch = readonly number[];

/** With this many, an estimate is off by three or four percentage points. */
export const SKETCH_SIZE = 512;
const RANGE = 0x1_0000_0000;

/** Collects the smallest of many hashes, each once. */
export class SketchMaker {
  private readonly kept = new Set<number>();
  private limit = RANGE;

  add(hash: number): void {
    if (hash >= this.limit) return;
    this.kept.add(hash);
    if (this.kept.size >= SKETCH_SIZE * 4) this.prune();
  }

  private prune(): void {
    const smallest = this.sorted();
    this.kept.clear();
    for (const hash of smallest) this.kept.add(hash);
    this.limit = smallest.at(-1)!;
  }

  private sorted(): number[] {
    return [...Uint32Array.from(this.kept).toSorted().subarray(0, SKETCH_SIZE)];
  }

  get sketch(): Sketch {
    return this.sorted();
  }
}

/** The estimated number of names. */
export function namesOf(sketch: Sketch): number {
  if (sketch.length < SKETCH_SIZE) return sketch.length;
  return Math.round(((SKETCH_SIZE - 1) * RANGE) / sketch.at(-1)!);
}

/** The share of the smaller set that is in the other one, from 0 to 1. Both sketches are sorted. */
export function commonShare(one: Sketch, other: Sketch): number {
  const smaller = Math.min(namesOf(one), namesOf(other));
  if (smaller === 0) return 1;
  const isWhole = one.length < SKETCH_SIZE && other.length < SKETCH_SIZE;
  const most = isWhole ? Infinity : SKETCH_SIZE;
  // The smallest hashes of both sets together are a sample of their union.
  let [at, beside, both, sample] = [0, 0, 0, 0];
  for (; sample < most && (at < one.length || beside < other.length); sample++) {
    const [own, foreign] = [one[at] ?? Infinity, other[beside] ?? Infinity];
    if (own === foreign) both++;
    if (own <= foreign) at++;
    if (foreign <= own) beside++;
  }
  const alike = both / sample;
  const common = (alike * (namesOf(one) + namesOf(other))) / (1 + alike);
  return Math.min(1, common / smaller);
}
