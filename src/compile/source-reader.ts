import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { withoutCredentials } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { type InputFile, type LineSink, SourceList } from "../sources/load-list.ts";
import type { CompileOptions } from "./compile.ts";
import { EntrySink, filterOf } from "./filter-entries.ts";
import { inParallel } from "./in-parallel.ts";
import type { Filters } from "./level.ts";
import { locate } from "./locate.ts";
import type { Passes, PlannedSource } from "./plan.ts";

const FETCHES_AT_ONCE = 8;

/** Reads sources and files of entries, and remembers what is to be said about them. */
export class SourceReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly failures: Diagnostic[] = [];
  /** The files that the list depends on; `undefined` stands for what came from the web. */
  readonly inputs: (InputFile | undefined)[] = [];
  private readonly host: Host;
  private readonly options: CompileOptions;
  private readonly lists: (SourceList | undefined)[] = [];
  private readonly buffers: Uint8Array[] = [];

  constructor(host: Host, options: CompileOptions) {
    this.host = host;
    this.options = options;
  }

  /** Fetches what comes from the web, several sources at a time. Every failing one is remembered, not only the first. */
  async fetch(sources: readonly PlannedSource[]): Promise<void> {
    await inParallel(sources, FETCHES_AT_ONCE, async ({ index, source, label }) => {
      this.options.onProgress?.({ kind: "source-started", source: index, label });
      await this.attempt(index, label, async () => {
        const list = await this.open(source);
        this.lists[index] = list;
        await list.fetch();
      });
    });
  }

  /** Bytes of all sources, as far as they are known before they are read. */
  async size(): Promise<number> {
    let size = 0;
    for (const list of this.lists) size += (await list?.size()) ?? 0;
    return size;
  }

  /** Reads a source to its end. Returns the bytes of its text, or undefined when it failed. */
  async read({ index, label }: PlannedSource, sink: LineSink): Promise<number | undefined> {
    const list = this.lists[index];
    if (list === undefined) return undefined;
    this.lists[index] = undefined;
    const isRead = await this.attempt(index, label, () => list.readInto(sink));
    this.diagnostics.push(...list.diagnostics);
    this.inputs.push(...list.inputs);
    if (!isRead) return undefined;
    const bytes = list.bytesRead;
    this.options.onProgress?.({ kind: "source-read", source: index, label, bytes });
    return bytes;
  }

  async filters({ exclusions, inclusions }: Passes): Promise<Filters> {
    const [excluded, included] = await Promise.all([
      Promise.all(exclusions.files.map((file) => this.entries(file))),
      Promise.all(inclusions.files.map((file) => this.entries(file))),
    ]);
    return {
      exclusions: await filterOf(exclusions.inline, excluded),
      inclusions: await filterOf(inclusions.inline, included),
    };
  }

  private async entries(file: string): Promise<EntrySink> {
    const sink = new EntrySink();
    const list = await this.open(file);
    await list.readInto(sink);
    sink.end();
    this.diagnostics.push(...list.diagnostics);
    this.inputs.push(...list.inputs);
    return sink;
  }

  private async open(source: string): Promise<SourceList> {
    const { host, options } = this;
    const folder = options.configFolder ?? host.cwd;
    const location = await locate(source, folder, host, this.diagnostics, this.inputs);
    const { signal, blockBytes } = options;
    const { buffers } = this;
    const label = withoutCredentials(source);
    return new SourceList(location, label, host, { signal, blockBytes, buffers });
  }

  private async attempt(
    index: number,
    label: string,
    action: () => Promise<void>,
  ): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      this.lists[index] = undefined;
      this.options.onProgress?.({ kind: "source-failed", source: index, label });
      this.failures.push(...error.diagnostics);
      return false;
    }
  }
}
