/**
 * Finds which of many byte strings occurs in a text, in one pass for any number of strings (Aho and Corasick, 1975).
 * One open-addressing table holds all edges: a node costs about 20 bytes instead of a row of 256.
 *
 *   edges  | node × 256 + byte + 1 | child | …      0: free
 */
export class AhoCorasick {
  private edges: Uint32Array = new Uint32Array(1 << 8);
  private edgeCount = 0;
  private nodes = 1;
  private fail: Uint32Array;
  /** Index + 1 of a word that ends at the node, following failure links. */
  private word: Uint32Array;
  /** Whether that word is the node's own, and the next node with a word along its failure links. */
  private readonly isOwn: Uint8Array;
  private readonly shorter: Uint32Array;
  /** Where the last match ended. */
  matchEnd = 0;

  constructor(words: readonly Uint8Array[]) {
    const total = words.reduce((sum, word) => sum + word.length, 1);
    this.word = new Uint32Array(total);
    this.fail = new Uint32Array(total);
    this.isOwn = new Uint8Array(total);
    this.shorter = new Uint32Array(total);
    const parents = new Uint32Array(total);
    const bytes = new Uint8Array(total);
    const depths: number[][] = [];
    for (const [index, text] of words.entries()) {
      let node = 0;
      for (const [depth, byte] of text.entries()) {
        let child = this.child(node, byte);
        if (child === 0) {
          child = this.nodes++;
          this.addEdge(node, byte, child);
          parents[child] = node;
          bytes[child] = byte;
          (depths[depth] ??= []).push(child);
        }
        node = child;
      }
      if (this.word[node] === 0) this.word[node] = index + 1;
      this.isOwn[node] = 1;
    }
    // The failure links of a level depend on those of the levels above it.
    for (const level of depths) {
      for (const node of level) {
        let back = this.fail[parents[node]!]!;
        let target = 0;
        if (parents[node] !== 0) {
          target = this.child(back, bytes[node]!);
          while (target === 0 && back !== 0) {
            back = this.fail[back]!;
            target = this.child(back, bytes[node]!);
          }
        }
        this.fail[node] = target;
        this.shorter[node] = this.isOwn[target] === 1 ? target : this.shorter[target]!;
        if (this.word[node] === 0) this.word[node] = this.word[target]!;
      }
    }
  }

  /** Index of a word that occurs in the slice, or -1. `fold` maps each byte first. */
  search(text: Uint8Array, start: number, end: number, fold: Uint8Array): number {
    let node = 0;
    for (let at = start; at < end; at++) {
      node = this.next(node, fold[text[at]!]!);
      if (this.word[node] !== 0) {
        this.matchEnd = at + 1;
        return this.word[node]! - 1;
      }
    }
    return -1;
  }

  /** Whether `visit` returns true for any occurrence of a word in the slice. */
  some(
    text: Uint8Array,
    slice: { readonly start: number; readonly end: number },
    fold: Uint8Array,
    visit: (word: number) => boolean,
  ): boolean {
    let node = 0;
    for (let at = slice.start; at < slice.end; at++) {
      node = this.next(node, fold[text[at]!]!);
      for (
        let found = this.isOwn[node] === 1 ? node : this.shorter[node]!;
        found !== 0;
        found = this.shorter[found]!
      )
        if (visit(this.word[found]! - 1)) return true;
    }
    return false;
  }

  private next(from: number, byte: number): number {
    let node = from;
    let child = this.child(node, byte);
    while (child === 0 && node !== 0) {
      node = this.fail[node]!;
      child = this.child(node, byte);
    }
    return child;
  }

  private child(node: number, byte: number): number {
    const { edges } = this;
    const mask = edges.length / 2 - 1;
    const key = node * 256 + byte + 1;
    for (let at = spread(key) & mask; ; at = (at + 1) & mask) {
      const found = edges[at * 2]!;
      if (found === key) return edges[at * 2 + 1]!;
      if (found === 0) return 0;
    }
  }

  private addEdge(node: number, byte: number, child: number): void {
    if (this.edgeCount * 3 >= this.edges.length) this.grow();
    this.put(node * 256 + byte + 1, child);
    this.edgeCount++;
  }

  private put(key: number, child: number): void {
    const mask = this.edges.length / 2 - 1;
    let at = spread(key) & mask;
    while (this.edges[at * 2] !== 0) at = (at + 1) & mask;
    this.edges[at * 2] = key;
    this.edges[at * 2 + 1] = child;
  }

  private grow(): void {
    const old = this.edges;
    this.edges = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0) this.put(old[at]!, old[at + 1]!);
  }
}

function spread(key: number): number {
  const hash = Math.imul(key, 0x9e3779b1);
  return hash ^ (hash >>> 15);
}

/** Tables for `search`: every byte unchanged, and A–Z folded to a–z. */
export const EXACT: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);
export const FOLDED: Uint8Array = EXACT.map((byte) =>
  byte >= 65 && byte <= 90 ? byte | 32 : byte,
);
