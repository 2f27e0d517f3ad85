/** Lengths of the indexed n-grams. Texts that are long enough use three or five. */
const LENGTHS = [1, 2, 3, 5] as const;
const ENOUGH = 3;
const MASK = 0xffff;
/** A pattern may have thousands; a few are enough to find it. */
const MOST_TEXTS = 16;

/**
 * Finds items by texts that a name must contain. It indexes n-grams of these texts, so one pass over the name replaces a test
 * of each item. A name has about eighty n-grams, a list a hundred patterns and more.
 */
export class LiteralIndex<T> {
  private readonly byGram = new Map<number, T[]>();
  /** Indexed n-gram lengths, by hash: almost no n-gram of a name is indexed. */
  private readonly lengths = new Uint8Array(MASK + 1);
  /** The lengths of all indexed n-grams, as bits. */
  private used = 0;
  /** Items without texts. */
  private readonly always: T[] = [];

  /** Indexes an item under the n-gram of its texts with the fewest items so far. */
  add(all: readonly string[], thing: T): void {
    const texts = all.slice(0, MOST_TEXTS);
    const longest = Math.max(0, ...texts.map(({ length }) => length));
    let best = -1;
    let bestLength = 0;
    let fewest = Infinity;
    for (const length of LENGTHS) {
      // Short n-grams occur in too many names.
      if (length < Math.min(ENOUGH, longest)) continue;
      for (const text of texts)
        for (let at = 0; at + length <= text.length; at++) {
          const gram = gramAt(text, at, length);
          const count = this.byGram.get(gram)?.length ?? 0;
          if (count > fewest || (count === fewest && length <= bestLength)) continue;
          best = gram;
          bestLength = length;
          fewest = count;
        }
    }
    if (best === -1) {
      this.always.push(thing);
      return;
    }
    const known = this.byGram.get(best);
    if (known === undefined) this.byGram.set(best, [thing]);
    else known.push(thing);
    this.lengths[best & MASK]! |= 1 << bestLength;
    this.used |= 1 << bestLength;
  }

  /** All items that may match a name, without duplicates. */
  candidates(name: string): readonly T[] {
    let grams: Set<number> | undefined;
    for (const length of LENGTHS) {
      if ((this.used & (1 << length)) === 0) continue;
      for (let at = 0; at + length <= name.length; at++) {
        const gram = gramAt(name, at, length);
        if ((this.lengths[gram & MASK]! & (1 << length)) !== 0) (grams ??= new Set()).add(gram);
      }
    }
    if (grams === undefined) return this.always;
    const found = [...this.always];
    for (const gram of grams) for (const thing of this.byGram.get(gram) ?? []) found.push(thing);
    return found;
  }
}

/** 30 bits, so that it is a small integer. */
function gramAt(text: string, at: number, length: number): number {
  let gram = length;
  for (let next = at; next < at + length; next++)
    gram = (Math.imul(gram, 0x01000193) ^ text.charCodeAt(next)) & 0x3fffffff;
  return gram ^ (gram >>> 15);
}
