/**
 * The part of WebAssembly that is used. TypeScript has its types only among those of a browser, which users of the library
 * need not have.
 */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface WasmGlobal {
  value: number;
}

/** Compiled code; nothing is asked of it. */
export type WasmModule = object;

interface Wasm {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => WasmModule;
  readonly Instance: new (
    module: WasmModule,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: object };
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
}

export const wasm: Wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
