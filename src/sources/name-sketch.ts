/** The smallest hashes of a set of names, sorted. Two sketches give an estimate of how much the sets have in common. */
export type Sketch = readonly number[];

/** With this many, an estimate is off by two percentage points. */
export const SKETCH_SIZE = 512;
/** The size of a sketch that is published. */
export const OPEN_SIZE = 64;

/** Collects the smallest of many hashes, each once. */
export class SketchMaker {
  private readonly kept = new Set<number>();
  private readonly size: number;
  private limit = 0x1_0000_0000;

  constructor(size: number = SKETCH_SIZE) {
    this.size = size;
  }

  add(hash: number): void {
    if (hash >= this.limit) return;
    this.kept.add(hash);
    if (this.kept.size >= this.size * 4) this.prune();
  }

  private prune(): void {
    const smallest = this.sketch;
    this.kept.clear();
    for (const hash of smallest) this.kept.add(hash);
    this.limit = smallest.at(-1)!;
  }

  get sketch(): Sketch {
    return [...Uint32Array.from(this.kept).toSorted().subarray(0, this.size)];
  }
}

/** How much two sets have in common: the share of the first that is in the second, and the reverse. */
export interface Overlap {
  readonly kept: number;
  readonly known: number;
}

/** Estimates the overlap of two sets from their sketches of at most `size` hashes. */
export function overlapOf(before: Sketch, now: Sketch, size: number = SKETCH_SIZE): Overlap {
  // Below the largest hash of a full sketch, the sketch has all hashes of its set.
  const lastOf = (sketch: Sketch): number => (sketch.length < size ? Infinity : sketch.at(-1)!);
  const limit = Math.min(lastOf(before), lastOf(now));
  let [at, beside, both] = [0, 0, 0];
  for (;;) {
    const [own, other] = [before[at] ?? Infinity, now[beside] ?? Infinity];
    if (Math.min(own, other) > limit || (own === Infinity && other === Infinity)) break;
    if (own === other) both++;
    if (own <= other) at++;
    if (other <= own) beside++;
  }
  return { kept: at === 0 ? 1 : both / at, known: beside === 0 ? 1 : both / beside };
}

/** A sketch as text: four bytes a hash, in Base64. */
export function sketchText(sketch: Sketch): string {
  const bytes = new Uint8Array(sketch.length * 4);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < sketch.length; index++) view.setUint32(index * 4, sketch[index]!);
  return btoa(String.fromCharCode(...bytes));
}

/** The sketch that a text describes; undefined if it is damaged. */
export function readSketch(text: unknown): Sketch | undefined {
  if (typeof text !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0)
    return undefined;
  const bytes = atob(text);
  if (bytes.length % 4 !== 0) return undefined;
  const sketch: number[] = [];
  let last = -1;
  // A ledger has hundreds of sketches, and each run reads it.
  for (let at = 0; at < bytes.length; at += 4) {
    const high = (bytes.charCodeAt(at) << 8) | bytes.charCodeAt(at + 1);
    const hash = high * 0x1_0000 + ((bytes.charCodeAt(at + 2) << 8) | bytes.charCodeAt(at + 3));
    if (hash <= last) return undefined;
    sketch.push(hash);
    last = hash;
  }
  return sketch;
}
