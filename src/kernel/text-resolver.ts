import type { Chunk } from "../rules/chunk.ts";
import type { Room } from "./room.ts";
import { TextsByScript } from "./texts-by-script.ts";
import { TextsByWasm } from "./texts-by-wasm.ts";

/** Finds lines that stand in the list again. The last copy stays. */
export interface TextResolver {
  /** A row, in the order of the list; with `isName` its name, which stands for `||name^`, otherwise its text. */
  add(chunk: Chunk, row: number, isName: boolean): void;
  /** After the last one. */
  resolve(): void;
  /** For each row of the chunk the id of the copy that stays, or -1. Good until the next call. */
  copiesOf(chunk: Chunk): Int32Array;
  close(): void;
}

export function textResolver(room: Room): TextResolver {
  const { kernel } = room;
  return kernel === undefined ? new TextsByScript() : new TextsByWasm(room, kernel);
}
