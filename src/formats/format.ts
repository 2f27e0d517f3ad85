import type { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { RowWriter } from "../kernel/row-writer.ts";
import type { Chunk } from "../rules/chunk.ts";

export interface Format {
  /** One line, for `--help` and the reference page. */
  readonly summary: string;
  readonly extension: string;
  /** The header above the rules, from its lines. */
  header(lines: readonly string[]): Uint8Array;
  /** Appends the live rows of the next chunk. `writer` copies many rows at a time. */
  append(chunk: Chunk, out: ByteBuffer, writer: RowWriter | undefined): void;
}
