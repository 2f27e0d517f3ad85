import { CARET, DOT, HYPHEN, LF, PIPE } from "../bytes/ascii.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Scratch } from "../host/host.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import { NameBlocks } from "./name-blocks.ts";
import { resolvableName } from "./special-rule.ts";

/** Longer names are handled one by one. */
export const LONG_NAME = 128;
const LONGEST_LABEL = 63;

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
  /** The same rules by their owners, for outputs with a file for each source. */
  owned: NameBuffer | undefined;
  private readonly wantsCovered: boolean;

  constructor(openScratch: () => Scratch, wantsCovered: boolean) {
    this.names = new NameBlocks(openScratch);
    this.covered = new NameBlocks(openScratch);
    this.wantsCovered = wantsCovered;
  }

  /** Adds lines of the list from one source; a line feed precedes each. */
  take(bytes: Uint8Array, source: number): void {
    const { names } = this;
    for (let at = 0; at < bytes.length;) {
      const start = bytes[at] === LF ? at + 1 : at;
      const nameEnd = plainNameEnd(bytes, start);
      if (nameEnd === -1) {
        const next = bytes.indexOf(LF, start);
        const end = next === -1 ? bytes.length : next;
        this.addSpecial(decodeUtf8(bytes, start, end).trim(), source);
        at = end;
        continue;
      }
      names.add(bytes, start + 2, nameEnd, source);
      at = nameEnd + 1;
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
    this.owned?.close();
    this.names.close();
    this.covered.close();
  }
}

const LETTER_L = 108;
const LETTER_R = 114;
const LOCAL_DOMAIN_LENGTH = "localhost.localdomain".length;
const LOCALHOST_LENGTH = "localhost".length;

/**
 * The end of the name in a line `||name^`; -1 for any other line. A plain name has two or more labels of lower-case letters, digits
 * and inner hyphens, and does not end in a number.
 */
function plainNameEnd(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== PIPE || bytes[start + 1] !== PIPE) return -1;
  const first = start + 2;
  let label = first;
  let at = first;
  for (; ; at++) {
    const byte = bytes[at];
    if (byte === undefined) return -1;
    // Letters and digits: nearly all bytes.
    if ((byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57)) continue;
    if (byte === HYPHEN) {
      if (at === label) return -1;
      continue;
    }
    if (byte !== DOT && byte !== CARET) return -1;
    if (at === label || at - label > LONGEST_LABEL || bytes[at - 1] === HYPHEN) return -1;
    if (byte === CARET) break;
    label = at + 1;
  }
  if (label === first || at - first > LONG_NAME) return -1;
  if (bytes[label]! < 58 && bytes[at - 1]! < 58) return -1;
  // `rpz-client-ip` and the like, `localhost.localdomain`, and names below `localhost` are handled one by one.
  if (bytes[label] === LETTER_R && bytes[label + 3] === HYPHEN) return -1;
  if (at - first === LOCAL_DOMAIN_LENGTH && bytes[first] === LETTER_L) return -1;
  if (at - label === LOCALHOST_LENGTH && bytes[label] === LETTER_L) return -1;
  const next = bytes[at + 1];
  return next === undefined || next === LF ? at : -1;
}
