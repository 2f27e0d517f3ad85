/**
 * The parts of WebAssembly that the kernel uses. TypeScript only has these types in its DOM library, which users of this
 * package may not include.
 */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface WasmGlobal {
  value: number;
}

/** A compiled module, used only to create instances. */
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
