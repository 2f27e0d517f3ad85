/** Letters of a text that a thing is found by; three and five where a text has so many. */
const LENGTHS = [1, 2, 3, 5] as const;
const ENOUGH = 3;
const MASK = 0xffff;
/** A pattern may have thousands; a few will do to find it by. */
const MOST_TEXTS = 16;

/**
 * Things that can only be meant when texts stand in a name, found by a few letters of these texts: one pass over the name,
 * without trying each. A name has some eighty such groups of letters, a list a hundred patterns and more.
 */
export class LiteralIndex<T> {
  private readonly byGram = new Map<number, T[]>();
  /** Which lengths of groups something was filed under, at each hash: nearly no group of a name is one of them. */
  private readonly lengths = new Uint8Array(MASK + 1);
  /** Those without any text. */
  private readonly always: T[] = [];

  /** Files a thing under that group of letters in its texts which has the fewest so far. */
  add(all: readonly string[], thing: T): void {
    const texts = all.slice(0, MOST_TEXTS);
    const longest = Math.max(0, ...texts.map(({ length }) => length));
    let best = -1;
    let bestLength = 0;
    let fewest = Infinity;
    for (const length of LENGTHS) {
      // Short groups are in too many names.
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
  }

  /** Everything that may be meant by a name, each once. */
  candidates(name: string): readonly T[] {
    let grams: Set<number> | undefined;
    for (const length of LENGTHS)
      for (let at = 0; at + length <= name.length; at++) {
        const gram = gramAt(name, at, length);
        if ((this.lengths[gram & MASK]! & (1 << length)) !== 0) (grams ??= new Set()).add(gram);
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
