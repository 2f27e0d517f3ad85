import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { type RankList, RankedNames } from "../meaning/ranked-names.ts";
import type { Acquired } from "../sources/acquire.ts";
import type { SourceState } from "../sources/source-state.ts";
import type { InputFile, SourceList } from "../sources/source-list.ts";
import type { AllowList } from "../transformations/allow.ts";
import type { Engine } from "./engine.ts";
import { type Entries, EntrySink, allowListOf, filterOf, protectedOf } from "./filter-entries.ts";
import type { StageSettings } from "./plan.ts";
import { RankSink, noRanks } from "./rank-sink.ts";
import type { ScanSink } from "./scan-sink.ts";
import type { KeptRanks, SharedSources, SourceNotes } from "./shared-sources.ts";
import { type SourceConditions, droppedState } from "./source-conditions.ts";
import type { SourceOptions } from "./source-options.ts";
import type { Filters } from "./stages-of.ts";

export interface EntryOptions {
  readonly isCompat: boolean;
  engineOf(this: void): Engine;
  open(this: void, source: SourceOptions): Promise<Acquired>;
  readonly conditions: SourceConditions;
  /** Records the files of a source that another list of this run read. */
  note(this: void, source: SourceOptions, notes: Pick<SourceNotes, "state" | "files">): void;
  readonly shared: SharedSources | undefined;
}

/** A file of entries, without a list if it is left out. */
type OpenedFile =
  | Acquired
  | { readonly list: undefined; readonly state: SourceState; readonly files: undefined };

/** No line has a line feed, and so this entry matches none. */
const NOTHING = "\n";

/** Reads files of entries. Warnings and inputs go to `findings`. */
export class EntryReader {
  private readonly findings: { readonly diagnostics: Diagnostic[]; readonly inputs: InputFile[] };
  private readonly options: EntryOptions;

  constructor(findings: EntryReader["findings"], options: EntryOptions) {
    this.findings = findings;
    this.options = options;
  }

  async filters({ exclusions, inclusions }: StageSettings): Promise<Filters> {
    const [excluded, included] = await Promise.all([
      Promise.all(exclusions.files.map((file) => this.read(file))),
      Promise.all(inclusions.files.map((file) => this.readIfThere(file))),
    ]);
    const there = included.filter((one) => one !== undefined);
    // Without a file of what to include, nothing of it is included; without any entry, everything would be.
    const inline = [...inclusions.inline, ...(there.length < included.length ? [NOTHING] : [])];
    return {
      exclusions: this.taken(await filterOf(exclusions.inline, excluded, false)),
      inclusions: this.taken(await filterOf(inline, there, true)),
    };
  }

  private async open(file: SourceOptions): Promise<OpenedFile> {
    const { open, conditions } = this.options;
    try {
      const opened = await open(file);
      conditions.note(file, opened.state);
      return opened;
    } catch (error) {
      if (!(error instanceof CompilerError) || !conditions.mayLeaveOut(file, error)) throw error;
      const state = droppedState(error);
      conditions.note(file, state);
      return { list: undefined, state, files: undefined };
    }
  }

  private taken<T>({ value, warnings }: Entries<T>): T {
    this.findings.diagnostics.push(...warnings);
    return value;
  }

  /** The allow-list: entries of the configuration and of files. Rejects with a `CompilerError` that lists every invalid one. */
  async allowList(inline: readonly string[], files: readonly SourceOptions[]): Promise<AllowList> {
    const lists = await Promise.all(files.map((file) => this.read(file)));
    return this.taken(allowListOf(inline, lists));
  }

  /** The names in files, one per line, in any syntax. */
  async names(files: readonly SourceOptions[]): Promise<string[]> {
    const lists = await Promise.all(files.map((file) => this.read(file)));
    return this.taken(protectedOf(lists));
  }

  /** Lists of popular names; undefined without any. Several lists of a run read them once. */
  async ranks(sources: readonly SourceOptions[]): Promise<RankedNames | undefined> {
    if (sources.length === 0) return undefined;
    const { shared, note, conditions } = this.options;
    const key = JSON.stringify(sources);
    const known = shared?.ranks.get(key);
    if (known === undefined) {
      const read = await this.readRanks(sources);
      shared?.ranks.set(key, read);
      return read.names;
    }
    this.findings.diagnostics.push(...known.diagnostics);
    this.findings.inputs.push(...known.inputs);
    for (const { source, ...notes } of known.sources)
      if (notes.state.kind !== "local") {
        note(source, notes);
        conditions.note(source, notes.state);
      }
    return known.names;
  }

  private async readRanks(sources: readonly SourceOptions[]): Promise<KeptRanks> {
    const lists: RankList[] = [];
    const notes: KeptRanks["sources"][number][] = [];
    const { diagnostics, inputs } = this.findings;
    const said = diagnostics.length;
    const read = inputs.length;
    for (const source of sources) {
      const { list, state, files } = await this.open(source);
      notes.push({ source, state, files });
      if (list === undefined) continue;
      const sink = new RankSink(this.options.engineOf());
      await this.readInto(sink, list);
      if (sink.list.length === 0) throw noRanks(source.shown);
      lists.push(sink.list);
    }
    return {
      names: lists.length === 0 ? undefined : new RankedNames(lists),
      sources: notes,
      diagnostics: diagnostics.slice(said),
      inputs: inputs.slice(read),
    };
  }

  private async read(file: SourceOptions): Promise<EntrySink> {
    return (await this.readIfThere(file)) ?? new EntrySink(true, this.options.engineOf());
  }

  /** Undefined if it is left out. */
  private async readIfThere(file: SourceOptions): Promise<EntrySink | undefined> {
    const { isCompat, engineOf } = this.options;
    const { list, state } = await this.open(file);
    if (list === undefined) return undefined;
    const sink = new EntrySink(!isCompat && state.kind !== "local", engineOf());
    await this.readInto(sink, list);
    return sink;
  }

  private async readInto(sink: ScanSink, list: SourceList): Promise<void> {
    try {
      await list.readInto(sink);
    } finally {
      list.close();
    }
    sink.end();
    this.findings.diagnostics.push(...list.diagnostics);
    this.findings.inputs.push(...list.inputs);
  }
}
