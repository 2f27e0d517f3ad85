import { decodeUtf8 } from "../bytes/utf8.ts";
import type { PatternException } from "./pattern-exceptions.ts";

const FILTER_MASK = 0xffff;

/** Finds the few names that are related to other rules, by their last labels. */
export class RelatedNames {
  private isAll = false;
  /** A Bloom filter of the texts below, which excludes most names quickly. */
  private readonly filter = new Uint8Array((FILTER_MASK + 1) >> 3);
  /** The last two labels of related names. */
  private readonly tails = new Set<string>();
  /** By top-level domain, the suffixes of related names; "" for all names. */
  private readonly tops = new Map<string, string[]>();
  private hasPatterns = false;

  get isEmpty(): boolean {
    return !this.isAll && !this.hasPatterns && this.tails.size === 0 && this.tops.size === 0;
  }

  takeAll(): void {
    this.isAll = true;
  }

  addName(name: string, isBelow: boolean): void {
    // A rule for a whole top-level domain is related to everything in it.
    if (!name.includes(".")) {
      if (isBelow) this.addTop(name, "");
      return;
    }
    this.addTail(name.split(".").slice(-2).join("."));
  }

  addException({ end, isEndSure }: PatternException): void {
    if (!isEndSure) this.hasPatterns = true;
    const labels = end.split(".");
    // The first label may be the end of a longer one.
    if (labels.length > 2) this.addTail(labels.slice(-2).join("."));
    else if (labels.length === 2) this.addTop(labels[1]!, end);
  }

  private addTop(top: string, end: string): void {
    this.tops.set(top, [...(this.tops.get(top) ?? []), end]);
    this.addHash(top);
  }

  private addTail(tail: string): void {
    this.tails.add(tail);
    this.addHash(tail);
  }

  private addHash(text: string): void {
    let hash = 0;
    for (let at = 0; at < text.length; at++) hash = nextHash(hash, text.charCodeAt(at));
    this.filter[(hash & FILTER_MASK) >> 3]! |= 1 << (hash & 7);
  }

  private mayHave(bytes: Uint8Array, start: number, end: number): boolean {
    let hash = 0;
    for (let at = start; at < end; at++) hash = nextHash(hash, bytes[at]!);
    return (this.filter[(hash & FILTER_MASK) >> 3]! & (1 << (hash & 7))) !== 0;
  }

  /** `end` is the end of the name, `tail` the start of its last two labels, `top` the start of its last label. */
  has(bytes: Uint8Array, end: number, tail: number, top: number): boolean {
    if (this.isAll) return true;
    if (this.mayHave(bytes, tail, end) && this.tails.has(decodeUtf8(bytes, tail, end))) return true;
    if (this.tops.size === 0 || !this.mayHave(bytes, top, end)) return false;
    const name = decodeUtf8(bytes, tail, end);
    const ends = this.tops.get(name.slice(top - tail));
    return ends?.some((one) => name.endsWith(one)) === true;
  }
}

function nextHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193) ^ (hash >>> 15);
}
