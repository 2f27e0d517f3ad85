import type {
  DecisionUse,
  Explanation,
  LineOfFate,
  ListStats,
  TrafficStats,
} from "../documents/facts.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import { fateLines, statsOf } from "../explain/glossary.ts";
import { type ListChange, listChange } from "../explain/list-change.ts";
import { type ListPart, ListRules, SearchedNames, readParts } from "../explain/list-rules.ts";
import { SourceLines } from "../explain/source-lines.ts";
import { trafficStats } from "../explain/traffic.ts";
import { type BuildText, explainNames, sinceWhen } from "../explain/why.ts";
import { readFully } from "../host/files.ts";
import type { Host, OpenFile } from "../host/host.ts";
import type { OutputFile } from "../publish/list-file.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { keptBuilds, listOf, timestampOf, readRecord } from "../record/record-file.ts";
import type { FateName } from "../rules/fate.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { TrafficReader } from "../traffic/traffic-reader.ts";

/** A published list with its build record. It answers questions without compiling. */
export class PublishedList {
  /** The file of the list. */
  readonly path: string;
  private readonly record: BuildRecord;
  private readonly cacheDir: string | undefined;
  private readonly host: Host;

  /** @internal */
  constructor(path: string, record: BuildRecord, cacheDir: string | undefined, host: Host) {
    this.path = path;
    this.record = record;
    this.cacheDir = cacheDir;
    this.host = host;
  }

  /** @internal The decisions that it was built with. */
  get decisions(): readonly DecisionUse[] {
    return this.record.header.decisions ?? [];
  }

  /** Whether names are blocked: by which rule, from which line of which source, and since when. */
  async why(...names: string[]): Promise<Explanation[]> {
    const { record, host, path } = this;
    const file = await host.openFile(path);
    let parts: ListPart;
    try {
      parts = await readParts(file, record, names.flatMap(withParents));
    } finally {
      await file.close();
    }
    const rules = await ListRules.of(record, new SearchedNames(record, parts), names);
    const sources = new SourceLines(record, this.cacheDir, host);
    const sinceOf = async (texts: readonly string[]): ReturnType<typeof sinceWhen> =>
      await sinceWhen(texts, await this.texts());
    return await explainNames(names, { record, rules, sources, sinceOf });
  }

  /** What each source contributes, how sources overlap, and the smallest set of sources that yields every rule. */
  stats(): ListStats {
    return statsOf(this.record);
  }

  /**
   * Which sources block the queries of these logs, and which of them no other source would block; with `byClient` also the queries
   * of each client. Rejects with a `CompilerError` if a log cannot be read.
   */
  async traffic(
    logs: readonly string[],
    options: { readonly byClient?: boolean } = {},
  ): Promise<TrafficStats> {
    const { record, cacheDir, host } = this;
    const { bytes } = await this.state();
    const reader = new TrafficReader(logs, host, options);
    return await trafficStats({ list: bytes, record }, reader, cacheDir, host);
  }

  /** The changes from another list to this one. */
  async diff(before: PublishedList): Promise<ListChange> {
    return await listChange(await before.state(), await this.state());
  }

  /** The source lines with one of these fates, file by file. */
  async *lines(...fates: FateName[]): AsyncGenerator<LineOfFate> {
    const { record, cacheDir, host } = this;
    const sources = new Set(record.header.sources.keys());
    for await (const lines of fateLines(record, { fates, sources }, cacheDir, host)) yield* lines;
  }

  private async state(): Promise<Parameters<typeof listChange>[0]> {
    const file = await this.host.openFile(this.path);
    try {
      return { bytes: await readFully(file, new Uint8Array(file.size)), record: this.record };
    } finally {
      await file.close();
    }
  }

  private async texts(): Promise<BuildText[]> {
    const builds = (await keptBuilds(this.path, this.host)).toReversed();
    return builds.map((build) => ({
      at: timestampOf(build.stamp),
      text: build.files.list,
      list: async () => await listOf(build, this.host),
    }));
  }
}

/** For a list without its record. */
const CLONE_HINT =
  "Compile it again. In a clone of what the GitHub Action committed: git restore --source origin/rules-compiler-records rules/.rules-compiler";

/** Opens a list whose newest record matches it. Rejects with a `CompilerError` if no record does. */
export async function openRecorded(
  { path, name }: OutputFile,
  host: Host,
): Promise<{ readonly file: OpenFile; readonly record: BuildRecord }> {
  const shown = printable(name);
  const record = await readRecord(path, host);
  if (record === undefined || !(await host.exists(path)))
    throw new CompilerError([
      errorOf("record-missing", `No record of ${shown}`, {
        ...((await host.exists(path)) && { hint: CLONE_HINT }),
      }),
    ]);
  const file = await host.openFile(path);
  if (file.size === record.header.bytes) return { file, record };
  await file.close();
  throw new CompilerError([
    errorOf("record-outdated", `${shown} has changed since its last recorded build`),
  ]);
}

/** Opens a published list to query it. Rejects with a `CompilerError` if it has no record. */
export async function openBuild(
  output: OutputFile,
  cacheDir: string | undefined,
  host: Host,
): Promise<PublishedList> {
  const { file, record } = await openRecorded(output, host);
  await file.close();
  return new PublishedList(output.path, record, cacheDir, host);
}
