import {
  BACKSLASH,
  ByteBuffer,
  decodeUtf8,
  encodeUtf8,
  indexOfBytes,
  isAscii,
  isValidUtf8,
  repairUtf8,
  skipBlanks,
} from "../bytes/text.ts";
import { printable } from "../diagnostics/text.ts";
import { FeedError, FeedLines, type FeedReader, type FeedSettings } from "../feeds/feed.ts";
import { openFeed } from "../feeds/registry.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { Fate } from "../rules/fate.ts";
import {
  BLOCK_BYTES,
  BlockCutter,
  type FileLines,
  type LineRange,
  type TextBlock,
  blocksOf,
} from "../syntax/list-scan.ts";
import { loadIdna } from "../syntax/written-names.ts";
import type { RemoteSource } from "./acquire.ts";
import { openAgain } from "./copies.ts";
import type { WebTexts } from "./fetch-text.ts";
import { type Location, fileError, isBelow, sourceError } from "./limits.ts";
import { LINE_COUNT, type SourceGauge, type SourceMeasure } from "./names-of-source.ts";
import type { InputFile, LineSink, LoadOptions, SourceList } from "./source-list.ts";
import { isPacked, isWide, refuseHtml, refuseNul, unpackedText } from "./unpack.ts";

/** The first read, which is enough to detect the format of a file. */
const FIRST_BYTES = BLOCK_BYTES + 8192;

/** A file that was found, before it is read. */
export interface FoundFile {
  /** Its real path or URL, to detect circular includes. */
  readonly place: string;
  /** Its key in records: its path, or the digest of its id. */
  readonly key: string;
  /** The folder or server that its includes may not leave; "" if the server is unknown. */
  readonly folder: string;
  /** The base of the ids of its includes; absent if another URL answered. */
  readonly id?: string | undefined;
  /** Whether its last line may be truncated. */
  readonly isCut?: boolean;
  /** Complete once the last block has been read. */
  readonly text: { readonly isRepaired: boolean; readonly bytesRead: number };
  blocks(): AsyncIterable<TextBlock> | Iterable<TextBlock>;
  readonly cutter: BlockCutter;
  close(): Promise<void>;
}

/** Opens the files of a list and detects their format. */
export class FileFinder {
  /** The local files that were opened, with their fingerprints at that time. */
  readonly inputs: InputFile[] = [];
  private readonly host: Host;
  private readonly options: LoadOptions;
  private readonly texts: WebTexts | undefined;
  private readonly buffers: Uint8Array[];

  /** A list from the web requires `texts`. */
  constructor(host: Host, options: LoadOptions, texts: WebTexts | undefined) {
    this.host = host;
    this.options = options;
    this.texts = texts;
    this.buffers = options.buffers ?? [];
  }

  /** `root` is the folder or server that includes may not leave; absent for the list itself. */
  async find(location: Location, label: string, root: string | undefined): Promise<FoundFile> {
    if (location.kind === "web") {
      const { url, id = url } = location;
      const text = await this.texts!.get({ url, id });
      const file = await text.open();
      const { key, isMoved, isCut } = text;
      const folder = root ?? (this.texts!.knowsPlaces ? new URL(text.url).origin : "");
      const found = await this.inBlocks(file, label, { place: text.url, key, folder });
      return { ...found, isCut, id: isMoved ? undefined : id };
    }
    const path = await this.attempt(label, () => this.host.realPath(location.path));
    const folder = root ?? this.host.path.dirname(path);
    if (root !== undefined && !isBelow(path, root, this.host))
      throw sourceError(
        "bad-directive",
        `${printable(label)} is outside the folder of the list`,
        "an included file must be in the folder of the list or below it",
      );
    const file = await this.attempt(label, () => this.host.openFile(path));
    this.inputs.push({ path: location.path, stamp: file.stamp });
    const unpacked = async (): Promise<FoundFile> => {
      const raw = await this.attempt(label, () => this.host.readFile(path));
      const { member } = this.options;
      const text = { label: printable(label), member };
      const { bytes, isRepaired } = await unpackedText(raw, text, this.host);
      await file.close();
      if (this.options.feed !== undefined) {
        const again = openAgain(bytes.length, (from, into) =>
          into.set(bytes.subarray(from, from + into.length)),
        );
        return await this.inBlocks(again, label, { place: path, key: path, folder });
      }
      return this.inMemory(bytes, isRepaired, { place: path, key: path, folder });
    };
    // With `member`, a file that is not an archive must not be taken as it is. Included files are never in one.
    if (root === undefined && this.options.member !== undefined) return await unpacked();
    return await this.inBlocks(file, label, { place: path, key: path, folder }, unpacked);
  }

