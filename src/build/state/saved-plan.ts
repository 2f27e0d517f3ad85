import { decodeUtf8, encodeUtf8 } from "../../bytes/utf8.ts";
import type { OutputFile } from "../../publish/output-file.ts";
import type { CombinedPlan } from "../combined-plan.ts";
import type { Lockfile } from "../lockfile.ts";
import type { Learned } from "../../engine/compiled-list.ts";
import type { CompileReport } from "../../engine/report.ts";
import { outputFailed } from "../../publish/output-failed.ts";
import { VERSION } from "../../diagnostics/version.ts";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { reasonOf } from "../../diagnostics/reason.ts";
import { type Host, HostError } from "../../host/host.ts";
import { ifAvailable } from "../../host/if-available.ts";
import { readFully } from "../../host/read-fully.ts";
import { writeWhole } from "../../host/write-whole.ts";
import type { ListShape } from "../../formats/list-model.ts";
import type { RecordHeader } from "../../record/record-format.ts";
import type { ListPlace } from "./hold.ts";
import { digestOfFile } from "../../sources/source-store.ts";
import type { PublishedConfig } from "../publish-list.ts";
import type { SourceRuns } from "../recorded-names.ts";

/** Everything that `apply` needs to publish what `plan` showed. */
export interface SavedPlan {
  readonly report: CompileReport;
  readonly refused: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** Where the list goes, and the SHA-256 of the previous file; null if there was none. */
  readonly files: readonly (OutputFile & { readonly was: string | null })[];
  readonly record: RecordHeader;
  /** The settings that affect publishing. */
  readonly config: PublishedConfig;
  /** The folder of the additional files. */
  readonly rulesDir: string;
  readonly shape: ListShape;
  /** The list's header without its dates. */
  readonly timelessHead: string;
  /** The sources of the rules. */
  readonly runs: SourceRuns;
  /** What is published about the sources. */
  readonly about?: string | undefined;
  /** The lock to write, and its folder. */
  readonly lock?: Lockfile | undefined;
  readonly folder: string;
  /** For the guards of the next build. */
  readonly learned?: Learned | undefined;
  /** The files over several lists. */
  readonly combined: readonly CombinedPlan[];
  /** The options that find the list again, as they were given. */
  readonly place: ListPlace;
  /** SHA-256 of the list and of each file in another format, by its path relative to `rulesDir`; compressed copies follow from them. */
  readonly digests: Readonly<Record<string, string>>;
}

/** A list of a saved plan. */
export interface PlannedList {
  readonly plan: SavedPlan;
  readonly bytes: SavedBytes;
}

export interface SavedBytes {
  readonly list: Uint8Array;
  /** Names in sources that the list covers by their parents. */
  readonly covered: Uint8Array;
  /** Frames of the build record. */
  readonly frames: Uint8Array;
}

interface Head extends SavedPlan {
  readonly plan: 1;
  readonly tool: string;
  readonly listBytes: number;
  readonly coveredBytes: number;
  readonly framesBytes: number;
}

/** Writes for each list a line of JSON, then the list, the covered names and the frames. */
export async function writePlans(
  path: string,
  lists: readonly PlannedList[],
  host: Host,
): Promise<void> {
  await refuseOther(path, host);
  try {
    await writeWhole(host.path.resolve(host.cwd, path), host, (file) => {
      for (const { plan, bytes } of lists) {
        const { list, covered, frames } = bytes;
        const head: Head = {
          plan: 1,
          tool: VERSION,
          listBytes: list.length,
          coveredBytes: covered.length,
          framesBytes: frames.length,
          ...plan,
        };
        file.write(encodeUtf8(`${JSON.stringify(head)}\n`));
        for (const piece of [list, covered, frames]) file.write(piece);
      }
    });
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

/** How every saved plan begins. */
const OPENING = '{"plan":';

/** A plan replaces another plan or an empty file, but not a configuration or a list. */
async function refuseOther(path: string, host: Host): Promise<void> {
  const opened = await ifAvailable(() => host.openFile(host.path.resolve(host.cwd, path)));
  if (opened === undefined) return;
  const start = decodeUtf8(await readFully(opened, new Uint8Array(OPENING.length)));
  await opened.close();
  if (start === "" || start === OPENING) return;
  const message = `--save would overwrite ${printable(path)}, which is not a saved plan`;
  throw new CompilerError([errorOf("overwrites-input", message)]);
}

/** The lists of a plan. Rejects with a `CompilerError` if the file cannot be read or is not a plan of this version. */
export async function readPlans(path: string, host: Host): Promise<PlannedList[]> {
  const bytes = await host.readFile(host.path.resolve(host.cwd, path)).catch((error: unknown) => {
    if (!(error instanceof HostError)) throw error;
    throw unreadable(path, reasonOf(error.code, error.message));
  });
  const lists: PlannedList[] = [];
  for (let at = 0; at < bytes.length || at === 0;) {
    const end = bytes.indexOf(10, at);
    const head = headIn(decodeUtf8(bytes, at, Math.max(end, at)));
    if (head === undefined) throw unreadable(path, "it is not a plan");
    if (head.tool !== VERSION)
      throw unreadable(path, `version ${printable(head.tool, 20)} saved it`);
    const coveredAt = end + 1 + head.listBytes;
    const framesAt = coveredAt + head.coveredBytes;
    const next = framesAt + head.framesBytes;
    if (next > bytes.length) throw unreadable(path, "it ends too early");
    const list = bytes.subarray(end + 1, coveredAt);
    const covered = bytes.subarray(coveredAt, framesAt);
    lists.push({ plan: head, bytes: { list, covered, frames: bytes.subarray(framesAt, next) } });
    at = next;
  }
  return lists;
}

function unreadable(path: string, cause: string): CompilerError {
  return new CompilerError([
    errorOf("plan-unreadable", `Cannot apply ${printable(path)}`, { cause }),
  ]);
}

function headIn(text: string): Head | undefined {
  try {
    const head = JSON.parse(text) as Partial<Head> | null;
    const lists = [
      head?.files,
      head?.refused,
      head?.warnings,
      head?.report?.sources,
      head?.runs?.list,
      head?.runs?.covered,
      head?.shape?.protectedNames,
      head?.shape?.expanded?.rules ?? [],
      head?.shape?.popular ?? [],
      head?.combined,
    ];
    const isPlan =
      head?.plan === 1 &&
      lists.every(Array.isArray) &&
      [head.listBytes, head.coveredBytes, head.framesBytes].every(
        (size) => Number.isSafeInteger(size) && size! >= 0,
      ) &&
      typeof head.digests === "object" &&
      head.digests !== null &&
      typeof head.record?.builtAt === "string" &&
      typeof head.config?.name === "string" &&
      typeof head.rulesDir === "string" &&
      typeof head.place?.configPath === "string" &&
      typeof (head.place.output ?? "") === "string" &&
      typeof head.timelessHead === "string";
    return isPlan ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

/** SHA-256 of the list at a path; null if it does not exist. */
export async function digestAt(path: string, host: Host): Promise<string | null> {
  return (await host.exists(path)) ? ((await digestOfFile(path, host)) ?? null) : null;
}
