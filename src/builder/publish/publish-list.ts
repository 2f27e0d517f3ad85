import { createHash } from "node:crypto";
import { encodeUtf8, equalBytes } from "../../bytes/text.ts";
import type { Config } from "../../config/lists.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../../diagnostics/render.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { countText, printable, reasonOf } from "../../diagnostics/text.ts";
import { scratchOf } from "../../engine/compile-options.ts";
import { type HeaderConfig, type HeaderValues, headerTexts } from "../../formats/header.ts";
import type { ListShape } from "../../formats/list-model.ts";
import type { NameBuffer } from "../../formats/names.ts";
import { ifAvailable, outputFailed, PACKED_ENDING, sendToOutput } from "../../host/files.ts";
import { type Host, HostError, type NewFile, type Scratch } from "../../host/host.ts";
import {
  FileSet,
  Journal,
  type JournalEnd,
  NamedFiles,
  type ReleaseNames,
} from "../../publish/file-set.ts";
import { FormatOutputs } from "../../publish/format-outputs.ts";
import { ListFile, type OutputFile } from "../../publish/list-file.ts";
import {
  type NoticedSource,
  manifestKey,
  noticeText,
  pathOfManifest,
  pathOfNotice,
  releasePaths,
  writeManifest,
} from "../../publish/manifest.ts";
import type { OutputPlan } from "../../publish/output-plan.ts";
import { PATCH_FOLDER, removeExpired, writePatch } from "../../publish/patches.ts";
import type { RecordHeader } from "../../record/build-record.ts";
import { HistoryLog, RecordFile, ignoreRecords, nextNumber } from "../../record/record-file.ts";
import { digestOfFile, needCopies } from "../../sources/copies.ts";
import { type BuildContext, type ListOutcome, askedBy, phase } from "../build.ts";
import type { BuildOptions } from "../plan/build-options.ts";
import { refusePlaces } from "../plan/list-plan.ts";
import { type KeptDraft, keepLimits, writeDraft } from "../state/kept-builds.ts";
import type { Conditions } from "../state/conditions.ts";
import { type PublishedFiles, learn, rememberPublish } from "../state/list-state.ts";
import type {
  CompileReport,
  HistoryEntry,
  WrittenOutput,
  WriteOutcome,
} from "../../documents/facts.ts";

/** The settings that affect publishing. */
export type PublishedConfig = HeaderConfig &
  Pick<Config, "outputs" | "patches" | "manifest" | "notice" | "guards" | "keep_builds">;

/** Everything that is published with a list. */
export interface ListToPublish {
  readonly config: PublishedConfig;
  readonly outputPlans: readonly OutputPlan[];
  readonly nameBuffer: NameBuffer | undefined;
  readonly shape: ListShape;
  /** Guards that may be overruled in this run. */
  readonly accept: readonly string[];
  readonly builtAt: Date;
  /** The list's header without its dates. */
  readonly timelessHead: string;
  /** The version that compiled it. */
  readonly tool: string;
  readonly sources: readonly NoticedSource[];
  readonly configFolder: string;
  readonly rulesDir: string;
  /** SHA-256 of the files that were planned, by path. Nothing is published if a file differs. */
  readonly planned?: ReadonlyMap<string, string>;
  /** What is published about the sources. */
  readonly sourcesFile?: { readonly path: string; readonly text: string } | undefined;
}

/** What was published. */
export interface Published {
  readonly written: WrittenOutput[];
  readonly files: readonly OutputFile[];
  readonly names: readonly string[];
  /** What guards found in the files and the caller accepted. */
  readonly overruled: readonly Diagnostic[];
}

/** What a hold keeps of a publish. */
export function filesOf({ written, names }: Published): PublishedFiles {
  return { written: written.map(({ outcome: _outcome, ...one }) => one), files: names };
}