  /** `unpacked` is called if the file is compressed; without it the file is known to be plain. */
  private async inBlocks(
    file: OpenFile,
    label: string,
    known: Pick<FoundFile, "place" | "key" | "folder">,
    unpacked?: () => Promise<FoundFile>,
  ): Promise<FoundFile> {
    try {
      const first = this.buffers.pop() ?? new Uint8Array(FIRST_BYTES);
      const head = first.subarray(0, await this.attempt(label, () => file.read(first)));
      if (unpacked !== undefined && (isPacked(head) || isWide(head))) return await unpacked();
      const { feed, blockBytes, now } = this.options;
      const lines = feed && new FeedFile(file, feed, head, now ?? this.host.now());
      const text = new FileBlocks(lines ?? file, printable(label), this.buffers, blockBytes);
      const { cutter } = text;
      const isWeb = unpacked === undefined;
      return {
        ...known,
        text,
        cutter,
        blocks: () => {
          refuseHtml(head, printable(label));
          if (isWeb && this.options.json !== true)
            refuseOther(head, head.length === file.size, printable(label));
          return lines === undefined ? text.blocks(head) : linesOf(lines, text);
        },
        close: () => {
          this.buffers.push(first);
          return file.close();
        },
      };
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
  }

  private inMemory(
    bytes: Uint8Array,
    isRepaired: boolean,
    known: Pick<FoundFile, "place" | "key" | "folder">,
  ): FoundFile {
    const cutter = new BlockCutter();
    return {
      ...known,
      text: { isRepaired, bytesRead: bytes.length },
      cutter,
      blocks: () => blocksOf(bytes, cutter, this.options.blockBytes),
      close: async () => {},
    };
  }

  private async attempt<T>(label: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw error instanceof HostError ? fileError(label, error) : error;
    }
  }
}

async function* linesOf(lines: FeedFile, text: FileBlocks): AsyncGenerator<TextBlock> {
  const first = new Uint8Array(FIRST_BYTES);
  yield* text.blocks(first.subarray(0, await lines.read(first)));
}

const PIECE = 256 * 1024;

/** The lines of a feed, in the form of a file. It can be read once. */
class FeedFile implements OpenFile {
  /** Unknown until the end is reached. */
  readonly size: number = Infinity;
  readonly stamp: OpenFile["stamp"];
  private readonly file: OpenFile;
  private readonly reader: FeedReader;
  private readonly lines = new FeedLines(PIECE);
  /** How many bytes of the lines were handed out. */
  private given = 0;
  private readonly piece = new Uint8Array(PIECE);
  private isOver = false;
  private hasIdna = false;
  private first: Uint8Array | undefined;

  /** `first` is the part of the file that has been read already, `now` decides which entries are valid. */
  constructor(file: OpenFile, settings: FeedSettings, first: Uint8Array, now: Date) {
    this.file = file;
    this.stamp = file.stamp;
    this.reader = openFeed(settings, now);
    this.first = withoutMark(first);
  }

