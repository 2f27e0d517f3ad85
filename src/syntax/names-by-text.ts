/** Longest first, because they are the most selective. */
const LENGTHS = [5, 3, 1] as const;
const LEAST_BITS = 12;
const NONE: readonly string[] = [];
/** Most lists have few patterns. For these, searching all names takes less time than the index. */
const FEW = 32;

/** Finds names by the texts that they contain. */
export class NamesByText {
  private readonly names: readonly string[];
  private asked = 0;
  private joined: string | undefined;
  private index: GramIndex | undefined;

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** Every name that contains all of the texts, and possibly others, in their original order. */
  candidates(texts: readonly string[]): readonly string[] {
    if (this.asked++ < FEW) return this.search(texts);
    this.index ??= new GramIndex(this.names);
    return this.index.candidates(texts);
  }

  private search(texts: readonly string[]): readonly string[] {
    const text = texts.reduce((best, one) => (one.length > best.length ? one : best), "");
    if (text === "") return this.names;
    this.joined ??= `\n${this.names.join("\n")}\n`;
    const { joined } = this;
    const found: string[] = [];
    for (let at = joined.indexOf(text); at !== -1;) {
      const end = joined.indexOf("\n", at);
      found.push(joined.slice(joined.lastIndexOf("\n", at) + 1, end));
      at = joined.indexOf(text, end);
    }
    return found;
  }
}

/**
 * Maps each group of one, three or five characters to the names that contain it. Two passes over the names fill one array, so that
 * ten thousand names take a few milliseconds.
 */
class GramIndex {
  private readonly names: readonly string[];
  private readonly mask: number;
  /** Where the names of each group of characters begin and end in `places`. */
  private readonly starts: Uint32Array;
  private readonly ends: Uint32Array;
  private readonly places: Uint32Array;

  constructor(names: readonly string[]) {
    this.names = names;
    let total = 0;
    for (const { length } of names)
      for (const size of LENGTHS) total += Math.max(0, length - size + 1);
    // As many slots as groups, so that few groups share a slot.
    const bits = Math.max(LEAST_BITS, Math.ceil(Math.log2(total + 1)));
    this.mask = 2 ** bits - 1;
    this.starts = new Uint32Array(this.mask + 2);
    for (const name of names) this.each(name, (gram) => this.starts[gram + 1]!++);
    for (let gram = 0; gram <= this.mask; gram++) this.starts[gram + 1]! += this.starts[gram]!;
    this.ends = this.starts.slice(0, this.mask + 1);
    this.places = new Uint32Array(total);
    for (const [place, name] of names.entries())
      this.each(name, (gram) => {
        const end = this.ends[gram]!;
        if (end > this.starts[gram]! && this.places[end - 1] === place) return;
        this.places[end] = place;
        this.ends[gram] = end + 1;
      });
  }

  candidates(texts: readonly string[]): readonly string[] {
    let best = -1;
    let fewest = Infinity;
    for (const text of texts)
      for (const length of LENGTHS)
        for (let at = 0; at + length <= text.length; at++) {
          const gram = gramAt(text, at, length) & this.mask;
          const count = this.ends[gram]! - this.starts[gram]!;
          if (count === 0) return NONE;
          if (count >= fewest) continue;
          fewest = count;
          best = gram;
        }
    const { names } = this;
    if (best === -1 || fewest === names.length) return names;
    const places = this.places.subarray(this.starts[best], this.ends[best]);
    return Array.from(places, (place) => names[place]!);
  }

  private each(text: string, visit: (gram: number) => void): void {
    for (const length of LENGTHS)
      for (let at = 0; at + length <= text.length; at++)
        visit(gramAt(text, at, length) & this.mask);
  }
}

function gramAt(text: string, at: number, length: number): number {
  let gram = length;
  for (let next = at; next < at + length; next++)
    gram = Math.imul(gram, 0x01000193) ^ text.charCodeAt(next);
  return gram ^ (gram >>> 15);
}
