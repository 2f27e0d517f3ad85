import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type FileStamp, type Host, HostError, type OpenFile } from "../host/host.ts";
import { DirectiveCutter, DirectiveError } from "../syntax/directives.ts";
import type { FileLines, Stretch } from "../syntax/scan.ts";
import { BLOCK_BYTES, BlockCutter, type TextBlock, blocksOf } from "../syntax/text-block.ts";
import { decodeText, isPacked } from "./decode.ts";
import { CheckSink } from "./check-sink.ts";
import { LINE_COUNT } from "./line-count.ts";
import { type Location, includedPath, isAddress, isBelow } from "./location.ts";
import { fileError, shownAddress, sourceError } from "./source-error.ts";
import { FileBlocks } from "./text-blocks.ts";
import type { WebTexts } from "./web-texts.ts";

/** Read before anything else, to tell what a file is. */
const FIRST_BYTES = BLOCK_BYTES + 8192;

/** Takes the lines of a list, in order. */
export interface LineSink {
  /** Another file begins: the list itself or one that it includes. */
  begin(label: string, place: string): FileLines;
  read(file: FileLines, block: TextBlock, stretch: Stretch): void | Promise<void>;
  /** Number of the file's line that comes next. */
  nextLine(file: FileLines): number;
  /** The file had no text at all. */
  blank(file: FileLines): void;
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly blockBytes?: number | undefined;
  /** Buffers that lists may share when they are read one after the other: fresh ones are a burden on the collector. */
  readonly buffers?: Uint8Array[] | undefined;
}

const MAX_DEPTH = 8;
const MAX_FILES = 4096;
const MAX_WEB_FILES = 64;
/** Of a local file that has to be unpacked as a whole. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;

/** A file that the list depends on. */
export interface InputFile {
  readonly path: string;
  /** Undefined where it counts that there was none. */
  readonly stamp: FileStamp | undefined;
}

/** A file that was found, before it is read. */
interface FoundFile {
  /** Where it really is, for `!#include` that come back to it. */
  readonly place: string;
  /** The folder or server that its includes may not leave. */
  readonly folder: string;
  /** Its text; the object holds what is known when the last block was taken. */
  readonly text: { readonly isRepaired: boolean; readonly bytesRead: number };
  blocks(): AsyncIterable<TextBlock> | Iterable<TextBlock>;
  readonly cutter: BlockCutter;
  close(): Promise<void>;
}

/**
 * A list with everything it includes. One from the web is checked before its lines are taken, which fetches all of it.
 * Both reject with a `CompilerError` when any of it cannot be had.
 */
export class SourceList {
  readonly diagnostics: Diagnostic[] = [];
  /** The local files that were read, as they were then. */
  readonly inputs: InputFile[] = [];
  bytesRead = 0;
  private checkedBytes = 0;
  private files = 0;
  private readonly host: Host;
  private readonly options: LoadOptions;
  private readonly location: Location;
  private readonly label: string;
  private sink!: LineSink;
  private readonly texts: WebTexts | undefined;
  /** Whether the list or anything it includes holds text. */
  hasText = false;
  /** What may stand in it; certain only when it was checked and the answer is no. */
  readonly mayHave: { badfilter: boolean } = { badfilter: true };
  private readonly buffers: Uint8Array[];

  /** `texts` is needed for a list from the web. */
  constructor(
    location: Location,
    label: string,
    host: Host,
    options: LoadOptions = {},
    texts?: WebTexts,
  ) {
    this.texts = texts;
    this.location = location;
    this.label = label;
    this.host = host;
    this.options = options;
    this.buffers = options.buffers ?? [];
  }

  /** Reads the list to its end without taking anything. */
  async check(): Promise<void> {
    const sink = new CheckSink();
    await this.readInto(sink);
    this.mayHave.badfilter = sink.hasBadfilter;
    this.checkedBytes = this.bytesRead;
    this.rewind();
  }

  /** Shows all blocks of text to somebody who looks ahead. The list can be read afterwards, and fails then if it fails now. */
  async peek(look: (text: Uint8Array) => void): Promise<void> {
    // What has no size, such as a pipe, can be read only once.
    if ((await this.size().catch(() => 0)) === 0) return;
    try {
      await this.readInto({
        ...LINE_COUNT,
        read: (_file, { bytes }, { start, end }) => look(bytes.subarray(start, end)),
      });
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
    }
    this.rewind();
  }

  private rewind(): void {
    this.diagnostics.length = 0;
    this.inputs.length = 0;
    this.bytesRead = 0;
    this.files = 0;
  }

  /** It was checked before, and had text, so many bytes of it. */
  assume(bytes: number): void {
    this.checkedBytes = bytes;
    this.hasText = true;
  }

  /** Gives back what was fetched. */
  close(): void {
    this.texts?.close();
  }

  /** Bytes of the list, as far as it is known before it is read. */
  async size(): Promise<number> {
    if (this.location.kind === "file") return await this.host.sizeOf(this.location.path);
    return this.checkedBytes;
  }

  async readInto(sink: LineSink): Promise<void> {
    this.sink = sink;
    await this.load(this.location, this.label, undefined, []);
  }

  /** `root` is the folder that local includes may not leave; absent for the list itself. */
  private async load(
    location: Location,
    label: string,
    root: string | undefined,
    chain: readonly string[],
  ): Promise<void> {
    const most = location.kind === "web" ? MAX_WEB_FILES : MAX_FILES;
    if (++this.files > most)
      throw sourceError(
        "bad-directive",
        `${printable(label)} is one of more than ${most} included files`,
      );
    const found = await this.find(location, label, root);
    try {
      const { place } = found;
      if (chain.includes(place))
        throw sourceError("bad-directive", `${printable(label)} includes itself`);
      if (chain.length > MAX_DEPTH)
        throw sourceError(
          "bad-directive",
          `${printable(label)} is included through more than ${MAX_DEPTH} files`,
        );
      await this.read(found, location, label, chain);
    } finally {
      await found.close();
    }
  }

