import { CompilerError } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import type { RecordedFile } from "../record/record-format.ts";
import { isPacked, isWide } from "../sources/decode.ts";
import { feedText } from "../sources/feed-file.ts";
import { unpackedText } from "../sources/unpacked-text.ts";

/** Bytes that are enough to recognise a packed file. */
export const HEAD_BYTES = 512;

/** Whether the bytes of a local file are not its text. Copies of remote files are unpacked. */
export function isUnpackedFirst({ path }: RecordedFile, head: Uint8Array): boolean {
  return path !== undefined && (isPacked(head) || isWide(head));
}

/**
 * The text that the rows of a file were read from, as at the time of the build: without packing, and for a feed, its lines. Undefined if it
 * cannot be read.
 */
export async function recordedText(
  file: RecordedFile,
  bytes: Uint8Array,
  builtAt: string,
  host: Host,
): Promise<Uint8Array | undefined> {
  try {
    const text = isUnpackedFirst(file, bytes)
      ? (await unpackedText(bytes, { label: file.file, member: file.member }, host)).bytes
      : bytes;
    return file.feed === undefined ? text : await feedText(text, file.feed, new Date(builtAt));
  } catch (error) {
    if (error instanceof CompilerError) return undefined;
    throw error;
  }
}
