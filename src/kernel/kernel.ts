import { HASH_SEED } from "../bytes/hash.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { type Arena, FreeAreas, roundSize } from "../rules/chunk.ts";
import { KERNEL_WASM } from "./kernel-wasm.ts";

/** Memory of a kernel that is reused, and grows with what it must hold. */
export class KernelArea {
  at = 0;
  private size = 0;
  private readonly kernel: KernelMemory;

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
  }

  /** Makes room for this many bytes. Returns whether the area moved, and what it held is lost. */
  need(bytes: number): boolean {
    if (this.size >= bytes) return false;
    if (this.size > 0) this.kernel.free(this.at, this.size);
    this.at = this.kernel.allocate(bytes);
    this.size = bytes;
    return true;
  }
}

/** The exports of `kernel/kernel.ts`. Addresses and sizes are in bytes unless they count rows. */
interface KernelExports {
  init(seed: number): number;
  enterSuffixes(from: number, end: number, filter: number, wildcards: number): void;
  useSuffixes(filter: number, wildcards: number): void;
  countLines(from: number, to: number, splits: number): number;
  scan(descriptor: number): number;
  readonly scanEnd: WasmGlobal;
  readonly unknownRows: WasmGlobal;
  readonly contents: WasmGlobal;
  /** Why `partition` or `deliver` stopped: 0 at the end, 1 at a row for the caller, 2 because a list's page is full. */
  readonly stop: WasmGlobal;
  readonly stopList: WasmGlobal;
  readonly stopSize: WasmGlobal;
  partition(descriptor: number): number;
  useTable(at: number, slots: number): void;
  namesOneLabel(page: number, end: number): number;
  resolvePart(descriptor: number): number;
  coverPart(descriptor: number): number;
  indexTexts(page: number, end: number): void;
  resolveTexts(page: number, end: number): void;
  findRows(...values: number[]): number;
  writeOthers(rows: number, flags: number, kinds: number, out: number): void;
  writeCauses(rows: number, fates: number, by: number, first: number, out: number): number;
  enterNames(rows: number, flags: number, hashes: number, filters: number, out: number): number;
  findHashes(rows: number, fates: number, hashes: number, filter: number, out: number): number;
  applyResults(...values: number[]): number;
  writeRows(descriptor: number): number;
  readonly writeEnd: WasmGlobal;
  countFates(rows: number, fates: number, kinds: number, counts: number): void;
  expandNames(names: number, count: number, parts: number, places: number, out: number): number;
  takeNames(from: number, end: number, longest: number, out: number): number;
  readonly namesEnd: WasmGlobal;
  readonly namesCount: WasmGlobal;
  findEnds(names: number, end: number, filter: number, out: number): number;
  deliver(page: number, end: number, cursors: number, idShift: number): number;
  passOn(from: number, to: number, cursors: number, idShift: number): number;
}

const PAGE = 65_536;
const MOST_PAGES = 65_536;
const MOST_EXPECTED = 2 ** 31;
const FIRST_BYTES = 24 * 1024 * 1024;
/** Memory grows by at least half: each growth invalidates all views, and untouched pages use no memory. */
const GROWTH = 2;

/** A running kernel. Its memory is the arena of a compile. */
export class KernelMemory implements Arena {
  readonly exports: KernelExports;
  readonly memory: WasmMemory;
  private readonly areas = new FreeAreas();
  private readonly listeners: (() => void)[] = [];
  private next: number;
  /** Areas that outlive a compile, sorted by address. */
  private readonly lasting: { readonly at: number; readonly size: number }[] = [];
  private readonly first: number;
  private readonly descriptorAt: number;
  /** The whole memory. Growth replaces this view. */
  u8: Uint8Array;
  u32: Uint32Array;

  constructor() {
    this.memory = new wasm.Memory({ initial: FIRST_BYTES / PAGE, maximum: MOST_PAGES });
    this.exports = kernelOver(this.memory);
    this.descriptorAt = (this.exports.init(HASH_SEED) + 63) & ~63;
    this.first = this.next = this.descriptorAt + DESCRIPTOR_BYTES;
    this.u8 = new Uint8Array(this.memory.buffer);
    this.u32 = new Uint32Array(this.memory.buffer);
  }

  get buffer(): ArrayBuffer {
    return this.memory.buffer;
  }

  allocate(bytes: number): number {
    const size = roundSize(bytes);
    const free = this.areas.take(size);
    if (free !== undefined) return free;
    const at = this.next;
    this.next = at + size;
    const held = this.memory.buffer.byteLength;
    if (this.next > held) this.grow(this.next - held, held);
    return at;
  }

  /**
   * Reserves about this many bytes at once. Untouched bytes use no memory, and each later growth triggers a garbage
   * collection in V8, up to 40 ms of CPU.
   */
  expect(bytes: number): void {
    const held = this.memory.buffer.byteLength;
    const wanted = Math.min(bytes, MOST_EXPECTED);
    if (wanted > held && this.growBy(Math.ceil((wanted - held) / PAGE))) this.renewViews();
  }

  private grow(missing: number, held: number): void {
    const least = Math.ceil(missing / PAGE);
    const most = MOST_PAGES - this.memory.buffer.byteLength / PAGE;
    const wanted = Math.max(least, Math.min(Math.ceil(held / GROWTH / PAGE), most));
    if (!this.growBy(wanted) && !this.growBy(least))
      throw new CompilerError([
        errorOf("too-large", "The build needs more than 4 GiB, or more memory than this machine has"),
      ]);
    this.renewViews();
  }

