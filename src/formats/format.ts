import type { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { RowWriter } from "../kernel/row-writer.ts";
import type { Chunk } from "../rules/chunk.ts";

export interface Format {
  /** One line, for `--help` and the reference page. */
  readonly summary: string;
  readonly extension: string;
  /** What stands above the rules. `lines` is the list's own text, one string a line. */
  header(lines: readonly string[]): Uint8Array;
  /** Appends the live rows of the list's next chunk. `writer` copies many at a time. */
  append(chunk: Chunk, out: ByteBuffer, writer: RowWriter): void;
}
