import { decodeUtf8, encodeUtf8, lineEnd } from "../../bytes/text.ts";
import type { CompileReport, ListBesideOthers } from "../../documents/facts.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import type { Learned } from "../../engine/report.ts";
import { type KeptVersion, ListMatrix } from "../../explain/overlap.ts";
import type { ListState } from "../../explain/list-change.ts";
import type { ListShape } from "../../formats/list-model.ts";
import { readFully } from "../../host/files.ts";
import type { Host, NewFile, OpenFile } from "../../host/host.ts";
import type { OutputFile } from "../../publish/list-file.ts";
import { BuildRecord, type RecordHeader } from "../../record/build-record.ts";
import {
  type KeepLimits,
  type KeptBuild,
  draftBytesOf,
  headerOf,
  keptBuilds,
  listOf,
  timestampOf,
  numberOf,
  readRecord,
  recordBytesOf,
  recordOf,
} from "../../record/record-file.ts";
import type { SourceRuns } from "../draft/recorded-names.ts";
import { type PublishedList, openBuild, openRecorded } from "../open-build.ts";
import { type ProjectOptions, configFileOf } from "../plan/build-options.ts";
import { listFiles } from "../plan/list-plan.ts";
import { isListAlone } from "../plan/project.ts";
import type { PublishedConfig } from "../publish/publish-list.ts";

/** `@0`, `@1`, … count back from the last build. `@2026-11-15` and `@2026-11-15T06` select the last build with that prefix. */
export const BUILD: RegExp = /^@(?<which>\d{1,3}|\d{4}-\d{2}[\dT:.Z-]*)$/;

/** The build of a list that an operand selects. Rejects with a `CompilerError` if it is not kept. */
export async function buildNamed(operand: string, list: string, host: Host): Promise<KeptState> {
  const builds = (await keptBuilds(list, host)).toReversed();
  const build = selected(operand, builds);
  const state = build && (await stateOfBuild(build, host));
  if (state !== undefined) return state;
  throw buildMissing(operand, list, builds);
}

/** The build that an operand selects. Builds are ordered newest first. */
export function selected(operand: string, builds: readonly KeptBuild[]): KeptBuild | undefined {
  const which = BUILD.exec(operand)?.groups?.["which"] ?? "";
  return which.includes("-")
    ? builds.find(({ stamp }) => timestampOf(stamp).startsWith(which))
    : builds[Number(which)];
}

/** The error for a build that is not kept. Builds are ordered newest first. */
export function buildMissing(
  operand: string,
  list: string,
  builds: readonly KeptBuild[],
): CompilerError {
  const oldest = builds.at(-1);
  const cause =
    oldest && `${countText(builds.length, "build")} stored, since ${timestampOf(oldest.stamp)}`;
  return new CompilerError([
    errorOf(
      "build-missing",
      `No stored build of ${printable(list)} matches ${printable(operand)}`,
      {
        ...(cause && { cause }),
      },
    ),
  ]);
}

/** A list with its kept build, if it has one. */
export interface KeptState extends ListState {
  readonly build?: KeptBuild | undefined;
}

/** Undefined if its list cannot be read. */
async function stateOfBuild(build: KeptBuild, host: Host): Promise<KeptState | undefined> {
  const bytes = await listOf(build, host);
  return bytes && { bytes, record: await recordOf(build, host), build };
}

/** The builds of a list that can still be read, newest first. */
export async function* keptStates(
  list: string,
  host: Host,
): AsyncGenerator<{ readonly at: string; readonly state: KeptState }> {
  for (const build of (await keptBuilds(list, host)).toReversed()) {
    const state = await stateOfBuild(build, host);
    if (state === undefined) return;
    yield { at: timestampOf(build.stamp), state };
  }
}

/** A kept build, as `log` shows it. */
export interface BuildEntry {
  /** How to select it: `@0` is the published one. */
  readonly build: string;
  /** Its number in the sequence of builds. */
  readonly number: number;
  readonly at: string;
  readonly rules: number;
  /** How many rules more than in the build before; undefined for the oldest. */
  readonly change?: number;
  /** Whether all published files are the same as in the build before. */
  readonly isSame: boolean;
  /** Who asked for it. */
  readonly by?: string;
  /** When the build was made that it repeats after a rollback. */
  readonly of?: string;
  /** Whether it can be published again. */
  readonly isComplete: boolean;
}

