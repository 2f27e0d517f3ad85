import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import { FeedError, type FeedSettings } from "../feeds/feed.ts";
import { type Checkpoint, type FileStamp, type Host, HostError } from "../host/host.ts";
import { Fate } from "../rules/fate.ts";
import { DirectiveCutter, DirectiveError } from "../syntax/directives.ts";
import {
  type FileLines,
  type LineRange,
  type TextBlock,
  lastLineStart,
  partOf,
} from "../syntax/list-scan.ts";
import type { WebTexts } from "./fetch-text.ts";
import {
  type Location,
  fileError,
  includedPath,
  isAddress,
  shownAddress,
  sourceError,
  tooLargeHint,
  tooLargeText,
} from "./limits.ts";
import { LINE_COUNT, SourceGauge, freshSalt } from "./names-of-source.ts";
import { CheckSink, FileFinder, type FoundFile } from "./read-file.ts";

/** Receives the lines of a list, in order. */
export interface LineSink {
  /** A new file starts: the list itself or one that it includes. */
  begin(label: string, place: string): FileLines;
  read(file: FileLines, block: TextBlock, stretch: LineRange): void | Promise<void>;
  /** Number of the file's line that comes next. */
  nextLine(file: FileLines): number;
  /** The file was empty. */
  blank(file: FileLines): void;
}

export interface LoadOptions {
  /** Passed between blocks; stops the reading when its signal is aborted. */
  readonly checkpoint?: Checkpoint | undefined;
  readonly blockBytes?: number | undefined;
  /** Buffers shared by lists that are read one after the other, to spare the garbage collector. */
  readonly buffers?: Uint8Array[] | undefined;
  /** For a list from the web with its includes. */
  readonly maxBytes?: number | undefined;
  readonly maxLines?: number | undefined;
  /** Whether messages must hide the path of its URL too. */
  readonly isSecret?: boolean | undefined;
  /** Whether the list is written in JSON. */
  readonly json?: boolean | undefined;
  /** Selects a file of an archive. */
  readonly member?: string | undefined;
  /** The feed that its lines are made from. */
  readonly feed?: FeedSettings | undefined;
  /** When entries of a feed must be valid; now by default. */
  readonly now?: Date | undefined;
}

const MAX_DEPTH = 8;
const MAX_FILES = 4096;
const MAX_WEB_FILES = 64;
/** A file that the list depends on. */
export interface InputFile {
  readonly path: string;
  /**
   * Undefined if the build depends on the file being absent.
   *
   * @internal
   */
  readonly stamp: FileStamp | undefined;
}

/** Where a list is, and its name in messages. */
export interface ListSource {
  readonly location: Location;
  readonly label: string;
  /** Required for a list from the web. */
  readonly texts?: WebTexts;
}

/**
 * A list with its includes. A list from the web is checked before its lines are used, which fetches all of it. Both
 * reject with a `CompilerError` if any part is unavailable.
 */
export class SourceList {
  readonly diagnostics: Diagnostic[] = [];
  bytesRead = 0;
  private checkedBytes = 0;
  private files = 0;
  private readonly host: Host;
  private readonly options: LoadOptions;
  private readonly location: Location;
  private readonly label: string;
  private sink!: LineSink;
  private readonly texts: WebTexts | undefined;
  /** Whether the list or any of its includes has text. */
  hasText = false;
  /** What its text may contain; false only after a check. */
  readonly mayHave: { badfilter: boolean } = { badfilter: true };
  private readonly finder: FileFinder;

  constructor(source: ListSource, host: Host, options: LoadOptions = {}) {
    this.texts = source.texts;
    this.location = source.location;
    this.label = source.label;
    this.host = host;
    this.options = options;
    this.finder = new FileFinder(host, options, source.texts);
  }

  /** The local files that were read, with their fingerprints at that time. */
  get inputs(): InputFile[] {
    return this.finder.inputs;
  }

  /** The same of the last read ahead. */
  readBefore: readonly InputFile[] = [];

  /** Reads the whole list without keeping lines. `gauge` measures it. */
  async check(gauge?: SourceGauge): Promise<void> {
    const sink = new CheckSink(gauge);
    await this.readInto(sink);
    this.mayHave.badfilter = sink.hasBadfilter;
    this.checkedBytes = this.bytesRead;
    this.rewind();
  }

  /** The names in its text that are among the given ones. */
  async namesAmong(names: ReadonlySet<string>): Promise<readonly string[]> {
    const gauge = new SourceGauge(freshSalt(), names);
    await this.check(gauge);
    return gauge.measure.watched;
  }

