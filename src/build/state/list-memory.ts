import type { FreedNamesOf } from "../../engine/compile-options.ts";
import type { Learned } from "../../engine/compiled-list.ts";
import type { Host } from "../../host/host.ts";
import type { StateFile } from "../../host/state-file.ts";
import { stateOf } from "../../record/record-folder.ts";

const DAYS_MS = 30 * 86_400_000;

/** What the lists of the last 30 days leave for the guards of later ones. Moments are in milliseconds since 1970. */
export interface ListMemory {
  readonly version: 1;
  /** Popular names that lists blocked, and when one did last. A list is noted when another one replaces it. */
  readonly blocked: readonly (readonly [string, number])[];
  /** Names that new exceptions freed. */
  readonly freed: readonly (FreedNamesOf & { readonly at: number })[];
}

const NOTHING: ListMemory = { version: 1, blocked: [], freed: [] };

function fileOf(output: string, host: Host): StateFile<ListMemory> {
  return stateOf(output, "memory.json", isMemory, host);
}

export async function readMemory(output: string, host: Host): Promise<ListMemory> {
  const found = (await fileOf(output, host).read()) ?? NOTHING;
  const now = host.now().getTime();
  const first = now - DAYS_MS;
  return {
    version: 1,
    // Moments of a clock that was ahead count as now.
    blocked: found.blocked.flatMap(([name, at]) => (at < first ? [] : [[name, Math.min(at, now)]])),
    freed: found.freed.flatMap((one) =>
      one.at < first ? [] : [{ ...one, at: Math.min(one.at, now) }],
    ),
  };
}

/** Adds what a build found out, after it was published. */
export async function learn(
  output: string,
  { blocked, freed }: Learned,
  host: Host,
): Promise<void> {
  const memory = await readMemory(output, host);
  const now = host.now().getTime();
  const all = new Map([...memory.blocked, ...blocked.map((name) => [name, now] as const)]);
  const both = [...memory.freed, ...freed.map((one) => ({ ...one, at: now }))];
  await keep(output, memory, { ...memory, blocked: [...all], freed: both }, host);
}

/** Forgets what lists after a moment did, because they were rolled back. */
export async function forgetSince(output: string, moment: number, host: Host): Promise<void> {
  const memory = await readMemory(output, host);
  const blocked = memory.blocked.filter(([, at]) => at <= moment);
  const freed = memory.freed.filter(({ at }) => at <= moment);
  await keep(output, memory, { ...memory, blocked, freed }, host);
}

/** If this fails, the next list is compared with less. */
async function keep(
  output: string,
  before: ListMemory,
  after: ListMemory,
  host: Host,
): Promise<void> {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  await fileOf(output, host).tryReplace(after);
}

function isMemory(value: unknown): value is ListMemory {
  const { version, blocked, freed } = (value ?? {}) as Partial<ListMemory>;
  if (version !== 1 || !Array.isArray(blocked) || !Array.isArray(freed)) return false;
  return blocked.every(isEntry) && freed.every(isFreed);
}

function isFreed(value: unknown): boolean {
  const { source, names, at } = (value ?? {}) as Partial<ListMemory["freed"][number]>;
  return typeof source === "string" && Array.isArray(names) && Number.isFinite(at);
}

function isEntry(entry: unknown): boolean {
  return Array.isArray(entry) && typeof entry[0] === "string" && Number.isFinite(entry[1]);
}
