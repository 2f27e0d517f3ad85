import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { BLOCK_BYTES, BlockCutter, type TextBlock, blocksOf } from "../syntax/text-block.ts";
import { isPacked, isWide, refuseHtml } from "./decode.ts";
import { FeedFile } from "./feed-file.ts";
import type { InputFile, LoadOptions } from "./source-list.ts";
import { type Location, isBelow } from "./location.ts";
import { refuseOther } from "./not-a-list.ts";
import { fileError, sourceError } from "./source-error.ts";
import { FileBlocks } from "./text-blocks.ts";
import { unpackedText } from "./unpacked-text.ts";
import { openAgain } from "./web-text.ts";
import type { WebTexts } from "./web-texts.ts";

/** The first read, which is enough to detect the format of a file. */
const FIRST_BYTES = BLOCK_BYTES + 8192;

/** A file that was found, before it is read. */
export interface FoundFile {
  /** Its real path or address, to detect circular includes. */
  readonly place: string;
  /** Its key in records: its path, or the digest of its id. */
  readonly key: string;
  /** The folder or server that its includes may not leave; "" if the server is unknown. */
  readonly folder: string;
  /** The base of the ids of its includes; absent if another address answered. */
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

  /** `unpacked` is called if the file is packed; without it the file is known to be plain. */
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
