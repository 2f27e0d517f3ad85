import type { SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Column, Numbers, Presence } from "./column.ts";
import { packNumbers } from "./pack-numbers.ts";

/**
 * Texts, each as the length that it shares with the one before and the rest (DELTA_BYTE_ARRAY). Sorted names shrink, a repeated text costs
 * nothing, and no value becomes an object.
 */
export class TextColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "DELTA_BYTE_ARRAY";
  readonly presence: Presence = new Presence();
  length = 0;
  /** The texts, one after the other, and where each ends. */
  private readonly texts = new ByteBuffer(1 << 16);
  private readonly ends = new Numbers();

  constructor(name: string) {
    this.element = {
      name,
      type: "BYTE_ARRAY",
      converted_type: "UTF8",
      logical_type: { type: "STRING" },
      repetition_type: "OPTIONAL",
    };
  }

  /** Bytes of the group so far. */
  get byteCount(): number {
    return this.texts.length;
  }

  /** The bytes must be UTF-8. */
  add(bytes: Uint8Array, start: number, end: number): void {
    if (start < end) this.texts.append(bytes, start, end);
    this.ends.push(this.texts.length);
    this.presence.add(true);
    this.length++;
  }

  addText(text: string): void {
    const bytes = encodeUtf8(text);
    this.add(bytes, 0, bytes.length);
  }

  addNull(): void {
    this.presence.add(false);
    this.length++;
  }

  write(page: ByteWriter): void {
    const { bytes } = this.texts;
    const ends = this.ends.view();
    const shared = new Int32Array(ends.length);
    const lengths = new Int32Array(ends.length);
    const rests = new Uint8Array(this.texts.length);
    let size = 0;
    let before = 0;
    let start = 0;
    for (let index = 0; index < ends.length; index++) {
      const end = ends[index]!;
      const most = Math.min(start - before, end - start);
      let count = 0;
      while (count < most && bytes[before + count] === bytes[start + count]) count++;
      shared[index] = count;
      lengths[index] = end - start - count;
      for (let at = start + count; at < end; at++) rests[size++] = bytes[at]!;
      before = start;
      start = end;
    }
    packNumbers(page, shared);
    packNumbers(page, lengths);
    page.appendBytes(rests.subarray(0, size));
  }

  clear(): void {
    this.texts.length = this.ends.length = this.length = 0;
    this.presence.clear();
  }
}
