import { scratchOf } from "../engine/scratch.ts";
import { sendToOutput } from "../host/send-to-output.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { WrittenFile } from "./state/build-cache.ts";
import { type KeptDraft, keepLimits, writeDraft } from "./state/kept-draft.ts";
import { learn } from "./state/list-memory.ts";
import { rememberPublish } from "./state/last-publish.ts";
import { ListFile, type WriteOutcome } from "../publish/list-file.ts";
import type { Host, NewFile, Scratch } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { RecordFile } from "../record/record-file.ts";
import type { RecordHeader } from "../record/record-format.ts";

/** An output of a list, and whether it was replaced. */
export interface WrittenOutput extends WrittenFile {
  readonly outcome: WriteOutcome;
}

export interface OutputOptions {
  /** Whether to write a build record. */
  readonly record: boolean;
  readonly isToStdout: boolean;
  /** Absolute path of the configuration; undefined if it does not come from a file, or if its file is not known. */
  readonly config?: string | undefined;
}

const PIECE = 1024 * 1024;

/** All destinations of a list: the file of `-o`, the rules directory, standard output. */
export class ListOutputs {
  /** The last byte of the list so far. */
  lastByte: number | undefined;
  private readonly host: Host;
  private readonly config: string | undefined;
  private readonly files: readonly {
    readonly name: string;
    readonly file: ListFile;
    readonly record: RecordFile | undefined;
    /** Whether the list differs from the previous one. */
    isNew: boolean;
  }[];
  readonly isToStdout: boolean;
  /** The files to write. */
  readonly written: readonly OutputFile[];
  /** Buffers standard output until the list is complete. */
  private waiting: { readonly scratch: Scratch; length: number } | undefined;

  constructor(
    files: readonly OutputFile[],
    { record, isToStdout, config }: OutputOptions,
    host: Host,
  ) {
    this.host = host;
    this.config = config;
    this.isToStdout = isToStdout;
    this.written = files;
    this.files = files.map(({ name, path }) => ({
      name,
      file: new ListFile(path, host),
      record: record ? new RecordFile(path, host) : undefined,
      isNew: true,
    }));
  }

  async open(): Promise<void> {
    if (this.isToStdout) this.waiting = { scratch: scratchOf(this.host), length: 0 };
    for (const { file, record } of this.files) {
      await file.open();
      await ifAvailable(async () => await record?.open());
    }
  }

  write(bytes: Uint8Array): void {
    this.lastByte = bytes.at(-1) ?? this.lastByte;
    for (const { file } of this.files) file.write(bytes);
    if (this.waiting === undefined || bytes.length === 0) return;
    this.waiting.scratch.append(bytes);
    this.waiting.length += bytes.length;
  }

  get keepsRecord(): boolean {
    return this.files.some(({ record }) => record !== undefined);
  }

  /** Writes frames of the build record. A failure does not affect the list. */
  writeRecord(bytes: Uint8Array): void {
    for (const { record } of this.files) record?.write(bytes);
  }

  /**
   * `timelessHead` is the list's header without its dates. `beside` is called for each list that changed, with its previous
   * bytes.
   */
  async publish(
    timelessHead: Uint8Array,
    beside?: (path: string, old: Uint8Array | undefined) => Promise<unknown>,
  ): Promise<WrittenOutput[]> {
    if (this.waiting !== undefined) await this.send(this.waiting);
    const written: WrittenOutput[] = [];
    for (const [index, { name, file }] of this.files.entries()) {
      const { path } = this.written[index]!;
      const isThere = beside !== undefined && (await this.host.exists(path));
      const old = isThere ? await this.host.readFile(path) : undefined;
      const outcome = await file.publish(timelessHead);
      written.push({ file: name, outcome });
      this.files[index]!.isNew = outcome === "written";
      if (outcome === "written") await beside?.(path, old);
    }
    return written;
  }

  /** Saves what was published, for the guards of the next build. Call it before `close`, while this run holds the locks. */
  async remember(
    draft: KeptDraft,
    header: RecordHeader,
    covered: () => Iterable<Uint8Array>,
  ): Promise<void> {
    const { report, learned } = draft;
    for (const { path } of this.written) {
      await rememberPublish(path, report, this.config, this.host);
      if (learned !== undefined) await learn(path, learned, this.host);
    }
    const kept = {
      header,
      keep: keepLimits(draft.config),
      writeDraft: (file: Pick<NewFile, "write">) => writeDraft(draft, covered, file),
    };
    for (const { record, isNew } of this.files)
      await ifAvailable(async () => await record?.finish({ ...kept, isNew }));
  }

  /** Removes unpublished files and releases the locks. */
  async close(): Promise<void> {
    this.waiting?.scratch.close();
    this.waiting = undefined;
    for (const { file, record } of this.files) {
      await record?.close();
      await file.close();
    }
  }

  private async send({ scratch, length }: { scratch: Scratch; length: number }): Promise<void> {
    for (let at = 0; at < length; at += PIECE) {
      const piece = new Uint8Array(Math.min(PIECE, length - at));
      scratch.read(at, piece);
      await sendToOutput(piece, this.host);
    }
    scratch.close();
    this.waiting = undefined;
  }
}
