import { decodeUtf8 } from "../../bytes/utf8.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import type { ListState } from "../../explain/list-change.ts";
import type { Host, OpenFile } from "../../host/host.ts";
import { readFully } from "../../host/read-fully.ts";
import type { BuildRecord } from "../../record/build-record.ts";
import { readRecord } from "../../record/kept-builds.ts";
import type { OutputFile } from "../../publish/output-file.ts";
import { listFiles } from "../list-files.ts";
import { type PublishedList, openBuild, openRecorded } from "../open-build.ts";
import type { ProjectOptions } from "../build-options.ts";
import { isListAlone } from "../with-output-target.ts";

export type { BuildRecord } from "../../record/build-record.ts";
export type { RecordHeader } from "../../record/record-format.ts";

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
export async function buildAt(
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
    const text = await host.readFile(host.path.resolve(host.cwd, options.configPath));
    const { name, lists } = JSON.parse(decodeUtf8(text)) as { name?: unknown; lists?: unknown };
    if (typeof name === "string" && lists === undefined && filter.length === 0) return [name];
  } catch {
    // If the file is missing or not JSON, the configuration reader reports the problem.
  }
  const { openProject } = await import("../project.ts");
  return (await openProject(options, host)).lists.map(({ config }) => config.name);
}
