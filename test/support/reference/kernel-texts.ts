import { CHUNK_ROWS, type Chunk, hostOf, textOf } from "../../../src/rules/chunk.ts";

/** The reference implementation of `TextResolver`: one map of all texts. */
export class ReferenceTexts {
  private readonly last = new Map<string, number>();
  private readonly keys = new Map<number, string>();
  private readonly copies = new Int32Array(CHUNK_ROWS);

  add(chunk: Chunk, row: number, isName: boolean): void {
    const id = chunk.idOf(row);
    const key = isName ? `name ${hostOf(chunk, row)}` : `text ${textOf(chunk, row)}`;
    this.last.set(key, id);
    this.keys.set(id, key);
  }

  copiesOf(chunk: Chunk): Int32Array {
    for (let row = 0; row < chunk.length; row++) {
      const id = chunk.idOf(row);
      const key = this.keys.get(id);
      const last = key === undefined ? id : this.last.get(key)!;
      this.copies[row] = last === id ? -1 : last;
    }
    return this.copies;
  }
}
