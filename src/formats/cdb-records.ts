import { DOT, LF } from "../bytes/ascii.ts";
import type { CdbWriter } from "./cdb-writer.ts";

/** The names of lines such as `+ads.example.org`, as records of one list. */
export class CdbRecords {
  private readonly writer: CdbWriter;
  private readonly key = new Uint8Array(512);

  constructor(writer: CdbWriter) {
    this.writer = writer;
  }

  /** Adds complete lines. */
  add(lines: Uint8Array): void {
    const { key, writer } = this;
    for (let start = 0; start < lines.length;) {
      const end = lines.indexOf(LF, start);
      const kind = lines[start]!;
      const isAlone = kind === ALONE || kind === OPEN_ALONE;
      const length = isAlone
        ? textKey(lines, start + 1, end, key)
        : wireKey(lines, start + 1, end, key);
      writer.add(key, length, kind === ALONE || kind === SUBTREE ? BLOCKED : FREE);
      start = end + 1;
    }
  }
}

const SUBTREE = 43; // +
const ALONE = 61; // =
const OPEN_ALONE = 33; // !
/** The digit of the first list. */
const BLOCKED = Uint8Array.of(49);
const FREE = Uint8Array.of(48);

/** A name as in a DNS message, as `KeyValueLookupKeySuffix(1, true)` gives it: the key of a name with everything below it. */
export function wireKey(name: Uint8Array, start: number, end: number, key: Uint8Array): number {
  let label = 0;
  let to = 1;
  for (let at = start; at < end; at++, to++) {
    const byte = name[at]!;
    key[to] = byte;
    if (byte !== DOT) continue;
    key[label] = to - label - 1;
    label = to;
  }
  key[label] = to - label - 1;
  key[to] = 0;
  return to + 1;
}

/** A name as text, as `KeyValueLookupKeyQName(false)` gives it: the key of a name alone. */
export function textKey(name: Uint8Array, start: number, end: number, key: Uint8Array): number {
  for (let at = start; at < end; at++) key[at - start] = name[at]!;
  return end - start;
}