/** Whether all parts of a build are kept. Builds of earlier versions have no draft. */
export function isComplete({ files }: KeptBuild): boolean {
  return [files.record, files.draft, files.list].every((file) => file !== undefined);
}

/** The kept builds of a list, newest first. Those whose record cannot be read are left out. */
export async function buildsOf(path: string, host: Host): Promise<BuildEntry[]> {
  const builds = await keptBuilds(path, host);
  const nameOf = (index: number): string => `@${builds.length - 1 - index}`;
  const entries: BuildEntry[] = [];
  let before: { readonly rules: number; readonly list: string | undefined } | undefined;
  for (const [index, build] of builds.entries()) {
    const header = await headerOf(build, host);
    if (header === undefined) continue;
    const { rules, by, of } = header;
    const { list } = build.files;
    entries.push({
      build: nameOf(index),
      number: numberOf(build.stamp),
      at: timestampOf(build.stamp),
      rules,
      ...(before && { change: rules - before.rules }),
      isSame: before !== undefined && list === before.list && header.hasChanged !== true,
      ...(by !== undefined && { by }),
      ...(of !== undefined && { of: timestampOf(of) }),
      isComplete: isComplete(build),
    });
    before = { rules, list };
  }
  return entries.toReversed();
}

/** The lists of a configuration beside each other, from all builds that are kept. Rejects with a `CompilerError` if one has no build. */
export async function besideOthers(
  lists: readonly string[],
  options: ProjectOptions,
  host: Host,
): Promise<ListBesideOthers[]> {
  const matrix = new ListMatrix();
  for (const list of lists) {
    const { file, path } = await openLastBuild(list, options, host);
    await file.close();
    await matrix.add(list, distinctVersions(path, host));
  }
  return matrix.result();
}

/** The kept versions of a list, the oldest first. Builds without a change share one. */
async function* distinctVersions(path: string, host: Host): AsyncGenerator<KeptVersion> {
  let last: string | undefined;
  for (const build of await keptBuilds(path, host)) {
    const { list } = build.files;
    if (list === last) continue;
    last = list;
    const bytes = await listOf(build, host);
    if (bytes !== undefined) yield { at: new Date(timestampOf(build.stamp)), bytes };
  }
}

/** The last published list and its build record. */
export interface PublishedBuild {
  readonly name: string;
  readonly path: string;
  readonly list: Uint8Array;
  readonly record: BuildRecord;
}

/** The last build of a list. Rejects with a `CompilerError` if it has no record. */
export async function lastBuild(
  listName: string,
  options: ProjectOptions,
  host: Host,
): Promise<PublishedBuild> {
  const { file, ...build } = await openLastBuild(listName, options, host);
  try {
    return { ...build, list: await readFully(file, new Uint8Array(file.size)) };
  } finally {
    await file.close();
  }
}

/** Like `lastBuild`, but with the list as a file, which the caller must close. */
export async function openLastBuild(
  listName: string,
  options: ProjectOptions,
  host: Host,
): Promise<Omit<PublishedBuild, "list"> & { readonly file: OpenFile }> {
  const output = outputOf(listName, options, host);
  return { ...output, ...(await openRecorded(output, host)) };
}

function outputOf(listName: string, options: ProjectOptions, host: Host): OutputFile {
  const [output] = listFiles(listName, options, host);
  if (output !== undefined) return output;
  throw new CompilerError([
    errorOf("record-missing", "A list written to standard output has no record"),
  ]);
}

/** The last build of a list, for queries about names. Rejects with a `CompilerError` if it has no record. */
export async function lastList(
  listName: string,
  options: ProjectOptions & { readonly cacheDir: string | undefined },
  host: Host,
): Promise<{ readonly name: string; readonly build: PublishedList }> {
  const output = outputOf(listName, options, host);
  return { name: output.name, build: await openBuild(output, options.cacheDir, host) };
}

/** The list at a path and its newest record, which may belong to another list. */
async function buildAt(
  path: string,
  host: Host,
): Promise<{ list: Uint8Array | undefined; record: BuildRecord | undefined }> {
  const list = (await host.exists(path)) ? await host.readFile(path) : undefined;
  return { list, record: await readRecord(path, host) };
}