/** The part of a configuration that a kept build needs. It has no URLs, which may contain passwords. */
export function publishedConfig(config: PublishedConfig): PublishedConfig {
  const { name, title, description, version, homepage, license, expires, header } = config;
  const { outputs, patches, manifest, notice, keep_builds } = config;
  const guards = { min_rules: config.guards?.min_rules };
  const head = { name, title, description, version, homepage, license, expires, header };
  const all = { ...head, outputs, patches, manifest, notice, guards, keep_builds };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as PublishedConfig;
}

/** Writes all files of a list and publishes them together. If one cannot be written, nothing is published. */
export async function publishList(
  outputs: ListOutputs,
  publication: ListToPublish,
  host: Host,
): Promise<Published> {
  const { config, nameBuffer, shape, accept, builtAt, sources, tool } = publication;
  // The release has the first file of the list; others are copies.
  const [list, ...copies] = outputs.written;
  const rulesDir = host.path.resolve(host.cwd, publication.rulesDir);
  const home = list?.path ?? publication.outputPlans[0]?.path ?? rulesDir;
  const set = new FileSet(home, rulesDir, host);
  const timelessHead = encodeUtf8(publication.timelessHead);
  let overruled: readonly Diagnostic[] = [];
  const formatOutputs = new FormatOutputs(
    publication.outputPlans,
    config.guards?.min_rules ?? 1,
    host,
  );
  try {
    // Reports an invalid key before anything is published.
    const key = await manifestKey(config, publication.configFolder, host);
    if (nameBuffer !== undefined) {
      const head = (values: HeaderValues): string[] =>
        headerTexts(config, { ...values, compiler: tool, showsCount: true });
      const found = await formatOutputs.write(nameBuffer, shape, head, builtAt);
      const refused = found.filter(({ code }) => !accept.includes(code));
      if (refused.length > 0) throw new CompilerError(refused);
      overruled = found;
    }
    const outcome = await outputs.stage(timelessHead, set);
    const isPatched = list !== undefined && outcome === "written" && config.patches !== undefined;
    if (isPatched) await writePatch(list.path, set, host);
    const labels = sources.map(({ label }) => label);
    const formats = await formatOutputs.stage(labels, set);
    const files = [...outputs.written, ...formatOutputs.files];
    const { planned } = publication;
    if (planned !== undefined)
      await requirePlanned(
        files.filter((file) => !copies.includes(file)),
        planned,
        set,
      );
    const notice = pathOfNotice(config, publication.rulesDir, host);
    const about = [
      publication.sourcesFile,
      notice === undefined ? undefined : { path: notice, text: noticeText(config.name, sources) },
    ].filter((file) => file !== undefined);
    for (const { path, text } of about)
      if (!(await hasText(path, text, host)))
        await set.write(path, (file) => file.write(encodeUtf8(text)));
    if (config.manifest !== undefined) {
      const path = pathOfManifest(config, publication.rulesDir, host);
      const released = files.filter((file) => !copies.includes(file));
      const paths = [...released, ...about].map((file) => file.path);
      const release = { path, files: paths, builtAt, key };
      await writeManifest(config, release, set, host);
    }
    await set.commit();
    const written: WrittenOutput[] = [
      ...(list === undefined || outcome === undefined ? [] : [{ file: list.name, outcome }]),
      ...(await outputs.publishCopies(timelessHead)),
      ...formats,
    ];
    await formatOutputs.settle();
    if (isPatched) await removeExpired(list.path, config, host);
    const names = [...files.map(({ name }) => name), ...namesBeside(outputs, publication, host)];
    return { written, files, names, overruled };
  } catch (error) {
    throw outputFailed("Cannot write what belongs to the list", error);
  } finally {
    await set.close();
    await formatOutputs.close();
  }
}

async function hasText(path: string, text: string, host: Host): Promise<boolean> {
  const bytes = await ifAvailable(async () => await host.readFile(path));
  return bytes !== undefined && equalBytes(bytes, encodeUtf8(text));
}

