import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { withoutCredentials } from "../diagnostics/printable.ts";
import type { Acquired } from "../sources/acquire.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { AllowList } from "../transformations/allow.ts";
import { FETCH_DEFAULTS } from "./compile-options.ts";
import type { Engine } from "./engine.ts";
import { type Entries, EntrySink, allowListOf, filterOf, protectedOf } from "./filter-entries.ts";
import type { StageSettings } from "./plan.ts";
import type { SourceOptions } from "./source-options.ts";
import type { Filters } from "./stages-of.ts";

export interface EntryOptions {
  readonly isCompat: boolean;
  /** Whether the files may be in private networks. */
  readonly allowPrivate: boolean;
  engineOf(this: void): Engine;
  open(this: void, source: SourceOptions): Promise<Acquired>;
}

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
      Promise.all(inclusions.files.map((file) => this.read(file))),
    ]);
    return {
      exclusions: this.taken(await filterOf(exclusions.inline, excluded, false)),
      inclusions: this.taken(await filterOf(inclusions.inline, included, true)),
    };
  }

  private taken<T>({ value, warnings }: Entries<T>): T {
    this.findings.diagnostics.push(...warnings);
    return value;
  }

  /** The allow-list: entries of the configuration and of files. Rejects with a `CompilerError` that lists every invalid one. */
  async allowList(inline: readonly string[], files: readonly string[]): Promise<AllowList> {
    const lists = await Promise.all(files.map((file) => this.read(file)));
    return this.taken(allowListOf(inline, lists));
  }

  /** The names in files, one per line, in any syntax. */
  async names(files: readonly string[]): Promise<string[]> {
    const lists = await Promise.all(files.map((file) => this.read(file)));
    return this.taken(protectedOf(lists));
  }

  private async read(file: string): Promise<EntrySink> {
    const shown = withoutCredentials(file);
    const { allowPrivate, isCompat, engineOf, open } = this.options;
    const options = { ...FETCH_DEFAULTS, source: file, shown, allowPrivate };
    const { list, state } = await open(options);
    const sink = new EntrySink(!isCompat && state.kind !== "local", engineOf());
    try {
      await list.readInto(sink);
    } finally {
      list.close();
    }
    sink.end();
    this.findings.diagnostics.push(...list.diagnostics);
    this.findings.inputs.push(...list.inputs);
    return sink;
  }
}