  /** Rejects with a `FeedError`, too. */
  async read(into: Uint8Array): Promise<number> {
    let count = 0;
    while (count < into.length) {
      const some = this.lines.bytes.subarray(
        this.given,
        Math.min(this.lines.length, this.given + into.length - count),
      );
      into.set(some, count);
      count += some.length;
      this.given += some.length;
      if (count === into.length || this.isOver) break;
      this.lines.clear();
      this.given = 0;
      await this.readOn();
    }
    return count;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async readOn(): Promise<void> {
    const { first, reader } = this;
    this.first = undefined;
    const bytes = first ?? this.piece.subarray(0, await this.file.read(this.piece));
    if (bytes.length === 0 && first === undefined) {
      this.isOver = true;
      reader.end(this.lines);
      return;
    }
    // JSON may escape letters that are not ASCII.
    if (!this.hasIdna && (!isAscii(bytes) || bytes.includes(BACKSLASH))) {
      await loadIdna();
      this.hasIdna = true;
    }
    reader.take(bytes, this.lines);
  }
}

/** The lines of a feed that is in memory; undefined if it cannot be read. */
export async function feedText(
  bytes: Uint8Array,
  settings: FeedSettings,
  now: Date,
): Promise<Uint8Array | undefined> {
  const lines = new FeedFile(
    openAgain(0, () => {}),
    settings,
    bytes,
    now,
  );
  const text = new ByteBuffer(PIECE);
  const piece = new Uint8Array(PIECE);
  try {
    for (let count = -1; count !== 0;) {
      count = await lines.read(piece);
      text.append(piece, 0, count);
    }
    return text.view();
  } catch (error) {
    if (error instanceof FeedError) return undefined;
    throw error;
  }
}

/** The text without a byte order mark. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Bytes that are enough to recognise a response. */
const HEAD_BYTES = 1024;
/** Error messages of servers are shorter than this. */
const LONGEST_MESSAGE = 2048;

/** Does not match `[Adblock Plus 2.0]`, which is the header of a list. */
const JSON_START = /^(?:\{\s*(?:"|\}|$)|\[\s*(?:[{["\]\d-]|(?:true|false|null)\b|$))/;
const XML_START = /^<[!?/a-z]/i;
/** An HTTP status or its usual text. A name such as `404.example` has no blank after the number. */
const ERROR_START =
  /^(?:(?:http(?:\/[\d.]+)?|status|error)[\s:]*)?(?:(?:code[\s:]*)?[1-5]\d\d|error code[\s:]*\d+|error|(?:file |page |repository )?not found|access denied|forbidden|unauthori[sz]ed|bad (?:gateway|request)|gateway time-?out|internal server error|service (?:temporarily )?unavailable|too many requests|(?:api )?rate limit(?: exceeded)?|upstream (?:connect )?error|no healthy upstream|package size exceeded|invalid (?:request|token|signature)|account suspended|moved permanently|temporarily unavailable|null|undefined)[.!:,;]*(?:\s|$)/i;
/** A sentence: words that begin with a letter, without the special characters of rules. */
const SENTENCE = /^["'(]?\p{L}[\p{L}'’-]*[,;:]?(?:\s+[^\s|#*^$[\]]+){2,}$/u;

/**
 * Rejects what a server sends with status 200 instead of a list: JSON, XML, and messages such as `404: Not Found`. `head` is
 * the start of the text, or all of it.
 */
export function refuseOther(head: Uint8Array, isWhole: boolean, label: string): void {
  const start = skipBlanks(head, 0, Math.min(head.length, HEAD_BYTES));
  const text = decodeUtf8(head, start, Math.min(head.length, start + LONGEST_MESSAGE)).trimEnd();
  const what = otherThing(text, isWhole && head.length <= LONGEST_MESSAGE);
  if (what === undefined) return;
  const [first = ""] = text.split("\n", 1);
  throw sourceError(
    "source-not-list",
    `${what} instead of a list: ${label}`,
    `it begins with ${first.slice(0, 60)}`,
  );
}

function otherThing(text: string, isShort: boolean): string | undefined {
  if (XML_START.test(text)) return "XML";
  if (JSON_START.test(text)) return "JSON";
  if (!isShort || text === "") return undefined;
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim() !== "");
  const isMessage = ERROR_START.test(text) || lines.every((line) => SENTENCE.test(line.trim()));
  return isMessage ? "A message" : undefined;
}

/** Space in front of a read for the rest of the previous block. */
const HEAD_ROOM = 8192;

/**
 * The text of a plain file, checked and returned block by block. The next block is read while the current one is
 * processed.
 */
export class FileBlocks {
  private readonly file: OpenFile;
  private readonly label: string;
  private readonly blockBytes: number;
  private position = 0;
  private readonly buffers: Uint8Array[];
  readonly cutter: BlockCutter = new BlockCutter();
  /** Whether bytes that are not UTF-8 were replaced. */
  isRepaired = false;
  bytesRead = 0;

  /** `buffers` is a pool of free buffers. */
  constructor(
    file: OpenFile,
    label: string,
    buffers: Uint8Array[],
    blockBytes: number = BLOCK_BYTES,
  ) {
    this.buffers = buffers;
    this.file = file;
    this.label = label;
    this.blockBytes = blockBytes;
  }