/** Rejects with a `CompilerError` if a file of the set is not the one that was planned. Compressed copies are made from these. */
async function requirePlanned(
  files: readonly OutputFile[],
  planned: ReadonlyMap<string, string>,
  set: FileSet,
): Promise<void> {
  const names = new Map(files.map(({ path, name }) => [path, name]));
  for (const { path, name } of files) {
    const isCopy = planned.has(path.replace(PACKED_ENDING, ""));
    if (!planned.has(path) && !isCopy) throw otherThanPlanned(name);
  }
  for (const [path, sha256] of planned)
    if ((await set.digestOf(path)) !== sha256) throw otherThanPlanned(names.get(path) ?? path);
}

function otherThanPlanned(name: string): CompilerError {
  const message = `${printable(name)} would not be the file that was planned`;
  return new CompilerError([errorOf("plan-outdated", message)]);
}

/** What is published beside the list's own files: the folder of patches, and the manifest with its signature. */
function namesBeside(
  { written }: ListOutputs,
  { config, rulesDir, sourcesFile }: ListToPublish,
  host: Host,
): string[] {
  const release = releasePaths(config, rulesDir, host);
  if (sourcesFile !== undefined) release.push(sourcesFile.path);
  const patches =
    config.patches === undefined
      ? []
      : written.slice(0, 1).map(({ name }) => host.path.dirname(name));
  return [
    ...patches.map((folder) => host.path.join(folder, PATCH_FOLDER)),
    ...release.map((path) => host.path.relative(host.cwd, path)),
  ];
}