  private async read(
    found: FoundFile,
    location: Location,
    label: string,
    chain: readonly string[],
  ): Promise<void> {
    const { place, folder } = found;
    const isIncluded = chain.length > 0;
    const directives = new DirectiveCutter(isIncluded);
    const file = this.sink.begin(label, place);
    const from = { label, place, folder, isWeb: location.kind === "web" };
    try {
      for await (const block of found.blocks()) {
        this.options.signal?.throwIfAborted();
        for (const piece of directives.cut(block, () => this.sink.nextLine(file))) {
          const line = piece.include === undefined ? 0 : this.sink.nextLine(file);
          const waiting = this.sink.read(file, block, piece);
          if (waiting !== undefined) await waiting;
          if (piece.include !== undefined)
            await this.include(piece.include, line, from, [...chain, place]);
        }
      }
      directives.end();
    } catch (error) {
      if (error instanceof HostError) throw fileError(label, error);
      if (!(error instanceof DirectiveError)) throw error;
      throw sourceError("bad-directive", printable(error.message), undefined, {
        file: label,
        line: error.line,
      });
    }
    this.took(found.text.bytesRead, label, found.text.isRepaired);
    if (found.cutter.hasText) {
      this.hasText = true;
      return;
    }
    this.sink.blank(file);
    if (!isIncluded)
      this.diagnostics.push(warningOf("source-empty", `${printable(label)} is empty`));
  }

  private async find(
    location: Location,
    label: string,
    root: string | undefined,
  ): Promise<FoundFile> {
    if (location.kind === "web") {
      const text = await this.texts!.get(location.url);
      const file = await text.open();
      return await this.inBlocks(file, label, text.url, root ?? new URL(text.url).origin);
    }
    const path = await this.attempt(label, () => this.host.realPath(location.path));
    const folder = root ?? path.slice(0, path.lastIndexOf("/") + 1);
    if (root !== undefined && !isBelow(path, root))
      throw sourceError(
        "bad-directive",
        `${printable(label)} lies outside the folder of the list`,
        "an included file must stand beside the list or below it",
      );
    const file = await this.attempt(label, () => this.host.openFile(path));
    this.inputs.push({ path: location.path, stamp: file.stamp });
    return await this.inBlocks(file, label, path, folder, async () => {
      const raw = await this.attempt(label, () => this.host.readFile(path));
      const { bytes, isRepaired } = await decodeText(raw, printable(label), {}, MAX_LIST_BYTES);
      await file.close();
      return this.inMemory(bytes, isRepaired, path, folder);
    });
  }

  /** `unpacked` is asked when the file is packed; without it the file is known to be plain. */
  private async inBlocks(
    file: OpenFile,
    label: string,
    place: string,
    folder: string,
    unpacked?: () => Promise<FoundFile>,
  ): Promise<FoundFile> {
    try {
      const first = this.buffers.pop() ?? new Uint8Array(FIRST_BYTES);
      const head = first.subarray(0, await this.attempt(label, () => file.read(first)));
      if (unpacked !== undefined && isPacked(head)) return await unpacked();
      const text = new FileBlocks(file, printable(label), this.buffers, this.options.blockBytes);
      const { cutter } = text;
      return {
        place,
        folder,
        text,
        cutter,
        blocks: () => text.blocks(head),
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
    place: string,
    folder: string,
  ): FoundFile {
    const cutter = new BlockCutter();
    return {
      place,
      folder,
      text: { isRepaired, bytesRead: bytes.length },
      cutter,
      blocks: () => blocksOf(bytes, cutter, this.options.blockBytes),
      close: async () => {},
    };
  }

  private took(bytes: number, label: string, isRepaired: boolean): void {
    this.bytesRead += bytes;
    if (!isRepaired) return;
    this.diagnostics.push(
      warningOf(
        "bad-encoding",
        `${printable(label)} is not UTF-8; the bytes that are not were replaced by U+FFFD`,
      ),
    );
  }

  private async attempt<T>(label: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw error instanceof HostError ? fileError(label, error) : error;
    }
  }

  private async include(
    argument: string,
    line: number,
    from: { label: string; place: string; folder: string; isWeb: boolean },
    chain: readonly string[],
  ): Promise<void> {
    const at = { file: from.label, line };
    try {
      if (argument === "") throw sourceError("bad-directive", "!#include names no file");
      if (from.isWeb) {
        const url = URL.canParse(argument, from.place) ? new URL(argument, from.place) : undefined;
        if (url === undefined || url.origin !== from.folder)
          throw sourceError(
            "bad-directive",
            `!#include leaves the list's own server: ${shownAddress(argument)}`,
          );
        await this.load({ kind: "web", url: url.href }, shownAddress(url.href), from.folder, chain);
      } else {
        if (isAddress(argument))
          throw sourceError(
            "bad-directive",
            `A local list cannot include an address: ${shownAddress(argument)}`,
          );
        const path = includedPath(from.place, argument);
        await this.load({ kind: "file", path }, path, from.folder, chain);
      }
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      // The outermost line is where a person starts to look; inner ones are in the message.
      throw new CompilerError(error.diagnostics.map((one) => ({ ...one, at: one.at ?? at })));
    }
  }
}
