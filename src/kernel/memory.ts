import { HASH_SEED } from "../bytes/hash.ts";
import { KERNEL_WASM } from "./kernel-wasm.ts";

/** What `kernel/kernel.ts` exports; addresses and sizes are in bytes unless they count rows. */
interface KernelExports {
  init(seed: number): number;
  scan(...values: number[]): number;
  readonly scanEnd: WebAssembly.Global;
  readonly unknownRows: WebAssembly.Global;
  readonly contents: WebAssembly.Global;
  /** Why `deal` or `deliver` stopped: 0 at the end, 1 at a row for the caller, 2 because a list's page is full. */
  readonly stop: WebAssembly.Global;
  readonly stopList: WebAssembly.Global;
  readonly stopSize: WebAssembly.Global;
  deal(...values: number[]): number;
  countRecords(page: number, end: number): number;
  useTable(at: number, slots: number): void;
  keepAsOneLabel(): void;
  indexNames(page: number, end: number): void;
  indexTexts(page: number, end: number): void;
  resolveTexts(page: number, end: number): void;
  cover(page: number, end: number, separates: number, used: number, count: number): number;
  deliver(page: number, end: number, cursors: number, idShift: number): number;
}

const PAGE = 65_536;
/** Memory grows by a sixteenth at least: every growth makes all views void. */
const GROWTH = 16;

/** A running kernel and its memory. Areas are handed out in order and never taken back; `PagedLists` uses its own again. */
export class KernelMemory {
  readonly exports: KernelExports;
  private readonly memory: WebAssembly.Memory;
  private next: number;

  constructor(module: WebAssembly.Module) {
    this.memory = new WebAssembly.Memory({ initial: 16, maximum: 65_536 });
    const instance = new WebAssembly.Instance(module, { env: { memory: this.memory } });
    this.exports = instance.exports as unknown as KernelExports;
    this.next = (this.exports.init(HASH_SEED) + 7) & ~7;
  }

  /** An area of this size, on an 8-byte boundary. Views made before may be void afterwards. */
  allocate(bytes: number): number {
    const at = this.next;
    this.next = Math.ceil((at + bytes) / 8) * 8;
    const missing = this.next - this.memory.buffer.byteLength;
    if (missing > 0) {
      const pages = Math.ceil(missing / PAGE);
      const held = this.memory.buffer.byteLength / PAGE;
      const more = Math.max(pages, Math.min(held / GROWTH, 65_536 - held));
      this.memory.grow(Math.ceil(more));
    }
    return at;
  }

  get size(): number {
    return this.next;
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

let compiled: WebAssembly.Module | undefined;

/** A kernel with fresh memory. The module is compiled once; it is under 6 kB. */
export function startKernel(): KernelMemory {
  compiled ??= new WebAssembly.Module(decodeBase64(KERNEL_WASM));
  return new KernelMemory(compiled);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
