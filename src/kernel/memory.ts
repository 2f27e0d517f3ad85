import { HASH_SEED } from "../bytes/hash.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { type Arena, FreeAreas, roundSize } from "../rules/arena.ts";
import { KERNEL_WASM } from "./kernel-wasm.ts";
import { type WasmGlobal, type WasmMemory, type WasmModule, wasm } from "./web-assembly.ts";

/** What `kernel/kernel.ts` exports; addresses and sizes are in bytes unless they count rows. */
export interface KernelExports {
  init(seed: number): number;
  useSuffixes(filter: number, wildcards: number): void;
  countLines(from: number, to: number, splits: number): number;
  scan(...values: number[]): number;
  readonly scanEnd: WasmGlobal;
  readonly unknownRows: WasmGlobal;
  readonly contents: WasmGlobal;
  /** Why `deal` or `deliver` stopped: 0 at the end, 1 at a row for the caller, 2 because a list's page is full. */
  readonly stop: WasmGlobal;
  readonly stopList: WasmGlobal;
  readonly stopSize: WasmGlobal;
  deal(...values: number[]): number;
  useTable(at: number, slots: number): void;
  namesOneLabel(page: number, end: number): number;
  resolvePart(...values: number[]): number;
  coverPart(...values: number[]): number;
  indexTexts(page: number, end: number): void;
  resolveTexts(page: number, end: number): void;
  findRows(...values: number[]): number;
  writeOthers(rows: number, flags: number, kinds: number, out: number): void;
  writeCauses(rows: number, fates: number, by: number, first: number, out: number): number;
  enterNames(rows: number, flags: number, hashes: number, filters: number, out: number): number;
  findHashes(rows: number, fates: number, hashes: number, filter: number, out: number): number;
  applyVerdicts(...values: number[]): number;
  writeRows(...values: number[]): number;
  readonly writeEnd: WasmGlobal;
  countFates(rows: number, fates: number, kinds: number, counts: number): void;
  expandNames(names: number, count: number, parts: number, places: number, out: number): number;
  deliver(page: number, end: number, cursors: number, idShift: number): number;
}

const PAGE = 65_536;
const MOST_PAGES = 65_536;
const MOST_EXPECTED = 2 ** 31;
const FIRST_BYTES = 16 * 1024 * 1024;
/** Memory grows by half at least: every growth makes all views void, and what is not written to takes no room. */
const GROWTH = 2;

/** A running kernel, and its memory as the arena of a compile. */
export class KernelMemory implements Arena {
  readonly exports: KernelExports;
  readonly memory: WasmMemory;
  private readonly areas = new FreeAreas();
  private readonly listeners: (() => void)[] = [];
  private next: number;
  /** Areas that outlive a compile, in the order of their addresses. */
  private readonly lasting: { readonly at: number; readonly size: number }[] = [];
  private readonly first: number;
  /** All of the memory, as it is now. */
  u8: Uint8Array;
  u32: Uint32Array;

  /** With `isShared`, other threads can run kernels of their own over this memory. */
  constructor(isShared: boolean) {
    this.memory = new wasm.Memory({
      initial: FIRST_BYTES / PAGE,
      maximum: MOST_PAGES,
      shared: isShared,
    });
    this.exports = kernelOver(this.memory);
    this.first = this.next = (this.exports.init(HASH_SEED) + 63) & ~63;
    this.u8 = new Uint8Array(this.memory.buffer);
    this.u32 = new Uint32Array(this.memory.buffer);
  }

  get buffer(): ArrayBuffer | SharedArrayBuffer {
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
   * Makes room for about so many bytes at once. They take no memory until they are written to, and every growth later on
   * makes V8 look for garbage, up to 40 ms of CPU each.
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

  /** An area that `freeAll` leaves alone. */
  allocateLasting(bytes: number): number {
    const at = this.allocate(bytes);
    this.lasting.push({ at, size: roundSize(bytes) });
    this.lasting.sort((one, other) => one.at - other.at);
    return at;
  }

  /** Everything is free but what lasts, and nobody is told of growth any more: a compile is over. */
  freeAll(): void {
    this.areas.clear();
    this.listeners.length = 0;
    let at = this.first;
    for (const area of [...this.lasting, { at: this.next, size: 0 }]) {
      if (area.at > at) this.areas.give(at, area.at - at);
      at = area.at + area.size;
    }
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

const modules = new Map<boolean, WasmModule>();

/** A kernel over this memory. The module is compiled once; it is under 6 kB. */
export function kernelOver(memory: WasmMemory): KernelExports {
  const isShared = !(memory.buffer instanceof ArrayBuffer);
  let module = modules.get(isShared);
  if (module === undefined) {
    const code = Uint8Array.from(atob(KERNEL_WASM), (character) => character.charCodeAt(0));
    if (isShared) markAsShared(code);
    module = new wasm.Module(code);
    modules.set(isShared, module);
  }
  return new wasm.Instance(module, { env: { memory } }).exports as unknown as KernelExports;
}

/** The import of the memory as AssemblyScript writes it: `memory`, kind 2, and limits of which bit 1 means shared. */
const MEMORY_IMPORT = [...Array.from("memory", (letter) => letter.charCodeAt(0)), 2];

/** A module says whether its memory is shared. Ours uses no atomic operations, so that is all there is to it. */
function markAsShared(code: Uint8Array): void {
  const at = code.findIndex((_, start) =>
    MEMORY_IMPORT.every((byte, index) => code[start + index] === byte),
  );
  code[at + MEMORY_IMPORT.length]! |= 2;
}
