import type { SchemaElement } from "hyparquet";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { NameSlices } from "../kernel/domain-finder.ts";
import type { KernelMemory } from "../kernel/kernel-memory.ts";
import { LastingArea } from "../kernel/lasting-area.ts";
import { type PagePacker, SLACK } from "../kernel/page-packer.ts";
import { type Column, Presence } from "./column.ts";

/**
 * Texts, each as the length that it shares with the one before and the rest (DELTA_BYTE_ARRAY). Sorted names shrink, a repeated text costs
 * nothing, and no value becomes an object. Texts are collected in the memory of the kernel.
 */
export class TextColumn implements Column {
  readonly element: SchemaElement;
  readonly encoding = "DELTA_BYTE_ARRAY";
  readonly presence: Presence = new Presence();
  /** Bytes of the group so far. */
  byteCount = 0;
  private readonly kernel: KernelMemory;
  private readonly texts: LastingArea;
  /** Where each text ends, after the start of the first one. */
  private readonly ends: LastingArea;

  constructor(name: string, kernel: KernelMemory) {
    this.kernel = kernel;
    this.texts = new LastingArea(kernel);
    this.ends = new LastingArea(kernel);
    this.element = {
      name,
      type: "BYTE_ARRAY",
      converted_type: "UTF8",
      logical_type: { type: "STRING" },
      repetition_type: "OPTIONAL",
    };
  }

  get length(): number {
    return this.presence.length;
  }

  /** The texts from the one with this number on. Addresses are valid until texts are added to any column. */
  slicesFrom(index: number): NameSlices {
    const startsAt = this.ends.at + index * 4;
    return { bytesAt: this.texts.at, startsAt, endsAt: startsAt + 4 };
  }

  /** The bytes must be UTF-8. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const at = this.reserve(1, end - start);
    const { u8 } = this.kernel;
    const to = this.texts.at + this.byteCount - start;
    for (let from = start; from < end; from++) u8[to + from] = bytes[from]!;
    this.byteCount += end - start;
    this.kernel.u32[at >>> 2] = this.byteCount;
  }

  /** Adds texts that have at most this many bytes. */
  addSlices({ bytesAt, startsAt, endsAt }: NameSlices, count: number, mostBytes: number): void {
    const at = this.reserve(count, mostBytes);
    const base = this.texts.at;
    const from = base + this.byteCount;
    const { exports } = this.kernel;
    const end = exports.copyTexts(bytesAt, startsAt, endsAt, count, base, from, at) >>> 0;
    this.byteCount = end - base;
  }

  /** Adds texts that follow each other in `bytes`: the first one begins at `start`. */
  addConsecutive(bytes: Uint8Array, start: number, ends: Uint32Array): void {
    if (ends.length === 0) return;
    const size = ends.at(-1)! - start;
    const at = this.reserve(ends.length, size);
    this.kernel.u8.set(bytes.subarray(start, start + size), this.texts.at + this.byteCount);
    const own = this.kernel.words(at, ends.length);
    const shift = this.byteCount - start;
    for (let index = 0; index < ends.length; index++) own[index] = ends[index]! + shift;
    this.byteCount += size;
  }

  addText(text: string): void {
    const bytes = encodeUtf8(text);
    this.add(bytes, 0, bytes.length);
  }

  addNulls(count: number): void {
    this.presence.add(false, count);
  }

  pack(packer: PagePacker): Uint8Array {
    const { presence, byteCount } = this;
    const { bytesAt: textsAt, endsAt } = this.slicesFrom(0);
    return packer.texts({ textsAt, endsAt, count: presence.length - presence.nulls, byteCount });
  }

  clear(): void {
    this.byteCount = 0;
    this.presence.clear();
  }

  /** Makes room for texts, which are counted as added. Returns the address of the first end. */
  private reserve(count: number, bytes: number): number {
    const { presence, texts, ends, byteCount } = this;
    const had = presence.length - presence.nulls;
    texts.need(byteCount + bytes + SLACK, byteCount);
    ends.need((had + count + 1) * 4, (had + 1) * 4);
    this.kernel.u32[ends.at >>> 2] = 0;
    presence.add(true, count);
    return ends.at + (had + 1) * 4;
  }
}