interface OutputOptions {
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
    { draft, header, published }: { draft: KeptDraft; header: RecordHeader; published: Published },
    covered: () => Iterable<Uint8Array>,
  ): Promise<void> {
    const { report, learned } = draft;
    const known = { report, left: filesOf(published) };
    for (const { path } of this.written) {
      await rememberPublish(path, known, this.config, this.host);
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
    for (const { path } of this.written)
      await ifAvailable(async () => await ignoreRecords(path, this.host));
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

/** A list that is published: by a build, from a saved plan, or again. */
export interface ListRelease {
  readonly files: readonly OutputFile[];
  readonly outputs: ListOutputs;
  readonly publication: ListToPublish;
  /** What is kept of it, for `rollback` and for the guards of the next build. */
  readonly draft: KeptDraft;
  readonly covered: () => Iterable<Uint8Array>;
  /** The header of its record, once everything is written. */
  readonly record: () => RecordHeader;
  /** SHA-256 of the copies that it was compiled from. */
  readonly copies: readonly string[];
  readonly fact: Fact;
  /** `publishList`, or what writes the list elsewhere. */
  readonly write?: () => Promise<Published>;
  /** Called when the files are there, before anything else. */
  readonly onPublished?: (published: Published) => Promise<void>;
}

/** Publishes a list, and stores what later runs and commands must know about it. The caller holds the locks. */
export async function releaseList(
  { files, outputs, publication, draft, covered, record, copies, fact, ...more }: ListRelease,
  context: BuildContext,
): Promise<{ readonly published: Published; readonly isWritten: boolean }> {
  const { options, host, signal, emit } = context;
  const { name: list } = draft.report;
  signal.throwIfAborted();
  emit({ kind: "publishing", list });
  const published = await phase(
    "publish",
    context,
    more.write ?? (async () => await publishList(outputs, publication, host)),
    ({ files: all }) => countText(all.length, "file"),
  );
  await more.onPublished?.(published);
  emit({ kind: "published", list, file: files[0] });
  const isWritten = published.written.some(({ outcome }) => outcome === "written");
  const { hasChanged: _hasChanged, ...known } = record();
  const header = { ...known, ...(isWritten && { hasChanged: true as const }) };
  // The log has the sources of a build that is published again.
  await notePublished(files, fact, fact.event === "rolled-back" ? undefined : header, context);
  await phase(
    "record",
    context,
    async () => {
      const own = { ...header, by: askedBy(options, host) };
      await outputs.remember({ draft, header: own, published }, covered);
    },
    () => (outputs.keepsRecord ? "kept" : "none"),
  );
  const path = files[0]?.path;
  // To answer questions about it later.
  if (options.cacheDir !== undefined && path !== undefined && copies.length > 0)
    await needCopies(options.cacheDir, { path, objects: copies }, host);
  return { published, isWritten };
}

/** A list that could not be published. */
interface FailedRelease {
  readonly list: string;
  readonly files: readonly OutputFile[];
  readonly error: CompilerError;
  /** Warnings so far. */
  readonly warnings: readonly Diagnostic[];
  readonly conditions: Conditions;
  /** Undefined if the list could not be compiled. */
  readonly draft?: { readonly report: CompileReport; readonly record: RecordHeader } | undefined;
  readonly named?: ReadonlySet<string> | undefined;
}

/** The outcome of a list that a guard refused or that could not be published, which the log and the conditions then have, and its warnings. */
export async function failedList(
  { list, files, error, warnings, conditions, draft, named }: FailedRelease,
  context: BuildContext,
): Promise<{ readonly outcome: ListOutcome; readonly warnings: readonly Diagnostic[] }> {
  const refused = error.exit === Exit.Guard ? draft : undefined;
  if (refused !== undefined) {
    const from = await digestsOf(refused.record, context);
    const guards = [...new Set(error.diagnostics.map(({ code }) => code))];
    const { rules } = refused.report;
    await noteHistory(files, { event: "refused", rules, guards, from }, context);
  }
  // The list is the subject of its errors, so that their end is reported once.
  const errors = error.diagnostics.map((one) =>
    one.severity === "error" ? { ...one, subject: list } : one,
  );
  const diagnostics = [...warnings, ...errors];
  // The list stays as it is, and the next compile applies the decision: no problem begins.
  const settled = isTextLost(error)
    ? diagnostics
    : await conditions.settle(
        { finder: "build", diagnostics, isPartial: refused === undefined, named },
        async (change) => await noteHistory(files, change, context),
      );
  const own = settled.length - errors.length;
  const outcome = failedOutcome(list, error.exit, settled.slice(own));
  return {
    outcome:
      refused === undefined ? outcome : { ...outcome, status: "refused", report: refused.report },
    warnings: settled.slice(0, own),
  };
}

/** Whether a list stays as it is, because the text of one of its sources is not stored. */
export function isTextLost({ diagnostics }: Pick<ListOutcome, "diagnostics">): boolean {
  return diagnostics.some(({ code }) => code === "published-text-lost");
}

/** The outcome of a list that could not be built. */
export function failedOutcome(
  list: string,
  exit: Exit,
  diagnostics: readonly Diagnostic[],
): ListOutcome {
  const nothing = { outputs: [], files: [], inputs: [], seconds: 0, isCached: false } as const;
  return { list, status: "failed", exit, diagnostics, ...nothing };
}

type Fact = Omit<HistoryEntry, "at" | "build" | "by" | "to" | "from">;

/** That a list was published, the guards that the caller accepted, and the decisions that it was built for. */
export function publishedFact(
  { rules }: Pick<CompileReport, "rules">,
  { accept, decided }: Pick<BuildOptions, "accept" | "decided">,
): Fact {
  const fact = { rules, ...(decided !== undefined && { what: decided }) };
  if (accept.length === 0) return { event: "published", ...fact };
  return { event: "accepted", ...fact, guards: accept };
}

/** Writes an event into the log of a list. The caller holds the locks. A failure is reported and does not stop the run. */
export async function noteHistory(
  files: readonly OutputFile[],
  fact: Fact & Pick<HistoryEntry, "from">,
  context: BuildContext,
): Promise<void> {
  for (const file of files) await attempt(file, context, () => append(file, fact, context));
}

/** Writes that a list was published, unless the log says so already. `header` names its sources. */
export async function notePublished(
  files: readonly OutputFile[],
  fact: Fact,
  header: RecordHeader | undefined,
  context: BuildContext,
): Promise<void> {
  const { host } = context;
  for (const file of files)
    await attempt(file, context, async () => {
      const to = await digestOfFile(file.path, host);
      const isKnown = to === (await new HistoryLog(file.path, host).lastDigest());
      if (to === undefined || (isKnown && fact.event !== "rolled-back")) return;
      const from = header === undefined ? {} : { from: await digestsOf(header, context) };
      await append(file, { ...fact, ...from, to }, context);
    });
}

async function append(
  { path }: OutputFile,
  fact: Omit<HistoryEntry, "at" | "build" | "by">,
  { options, host }: BuildContext,
): Promise<void> {
  const at = host.now().toISOString();
  const build = await nextNumber(path, host);
  await new HistoryLog(path, host).append({ at, build, by: askedBy(options, host), ...fact });
}

async function attempt(
  { name }: OutputFile,
  { emit }: BuildContext,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const cause = reasonOf(error.code, error.message);
    const message = `Cannot write the log of ${printable(name)}`;
    emit({ kind: "diagnostic", diagnostic: warningOf("log-failed", message, { cause }) });
  }
}

/** Reading larger local files a second time would cost a tenth of a large build. */
const LARGEST_LOCAL = 1024 * 1024;

/** Undefined if the file has changed since it was read. */
async function localDigest(
  path: string | undefined,
  stamp: string | undefined,
  host: Host,
): Promise<string | undefined> {
  if (path === undefined || (await host.stampOf(path))?.text !== stamp) return undefined;
  return (await host.sizeOf(path)) > LARGEST_LOCAL ? undefined : await digestOfFile(path, host);
}

/** The sources, with the SHA-256 of what was read if it is known. For several files of a source, that of their digests. */
export async function digestsOf(
  { sources, files }: RecordHeader,
  { host }: Pick<BuildContext, "host">,
): Promise<NonNullable<HistoryEntry["from"]>> {
  const read = new Map<number, (string | undefined)[]>();
  for (const { source, sha256, path, stamp, isOwn } of files) {
    if (isOwn === true) continue;
    const digest = sha256 ?? (await localDigest(path, stamp, host));
    read.set(source, [...(read.get(source) ?? []), digest]);
  }
  return [...read].map(([source, digests]) => {
    const label = sources[source]?.label ?? "";
    if (digests.includes(undefined)) return { source: label };
    const [only] = digests;
    const sha256 =
      digests.length === 1 ? only! : createHash("sha256").update(digests.join("\n")).digest("hex");
    return { source: label, sha256 };
  });
}

type FinishContext = Pick<BuildContext, "options" | "host" | "emit">;

/**
 * Completes or undoes what a killed run left of a release: its journal, then its temporary files. The caller holds the lock of the
 * list. Only files are touched that the configuration names now, and that it may write. Rejects with a `HostError`.
 */
export async function finishPublish(names: ReleaseNames, context: FinishContext): Promise<void> {
  const { host } = context;
  const [list] = names.files;
  if (list === undefined) return;
  const named = new NamedFiles(names, host);
  const root = host.path.resolve(host.cwd, context.options.rulesDir);
  await finishJournal(list, root, (path) => named.has(path), context);
  await named.removeLeftovers();
}

/** Completes or undoes an unfinished set of files, and says so. `home` is its first file. */
export async function finishJournal(
  { name, path: home }: OutputFile,
  root: string,
  isNamed: (path: string) => boolean,
  { options, host, emit }: FinishContext,
): Promise<void> {
  const end = await new Journal(home, root, host).finish(
    async (path) => isNamed(path) && (await mayWrite(path, options, host)),
  );
  if (end !== undefined) emit({ kind: "diagnostic", diagnostic: endNote(name, end) });
}

async function mayWrite(
  path: string,
  options: FinishContext["options"],
  host: Host,
): Promise<boolean> {
  try {
    await refusePlaces([{ name: path, path }], options, host);
    return true;
  } catch (error) {
    if (error instanceof CompilerError) return false;
    throw error;
  }
}

function endNote(name: string, end: JournalEnd): Diagnostic {
  const what = `The last publish of ${printable(name)} was interrupted`;
  if (end === "left")
    return warningOf("publish-unfinished", `${what}; its files may be of two builds`);
  const message = `${what}; it is now ${end}`;
  return { code: "publish-unfinished", severity: "note", message };
}
