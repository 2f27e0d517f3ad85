import { scratchOf } from "../engine/scratch.ts";
import { sendToOutput } from "../host/send-to-output.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { WrittenFile } from "./state/build-cache.ts";
import { type KeptDraft, keepLimits, writeDraft } from "./state/kept-draft.ts";
import { learn } from "./state/list-memory.ts";
import { rememberPublish } from "./state/last-publish.ts";
import { FileSet } from "../publish/file-set.ts";
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

  /** `prepare` runs as soon as this run has the lock of the first file. */
  async open(prepare?: () => Promise<void>): Promise<void> {
    if (this.isToStdout) this.waiting = { scratch: scratchOf(this.host), length: 0 };
    for (const [index, { file }] of this.files.entries())
      await file.open(index === 0 ? prepare : undefined);
  }

  /** Opens the build records, once there is something to record. */
  async openRecords(): Promise<void> {
    for (const { record } of this.files) await ifAvailable(async () => await record?.open());
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

  /** Hands the first file of the list to a set. `timelessHead` is the list's header without its dates. */
  async stage(timelessHead: Uint8Array, set: FileSet): Promise<WriteOutcome | undefined> {
    if (this.waiting !== undefined) await this.send(this.waiting);
    const [first] = this.files;
    if (first === undefined) return undefined;
    const outcome = await first.file.stage(set, timelessHead);
    first.isNew = outcome === "written";
    return outcome;
  }

  /** Publishes the copies, after the set: they are not part of the release. */
  async publishCopies(timelessHead: Uint8Array): Promise<WrittenOutput[]> {
    const written: WrittenOutput[] = [];
    for (const [index, copy] of this.files.entries()) {
      if (index === 0) continue;
      const { path } = this.written[index]!;
      const set = new FileSet(path, this.host.path.dirname(path), this.host);
      try {
        const outcome = await copy.file.stage(set, timelessHead);
        await set.commit();
        copy.isNew = outcome === "written";
        written.push({ file: copy.name, outcome });
      } finally {
        await set.close();
      }
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
