import type { CompileReport } from "../../engine/report.ts";
import { type Host, HostError } from "../../host/host.ts";
import { StateFile } from "../../host/state-file.ts";
import { removeLeftovers } from "../../host/write-whole.ts";
import { recordFolder } from "../../record/record-folder.ts";
import { type SizeLimits, type SizeMemory, outOfBounds } from "../../sources/size-bounds.ts";
import { dayOf, ofThirtyDays } from "../../sources/thirty-days.ts";
import { type ListMeasure, comparable, measureOf } from "../list-measure.ts";
import type { SettingsDigest } from "../settings-digest.ts";

/** The largest list of a day. */
interface RememberedDay extends ListMeasure {
  /** `2026-01-31`, in UTC. */
  readonly day: string;
}

/** The state of the last publish, stored beside the list. Fields that earlier versions did not write are optional. */
export interface LastPublish {
  readonly version: 1;
  readonly published: string;
  readonly rules: number;
  /** Protected names that the list blocks. */
  readonly blocked?: readonly string[];
  readonly sources: readonly {
    readonly label: string;
    readonly source: string;
    readonly lines: number;
    readonly kept: number;
  }[];
  /** The configuration's file, relative to the folder of the list, so that both can be moved. */
  readonly config?: string;
  /** Digest of the settings of that build. */
  readonly settings?: string;
  readonly measure?: ListMeasure;
  /** The last thirty days with these settings, oldest first. */
  readonly days?: readonly RememberedDay[];
}

/** Decides whether and how a list is compared with the stored state. */
export interface Remembering {
  readonly settings: SettingsDigest;
  readonly size: SizeLimits;
}

function fileOf(output: string, host: Host): StateFile<LastPublish> {
  const path = host.path.join(recordFolder(output, host), `${host.path.basename(output)}.json`);
  return new StateFile(path, isLastPublish, host);
}

/** Undefined for the first publish, if the list was deleted, or if the state cannot be read. */
export async function readLastPublish(
  output: string,
  host: Host,
): Promise<LastPublish | undefined> {
  if (!(await host.exists(output))) return undefined;
  const last = await fileOf(output, host).read();
  return last && withoutOldDays(last, host.now());
}

export function withoutOldDays(last: LastPublish, now: Date): LastPublish {
  return last.days === undefined ? last : { ...last, days: ofThirtyDays(last.days, now) };
}

/** The sizes to compare a list with; empty if its settings were different. */
export function memoryOf(
  last: LastPublish | undefined,
  now: ListMeasure,
  { list }: SettingsDigest,
): SizeMemory {
  if (last === undefined) return { last: undefined, days: [] };
  // Earlier versions did not write the settings or the measure.
  if (last.settings === undefined || last.measure === undefined)
    return { last: { before: last.rules, now: now.rules }, days: [] };
  if (last.settings !== list) return { last: undefined, days: [] };
  return {
    last: comparable(last.measure, now),
    days: (last.days ?? []).flatMap((day) => comparable(day, now) ?? []),
  };
}

/** Saves the state after a publish. If that fails, the next list is compared with the older state. */
export async function rememberPublish(
  output: string,
  report: CompileReport,
  { config: path, ...remembering }: Remembering & { readonly config: string | undefined },
  host: Host,
): Promise<void> {
  const last = await readLastPublish(output, host);
  const file = fileOf(output, host);
  const config =
    path === undefined ? last?.config : host.path.relative(host.path.dirname(output), path);
  try {
    await removeLeftovers(file.path, host);
    await file.write(publishRecord(last, report, { ...remembering, config }, host.now()), 1);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

/** The new state after a publish, based on the previous state. */
export function publishRecord(
  last: LastPublish | undefined,
  report: CompileReport,
  { settings, size, config }: Remembering & { readonly config?: string | undefined },
  now: Date,
): LastPublish {
  const { rules, sources, blocked } = report;
  const measure = measureOf(report, settings);
  // If a list was published although it is out of bounds, later lists are compared with it.
  const isAccepted = outOfBounds(memoryOf(last, measure, settings), size) !== undefined;
  const isOther = last?.settings !== settings.list;
  return {
    version: 1,
    published: now.toISOString(),
    rules,
    ...(blocked !== undefined && { blocked }),
    sources: sources.flatMap(({ label, source, lines, kept, state }) => {
      // A skipped source keeps its old numbers, for comparison when it is available again.
      if (state !== "dropped") return [{ label, source, lines, kept }];
      return last?.sources.filter((one) => one.source === source) ?? [];
    }),
    ...(config !== undefined && { config }),
    settings: settings.list,
    measure,
    days: daysWith(isAccepted || isOther ? [] : (last.days ?? []), measure, now),
  };
}

/** Keeps one entry per day: the largest list, or the first with other sources. */
function daysWith(
  days: readonly RememberedDay[],
  measure: ListMeasure,
  now: Date,
): RememberedDay[] {
  const day = dayOf(now);
  const young = ofThirtyDays(days, now);
  const today = young.find((one) => one.day === day);
  const pair = today && comparable(today, measure);
  if (pair !== undefined && pair.before >= pair.now && sameSources(today!, measure)) return young;
  return [...young.filter((one) => one !== today), { day, ...measure }];
}

function sameSources(one: ListMeasure, other: ListMeasure): boolean {
  return Object.keys(one.sources).join("\n") === Object.keys(other.sources).join("\n");
}

function isLastPublish(record: unknown): record is LastPublish {
  if (typeof record !== "object" || record === null) return false;
  const {
    version,
    rules,
    sources,
    blocked = [],
    config = "",
    measure,
    days = [],
  } = record as Partial<LastPublish>;
  if (version !== 1 || typeof rules !== "number") return false;
  if (typeof config !== "string") return false;
  if (!Array.isArray(sources) || !Array.isArray(blocked) || !Array.isArray(days)) return false;
  return (measure === undefined || isMeasure(measure)) && days.every(isDay);
}

function isDay(day: unknown): boolean {
  return isMeasure(day) && typeof (day as Partial<RememberedDay>).day === "string";
}

function isMeasure(measure: unknown): boolean {
  if (typeof measure !== "object" || measure === null) return false;
  const { rules, sources } = measure as Partial<ListMeasure>;
  if (typeof rules !== "number" || typeof sources !== "object" || sources === null) return false;
  return Object.values(sources).every((count) => typeof count === "number");
}
