/** Letters of a text that a literal is found by. */
const GRAM = 3;
const MASK = 0xffff;

/**
 * Things that can only be meant when a text stands in a name, found by three letters of that text: one pass over the name, without
 * trying each. A name has some twenty groups of three letters, a list a hundred patterns and more.
 */
export class LiteralIndex<T> {
  private readonly byGram = new Map<number, T[]>();
  private readonly isUsed = new Uint8Array(MASK + 1);
  /** Those whose text is too short to be found by. */
  private readonly always: T[] = [];

  add(literal: string, thing: T): void {
    if (literal.length < GRAM) {
      this.always.push(thing);
      return;
    }
    let best = -1;
    let fewest = Infinity;
    for (let at = 0; at + GRAM <= literal.length; at++) {
      const gram = gramAt(literal, at);
      const count = this.byGram.get(gram)?.length ?? 0;
      if (count >= fewest) continue;
      best = gram;
      fewest = count;
    }
    const known = this.byGram.get(best);
    if (known === undefined) this.byGram.set(best, [thing]);
    else known.push(thing);
    this.isUsed[best] = 1;
  }

  /** Everything that may be meant by a name, each at least once. */
  candidates(name: string): readonly T[] {
    let found: T[] | undefined;
    for (let at = 0; at + GRAM <= name.length; at++) {
      const gram = gramAt(name, at);
      if (this.isUsed[gram] !== 1) continue;
      found ??= [...this.always];
      for (const thing of this.byGram.get(gram)!) if (!found.includes(thing)) found.push(thing);
    }
    return found ?? this.always;
  }
}

function gramAt(text: string, at: number): number {
  const gram = (text.charCodeAt(at) * 37 + text.charCodeAt(at + 1)) * 37 + text.charCodeAt(at + 2);
  return gram & MASK;
}
