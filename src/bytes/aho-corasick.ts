import { HashTable, hashStep } from "./hash.ts";

/**
 * Finds which of many byte strings occurs in a text, in one pass for any number of strings (Aho and Corasick, 1975).
 * One table holds all edges: a node costs about 20 bytes instead of a row of 256.
 */
export class AhoCorasick {
  /** Children by node and byte. Different edges have different hashes, because one step can be undone. */
  private readonly edges = new HashTable(128);
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
          this.edges.add(edge(node, byte), child);
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
    return this.edges.get(edge(node, byte));
  }
}

function edge(node: number, byte: number): number {
  return hashStep(0, (node << 8) | byte);
}

/** Tables for `search`: every byte unchanged, and A–Z folded to a–z. */
export const EXACT: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);
export const FOLDED: Uint8Array = EXACT.map((byte) =>
  byte >= 65 && byte <= 90 ? byte | 32 : byte,
);
