import { LF } from "../bytes/ascii.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Scratch } from "../host/host.ts";
import { sharedReader } from "../kernel/name-reader.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import { NameBlocks } from "./name-blocks.ts";
import { resolvableName } from "./special-rule.ts";

/** Longer names are handled one by one. */
export const LONG_NAME = 128;
/** A long text is read in pieces. */
const PIECE = 1024 * 1024;

/** A rule other than `||name^`. */
export interface SpecialRule {
  readonly text: string;
  readonly source: number;
}

/** Collects the rules of a list for other formats: plain names as bytes, special rules as texts. */
export class NameBuffer {
  readonly specials: SpecialRule[] = [];
  /** Names of `||name^` lines. */
  readonly names: NameBlocks;
  /** Names of sources that a parent in the list covers. Formats that block single names need them. */
  readonly covered: NameBlocks;
  private readonly wantsCovered: boolean;

  constructor(openScratch: () => Scratch, wantsCovered: boolean) {
    this.names = new NameBlocks(openScratch);
    this.covered = new NameBlocks(openScratch);
    this.wantsCovered = wantsCovered;
  }

  /** Adds lines of the list from one source; a line feed precedes each. */
  take(bytes: Uint8Array, source: number): void {
    for (let from = 0; from < bytes.length;) {
      const feed = bytes.indexOf(LF, from + PIECE);
      const to = feed === -1 ? bytes.length : feed;
      this.takePiece(bytes.subarray(from, to), source);
      from = to;
    }
  }

  private takePiece(bytes: Uint8Array, source: number): void {
    const { names } = this;
    const reader = sharedReader();
    reader.setText(bytes);
    for (let at = 0; at < bytes.length;) {
      const taken = reader.takeFrom(at, LONG_NAME);
      names.addAll(taken.names, taken.count, source);
      if (taken.read >= bytes.length) return;
      const start = bytes[taken.read] === LF ? taken.read + 1 : taken.read;
      const next = bytes.indexOf(LF, start);
      at = next === -1 ? bytes.length : next;
      this.addSpecial(decodeUtf8(bytes, start, at).trim(), source);
    }
  }

  private addSpecial(text: string, source: number): void {
    if (text === "" || text.startsWith("!") || text.startsWith("#")) return;
    this.specials.push({ text, source });
  }

  /** Adds the names of a chunk that are not in the list because a parent covers them. */
  takeCovered(chunk: Chunk, source: number): void {
    if (!this.wantsCovered) return;
    const { fate, flags, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (fate[row] !== Fate.Covered) continue;
      const bytes = chunk.bytesOf(row);
      const start = chunk.hostStart[row]!;
      const end = chunk.hostEnd[row]!;
      if ((flags[row]! & Flag.Ordinary) !== 0) this.covered.add(bytes, start, end, source);
      else this.addCovered(decodeUtf8(bytes, start, end), source);
    }
  }

  private addCovered(written: string, source: number): void {
    const name = resolvableName(written);
    if (name === undefined || !name.includes(".")) return;
    const bytes = encodeUtf8(name);
    this.covered.add(bytes, 0, bytes.length, source);
  }

  close(): void {
    this.names.close();
    this.covered.close();
  }
}