/** The published list at a path; an empty list if it does not exist. */
export async function publishedState(path: string, host: Host): Promise<ListState> {
  const { list: bytes = new Uint8Array(0), record } = await buildAt(path, host);
  return { bytes, record: record?.header.bytes === bytes.length ? record : undefined };
}

/** Names of the selected lists, to find their files. Parsing the whole configuration takes longer than most answers. */
export async function listNames(options: ProjectOptions, host: Host): Promise<string[]> {
  const { filter } = options;
  if (isListAlone(options, host)) return [""];
  try {
    const text = await configFileOf(options, host).read();
    const { name, lists } = JSON.parse(decodeUtf8(text)) as { name?: unknown; lists?: unknown };
    if (typeof name === "string" && lists === undefined && filter.length === 0) return [name];
  } catch {
    // If the file is missing or not JSON, the configuration reader reports the problem.
  }
  const { openProject } = await import("../plan/project.ts");
  return (await openProject(options, host)).lists.map(({ config }) => config.name);
}

/** What is needed to publish a list again, beside its text and its record. */
export interface KeptDraft {
  readonly report: CompileReport;
  /** The settings that affected publishing. */
  readonly config: PublishedConfig;
  readonly shape: ListShape;
  /** The list's header without its dates. */
  readonly timelessHead: string;
  /** The sources of the rules. */
  readonly runs: SourceRuns;
  /** What was published about the sources; undefined if nothing was. */
  readonly about?: string | undefined;
  /** For the guards of the next build; kept builds do not have it. */
  readonly learned?: Learned | undefined;
}

const FORMAT = 1;
const DEFAULTS: KeepLimits = { builds: 30, days: 90 };

/** How many builds a configuration keeps. */
export function keepLimits({
  keep_builds: builds,
}: Pick<PublishedConfig, "keep_builds">): KeepLimits {
  return builds === undefined ? DEFAULTS : { builds, days: undefined };
}

/** Writes a line of JSON, then the names in sources that the list covers by their parents. */
export function writeDraft(
  { report, config, shape, timelessHead, runs, about }: KeptDraft,
  covered: () => Iterable<Uint8Array>,
  file: Pick<NewFile, "write">,
): void {
  const known = { report, config, shape, timelessHead, runs, about };
  file.write(encodeUtf8(`${JSON.stringify({ draft: FORMAT, ...known })}\n`));
  for (const piece of covered()) file.write(piece);
}

/** A kept build with everything that is needed to publish it. */
export interface WholeBuild {
  readonly draft: KeptDraft;
  readonly header: RecordHeader;
  readonly list: Uint8Array;
  readonly frames: Uint8Array;
  readonly covered: Uint8Array;
}

/** Undefined if a part is missing or damaged. */
export async function wholeBuild(build: KeptBuild, host: Host): Promise<WholeBuild | undefined> {
  const bytes = await draftBytesOf(build, host);
  const end = bytes === undefined ? 0 : lineEnd(bytes, 0);
  const draft = bytes && draftIn(decodeUtf8(bytes, 0, end < bytes.length ? end : 0));
  if (bytes === undefined || draft === undefined) return undefined;
  const [list, record] = [await listOf(build, host), await recordBytesOf(build, host)];
  const header = record && BuildRecord.headerIn(record);
  if (record === undefined || header?.bytes !== list?.length || list === undefined)
    return undefined;
  const covered = bytes.subarray(end + 1);
  const size = draft.runs.covered.reduce((sum, run) => sum + run.bytes, 0);
  if (size !== covered.length) return undefined;
  return { draft, header: header!, list, frames: BuildRecord.framesIn(record), covered };
}

function draftIn(text: string): KeptDraft | undefined {
  try {
    const found = JSON.parse(text) as (Partial<KeptDraft> & { draft?: unknown }) | null;
    const lists = [found?.report?.sources, found?.runs?.list, found?.runs?.covered];
    const isDraft =
      found?.draft === FORMAT &&
      lists.every(Array.isArray) &&
      Array.isArray(found.shape?.protectedNames) &&
      Array.isArray(found.shape.expanded?.rules ?? []) &&
      Array.isArray(found.shape.popular ?? []) &&
      typeof found.config?.name === "string" &&
      typeof found.timelessHead === "string" &&
      ["string", "undefined"].includes(typeof found.about);
    return isDraft ? (found as KeptDraft) : undefined;
  } catch {
    return undefined;
  }
}
