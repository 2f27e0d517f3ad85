import { decodeUtf8, encodeUtf8 } from "../../bytes/utf8.ts";
import type { Learned } from "../../engine/compiled-list.ts";
import type { CompileReport } from "../../engine/report.ts";
import type { ListShape } from "../../formats/list-model.ts";
import type { Host, NewFile } from "../../host/host.ts";
import { BuildRecord } from "../../record/build-record.ts";
import {
  type KeepLimits,
  type KeptBuild,
  draftBytesOf,
  listOf,
  recordBytesOf,
} from "../../record/kept-builds.ts";
import type { RecordHeader } from "../../record/record-format.ts";
import type { PublishedConfig } from "../publish-list.ts";
import type { SourceRuns } from "../recorded-names.ts";

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
  const end = bytes?.indexOf(10) ?? -1;
  const draft = bytes && draftIn(decodeUtf8(bytes, 0, Math.max(0, end)));
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