  /** `first` is the part of the file that has been read already. */
  async *blocks(first: Uint8Array): AsyncGenerator<TextBlock> {
    let text = first;
    let searched = 0;
    this.position = first.length;
    let current: Uint8Array | undefined;
    let reading = this.readMore(0);
    while (true) {
      const end = this.cutter.endOf(text, searched);
      if (end !== -1) {
        yield this.check(text.subarray(0, end), false);
        text = text.subarray(end);
        searched = 0;
      } else searched = text.length;
      const more = await reading;
      if (more.count === 0) {
        this.buffers.push(more.buffer);
        break;
      }
      const { length } = text;
      text = joined(text, more);
      if (current !== undefined) this.buffers.push(current);
      current = more.buffer;
      // Double the size while no line ends, so that a long line is not copied again and again.
      reading = this.readMore(length);
    }
    yield this.check(text, true);
    if (current !== undefined) this.buffers.push(current);
  }

  private readMore(atLeast: number): Promise<{ buffer: Uint8Array; count: number }> {
    const reading = this.fill(atLeast);
    // If the list is abandoned, this promise is never awaited: its rejection must not be unhandled.
    reading.catch(() => {});
    return reading;
  }

  private async fill(atLeast: number): Promise<{ buffer: Uint8Array; count: number }> {
    const left = this.file.size - this.position;
    // The file may have grown since it was opened; only an empty read marks the end.
    const wanted = left > 0 ? Math.min(left, Math.max(this.blockBytes, atLeast)) : 4096;
    // Two buffers alternate: one is processed while the other is filled.
    let buffer = this.buffers.pop();
    if (buffer === undefined || buffer.length < HEAD_ROOM + wanted)
      buffer = new Uint8Array(HEAD_ROOM + Math.max(wanted, this.blockBytes));
    const count = await this.file.read(buffer.subarray(HEAD_ROOM, HEAD_ROOM + wanted));
    this.position += count;
    return { buffer, count };
  }

  private check(bytes: Uint8Array, isLast: boolean): TextBlock {
    refuseNul(bytes, this.label);
    let text = bytes;
    if (!isValidUtf8(bytes)) {
      text = repairUtf8(bytes);
      this.isRepaired = true;
    }
    this.bytesRead += text.length;
    return this.cutter.blockOf(text, isLast);
  }
}

/** The rest of a block, followed by the bytes read after it. */
function joined(
  rest: Uint8Array,
  { buffer, count }: { buffer: Uint8Array; count: number },
): Uint8Array {
  if (rest.length <= HEAD_ROOM) {
    const start = HEAD_ROOM - rest.length;
    buffer.set(rest, start);
    return buffer.subarray(start, HEAD_ROOM + count);
  }
  const text = new Uint8Array(rest.length + count);
  text.set(rest);
  text.set(buffer.subarray(HEAD_ROOM, HEAD_ROOM + count), rest.length);
  return text;
}

const BADFILTER = encodeUtf8("badfilter");

/** Counts lines and measures them without keeping any. */
export class CheckSink implements LineSink {
  hasBadfilter = false;
  lines = 0;
  private readonly gauge: SourceGauge | undefined;

  constructor(gauge?: SourceGauge) {
    this.gauge = gauge;
  }

  begin(label: string, place: string): FileLines {
    return LINE_COUNT.begin(label, place);
  }

  read(file: FileLines, block: TextBlock, stretch: LineRange): void {
    this.hasBadfilter ||= indexOfBytes(block.bytes, BADFILTER) !== -1;
    const before = file.nextLine;
    void LINE_COUNT.read(file, block, stretch);
    this.lines += file.nextLine - before;
    if (stretch.fate === Fate.Kept) this.gauge?.look(block.bytes, stretch.start, stretch.end);
  }

  nextLine(file: FileLines): number {
    return file.nextLine;
  }

  blank(): void {}
}

/** Throws a `CompilerError` for a text without entries, or in which no line can be a rule. */
export function refuseEmpty(
  { hasText }: Pick<SourceList, "hasText">,
  { label, mayBeEmpty, isLines }: Pick<RemoteSource, "label" | "mayBeEmpty" | "isLines">,
  measure: Pick<SourceMeasure, "entries" | "hasRules"> | undefined,
): void {
  const hasEntries = hasText && measure?.entries !== 0;
  const hasRules = !isLines || measure?.hasRules !== false;
  if (mayBeEmpty || (hasEntries && hasRules)) return;
  let cause = "the response has no text";
  if (hasText) cause = "it has only comments or local names";
  if (hasEntries) cause = "none of its lines is a rule";
  throw sourceError("source-empty", `${label} is empty`, cause);
}
