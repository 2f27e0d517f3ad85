import { hasWasm } from "./web-assembly.ts";

/**
 * Which form of the innermost loops is used: WebAssembly, or the same in TypeScript. They give the same columns; the
 * first is faster from the first line on, because it needs no warming up (see docs/decisions/0005-kernel.md).
 */
let isWasm = hasWasm;

export function usesWasm(): boolean {
  return isWasm;
}

/** For tests, which run both. */
export function chooseKernel(form: "wasm" | "script"): void {
  isWasm = form === "wasm";
}