  /** Passes all blocks of text to `look` before the list is read. Errors are ignored: the later read reports them. */
  async peek(look: (text: Uint8Array) => void): Promise<void> {
    // A file without a size, such as a pipe, can be read only once.
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

  /** Reads the list in advance. It can be read again afterwards. */
  async readAhead(sink: LineSink): Promise<void> {
    await this.readInto(sink);
    this.rewind();
  }

  private rewind(): void {
    this.diagnostics.length = 0;
    this.readBefore = this.inputs.splice(0);
    this.bytesRead = 0;
    this.files = 0;
  }

  /** Skips the check of a list that an earlier run has checked. */
  assume(bytes: number): void {
    this.checkedBytes = bytes;
    this.hasText = true;
  }

  /** Releases what was fetched. */
  close(): void {
    this.texts?.close();
  }

  /** Bytes of the list, as far as they are known before it is read. */
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
    const found = await this.finder.find(location, label, root);
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
    const { place } = found;
    const isIncluded = chain.length > 0;
    const directives = new DirectiveCutter(isIncluded);
    const file = this.sink.begin(label, found.key);
    const from = { ...found, label, isWeb: location.kind === "web" };
    try {
      for await (const block of found.blocks()) {
        const checkpoint = this.options.checkpoint?.pass();
        if (checkpoint !== undefined) await checkpoint;
        if (from.isWeb) this.refuseTooLarge(found.text.bytesRead);
        const cutAt = found.isCut === true && block.isLast ? lastLineStart(block) : undefined;
        const whole = cutAt === undefined ? block : partOf(block, cutAt);
        for (const piece of directives.cut(whole, () => this.sink.nextLine(file))) {
          const line = piece.include === undefined ? 0 : this.sink.nextLine(file);
          const waiting = this.sink.read(file, block, piece);
          if (waiting !== undefined) await waiting;
          if (piece.include !== undefined)
            await this.include(piece.include, line, from, [...chain, place]);
        }
        if (cutAt !== undefined) await this.leaveOut(file, block, cutAt, label);
      }
      directives.end();
    } catch (error) {
      if (error instanceof HostError) throw fileError(label, error);
      if (error instanceof FeedError)
        throw sourceError(
          "bad-feed",
          `${printable(label)} cannot be read as a feed`,
          error.message,
        );
      if (!(error instanceof DirectiveError)) throw error;
      throw sourceError("bad-directive", printable(error.message), undefined, {
        at: { file: label, line: error.line },
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

  /** A truncated line could be a rule for another name: `||ads.example.n`. */
  private async leaveOut(
    file: FileLines,
    block: TextBlock,
    start: number,
    label: string,
  ): Promise<void> {
    const line = this.sink.nextLine(file);
    await this.sink.read(file, block, { start, end: block.bytes.length, fate: Fate.CutLine });
    this.diagnostics.push(
      warningOf(
        "cut-line",
        `${printable(label)} ends within line ${line}, which may be truncated and was skipped`,
        { subject: printable(label) },
      ),
    );
  }

  private refuseTooLarge(bytes: number): void {
    const { maxBytes = Infinity, maxLines = Infinity } = this.options;
    const lines = this.sink instanceof CheckSink ? this.sink.lines : 0;
    if (this.bytesRead + bytes <= maxBytes && lines <= maxLines) return;
    throw sourceError(
      "fetch-failed",
      `Failed to fetch ${printable(this.label)}`,
      lines > maxLines
        ? `with its includes it has more than ${maxLines} lines`
        : tooLargeText({ maxBytes }),
      { hint: tooLargeHint({ maxBytes }) },
    );
  }

  private took(bytes: number, label: string, isRepaired: boolean): void {
    this.bytesRead += bytes;
    if (!isRepaired) return;
    this.diagnostics.push(
      warningOf(
        "bad-encoding",
        `${printable(label)} is not valid UTF-8; invalid bytes were replaced by U+FFFD`,
      ),
    );
  }

  private async include(
    argument: string,
    line: number,
    from: FoundFile & { readonly label: string; readonly isWeb: boolean },
    chain: readonly string[],
  ): Promise<void> {
    const at = { file: from.label, line };
    try {
      if (argument === "") throw sourceError("bad-directive", "!#include has no file name");
      if (from.isWeb) {
        const url = URL.canParse(argument, from.place) ? new URL(argument, from.place) : undefined;
        const { isSecret = false } = this.options;
        const isElsewhere = from.folder !== "" && url?.origin !== from.folder;
        if (url === undefined || isElsewhere)
          throw sourceError(
            "bad-directive",
            `!#include leaves the list's own server: ${shownAddress(argument, isSecret)}`,
          );
        const { id, shown } = namesOfInclude(argument, url.href, from, isSecret);
        await this.load({ kind: "web", url: url.href, id }, shown, from.folder, chain);
      } else {
        if (isAddress(argument))
          throw sourceError(
            "bad-directive",
            `A local list cannot include a URL: ${shownAddress(argument)}`,
          );
        const path = includedPath(from.place, argument, this.host);
        await this.load({ kind: "file", path }, path, from.folder, chain);
      }
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      // Report the outermost line, where a user starts to look; the message names the inner files.
      throw new CompilerError(error.diagnostics.map((one) => ({ ...one, at: one.at ?? at })));
    }
  }
}

/** Targets of redirects are neither stored nor shown: their includes are named after the including file. */
function namesOfInclude(
  argument: string,
  url: string,
  from: { readonly label: string; readonly key: string; readonly id?: string | undefined },
  isSecret: boolean,
): { id: string; shown: string } {
  if (from.id !== undefined) return { id: url, shown: shownAddress(url, isSecret) };
  const path = isAddress(argument)
    ? shownAddress(argument, isSecret)
    : argument.replace(/[?#].*$/s, "?…");
  const shown = `${isSecret ? "a file" : printable(path)} that ${from.label} includes`;
  return { id: `include ${from.key} ${argument}`, shown };
}
