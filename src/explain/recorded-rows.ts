import { CompilerError } from "../diagnostics/render.ts";
import { ifAvailable } from "../host/files.ts";
import type { Host, OpenFile } from "../host/host.ts";
import { Other } from "../kernel/kernel.ts";
import type { BuildRecord, Frame, RecordedFile } from "../record/build-record.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { feedText } from "../sources/read-file.ts";
import { isPacked, isWide, unpackedText } from "../sources/unpack.ts";

/** Walks the rows of one file in the order of its lines. */
export class RecordedRows {
  row = 0;
  line = 0;
  /** Whether the statistics count this row: of the rows of a line, the first that is live, or else the first. */
  isCounted = false;
  fate = 0;
  private readonly record: BuildRecord;
  private readonly frames: readonly Frame[];
  private frame = 0;
  private index = -1;
  private causes: Int32Array | undefined;
  private countedRow = 0;

  constructor(record: BuildRecord, frames: readonly Frame[]) {
    this.record = record;
    // Generated lines, such as banners, have no number.
    this.frames = frames
      .filter(({ firstLine }) => firstLine > 0)
      .toSorted((a, b) => a.firstLine - b.firstLine || a.base - b.base);
    this.next();
  }

  get isOver(): boolean {
    return this.frame >= this.frames.length;
  }

  /** Goes to the next row that is or was a line of the file, or a further name of one. */
  next(): void {
    for (;;) {
      const frame = this.frames[this.frame];
      if (frame === undefined) return;
      this.index++;
      const { index } = this;
      if (index >= frame.length) {
        this.frame++;
        this.index = -1;
        this.causes = undefined;
        continue;
      }
      const { fates, lines, others, firstLine, base } = frame;
      const fate = fates[index]!;
      const line = lines === undefined ? firstLine + index : lines[index]!;
      if (fate === Fate.Spare || line === 0) continue;
      const other = others?.[index] ?? 0;
      if ((other & Other.Generated) !== 0) continue;
      this.row = base + index;
      if ((other & Other.Continued) === 0) this.countedRow = this.countedFrom(this.row, fate);
      this.isCounted = this.row === this.countedRow;
      this.line = line;
      this.fate = fate;
      return;
    }
  }

  /** The row that counts for the line that begins with this one. */
  private countedFrom(row: number, fate: number): number {
    if (fate === Fate.Kept) return row;
    let at = this.index + 1;
    for (let number = this.frame; number < this.frames.length; number++) {
      const { fates, others, length, base } = this.frames[number]!;
      for (; at < length; at++) {
        const other = others?.[at] ?? 0;
        if ((other & Other.Generated) !== 0) continue;
        if ((other & Other.Continued) === 0) return row;
        if (fates[at] === Fate.Kept) return base + at;
      }
      at = 0;
    }
    return row;
  }

  /** The number of the row that makes this one redundant. */
  get cause(): number | undefined {
    if (!hasCause(this.fate)) return undefined;
    this.causes ??= this.record.causesIn(this.frames[this.frame]!);
    const cause = this.causes[this.index]!;
    return cause === -1 ? undefined : cause;
  }
}

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

/**
 * Reads from a file that a list was built from, or from its cached copy. Undefined if the file has changed or cannot be read,
 * or no copy is cached.
 */
export async function readRecorded<T>(
  { path, stamp, sha256 }: RecordedFile,
  cacheDir: string | undefined,
  host: Host,
  read: (file: OpenFile) => Promise<T>,
): Promise<T | undefined> {
  // A record is stored beside the list and may come from elsewhere: it selects a file that has not changed, or a digest, not a path.
  const isDigest = /^[0-9a-f]{64}$/.test(sha256 ?? "");
  if (path === undefined && (!isDigest || cacheDir === undefined)) return undefined;
  return await ifAvailable(async () => {
    const file = await host.openFile(path ?? host.path.join(cacheDir!, "objects", sha256!));
    try {
      return path === undefined || file.stamp.text === stamp ? await read(file) : undefined;
    } finally {
      await file.close();
    }
  });
}