  private renewViews(): void {
    this.u8 = new Uint8Array(this.memory.buffer);
    this.u32 = new Uint32Array(this.memory.buffer);
    for (const listener of this.listeners) listener();
  }

  private growBy(pages: number): boolean {
    try {
      this.memory.grow(pages);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }

  free(at: number, bytes: number): void {
    this.areas.give(at, roundSize(bytes));
  }

  /** An area that `freeAll` does not free. */
  allocateLasting(bytes: number): number {
    const at = this.allocate(bytes);
    this.lasting.push({ at, size: roundSize(bytes) });
    this.lasting.sort((one, other) => one.at - other.at);
    return at;
  }

  /** Ends a compile: frees everything except lasting areas, and removes all growth listeners. */
  freeAll(): void {
    this.areas.clear();
    this.listeners.length = 0;
    let at = this.first;
    for (const area of [...this.lasting, { at: this.next, size: 0 }]) {
      if (area.at > at) this.areas.give(at, area.at - at);
      at = area.at + area.size;
    }
  }

  /** Writes a descriptor and returns its address. It is valid until the next one is written. */
  describe<Field extends string>(
    fields: readonly Field[],
    values: Readonly<Record<Field, number>>,
  ): number {
    let at = this.descriptorAt >>> 2;
    for (const field of fields) this.u32[at++] = values[field];
    return this.descriptorAt;
  }

  onGrow(listener: () => void): void {
    this.listeners.push(listener);
  }

  bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  shorts(at: number, length: number): Uint16Array {
    return new Uint16Array(this.memory.buffer, at, length);
  }

  words(at: number, length: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, at, length);
  }

  integers(at: number, length: number): Int32Array {
    return new Int32Array(this.memory.buffer, at, length);
  }
}

let module: WasmModule | undefined;

/** A kernel that uses this memory. The module, under 6 kB, is compiled once. */
function kernelOver(memory: WasmMemory): KernelExports {
  module ??= new wasm.Module(
    Uint8Array.from(atob(KERNEL_WASM), (character) => character.charCodeAt(0)),
  );
  return new wasm.Instance(module, { env: { memory } }).exports as unknown as KernelExports;
}

/**
 * Codes and memory layouts that the kernel and TypeScript share. `scripts/kernel-module.ts` generates the constants of
 * `kernel/kernel.ts` from this file and from the enumerations of `src/rules` and `src/bytes`.
 */

/** Offsets in a record: a name or a text to compare with others. Its bytes are padded to a multiple of four. */
export const AT = { Hash: 0, Id: 4, By: 8, Length: 12, Flags: 14, Text: 16 } as const;

export const RECORD = {
  Deep: 1,
  Widened: 2,
  Excluded: 4,
  Used: 8,
  Plain: 16,
  Same: 32,
  Covered: 64,
  Trusted: 128,
  /** Was widened, but another rule for the same name is not. */
  WasWidened: 256,
  /** The rule's own text is not exactly `||name^` and was judged before. */
  Verbatim: 512,
  /** An ordinary name, which no validator drops. */
  Ordinary: 2048,
} as const;

/** Offsets in the cursor of a list of records: the next free address, the end of its page, the number of records. */
export const CURSOR = { Next: 0, End: 4, Count: 8, Bytes: 16 } as const;

/** The partition of names that are parents of names in all partitions. */
export const WIDE = 255;

/** Marks in the cause of a result. */
export const RESULT = {
  /** Instead of a row: the rule is not wider than its author meant. */
  NotWidened: 0x7fffffff,
  /** A parent covers the row. Without this mark, another row has the same name. */
  Covered: 0x80000000,
} as const;

/** Why the kernel stopped: at the end, at a row for the caller, or because the page of a list is full. */
export const STOP = { End: 0, Row: 1, Page: 2 } as const;

/** What the lines that the kernel read contain. */
export const CONTENTS = {
  Comments: 1,
  Blanks: 2,
  OuterBlanks: 4,
  SpecialHosts: 8,
  LongLines: 16,
} as const;

/** What a build record stores about a row in addition to its fate. */
export const Other = { Generated: 1, Continued: 2, NoRule: 4 } as const;

/** Fields of the descriptors that kernel functions take, one word each, in this order. See `KernelMemory.describe`. */
export const SCAN = [
  "bytes",
  "columns",
  "capacity",
  "firstRow",
  "from",
  "to",
  "liveFate",
  "hashComments",
  "splits",
  "masks",
  "unknown",
] as const;
export const PARTITION = [
  "bytes",
  "columns",
  "capacity",
  "fromRow",
  "rows",
  "firstId",
  "cursors",
  "listMask",
  "wideList",
  "checksText",
  "entered",
] as const;
export const PART = [
  "runs",
  "runCount",
  "table",
  "slots",
  "used",
  "separatesWidened",
  "trustsOrdinary",
  "wideTable",
  "wideSlots",
  "hasOneLabel",
] as const;
export const WRITE = ["bytes", "columns", "capacity", "fromRow", "rows", "out", "outEnd"] as const;

/** Size of the longest descriptor. */
const DESCRIPTOR_BYTES = 64;

/**
 * The parts of WebAssembly that the kernel uses. TypeScript only has these types in its DOM library, which users of this
 * package may not include.
 */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WasmGlobal {
  value: number;
}

/** A compiled module, used only to create instances. */
type WasmModule = object;

interface Wasm {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => WasmModule;
  readonly Instance: new (
    module: WasmModule,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: object };
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
}

const wasm: Wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
