import { DECISIONS_FILE, decisionsIn, endOf } from "../../config/decisions.ts";
import { type Diagnostic, warningOf } from "../../diagnostics/render.ts";
import { DAY_MS, printable, timestampText } from "../../diagnostics/text.ts";
import { VERSION } from "../../diagnostics/version.ts";
import type { FreedNamesOf } from "../../engine/compile-options.ts";
import type { Learned } from "../../engine/report.ts";
import {
  StateFile,
  either,
  isAnything,
  isDate,
  isNumber,
  isText,
  arrayOf,
  objectOf,
  oneOf,
  mapOf,
} from "../../host/files.ts";
import { type Host, HostError } from "../../host/host.ts";
import type { OutputFile } from "../../publish/list-file.ts";
import { journalPath, newestRecord, stateOf } from "../../record/record-file.ts";
import type { InputFile } from "../../sources/source-list.ts";
import { type BuildOptions, configFileOf } from "../plan/build-options.ts";
import { Conditions } from "./conditions.ts";
import type { CompileReport, HoldFacts, ProofOutcome, WrittenFile } from "../../documents/facts.ts";

/**
 * What a resolver answers from: the published list, an earlier build of it, no list, something else; or it does not answer.
 */
export const OUTCOMES: readonly ProofOutcome[] = [
  "proved",
  "stale",
  "unfiltered",
  "wrong",
  "unreachable",
];

/** The last proof of one resolver. */
export interface ResolverProof {
  readonly outcome: ProofOutcome;
  /** Why, for a person. */
  readonly detail: string;
  /** The build that it was asked about: twelve hexadecimal digits; null for a list without a canary. */
  readonly build: string | null;
  /** When it was asked last. */
  readonly at: string;
  /** Since when the outcome is the same. */
  readonly since: string;
  /** Median time of its answers; null if there was none. */
  readonly latencyMs: number | null;
  /** Whether it answers for names that it does not block. */
  readonly upstream?: boolean | null;
  /** The longest time without an answer while it last loaded a list. */
  readonly unansweredMs?: number | null;
  /** The last proof that succeeded. */
  readonly lastProved?: { readonly at: string; readonly build: string | null };
}

/** A build that was rolled back because resolvers did not answer from it. */
interface UndoneBuild {
  readonly build: string;
  /** When it was rolled back, oldest first. */
  readonly times: readonly string[];
  /** Which resolvers, and how they answered. */
  readonly reason: string;
}

/** The build that was published before the last one, and the resolvers that answered from it. They decide about the last one. */
interface BuildBefore {
  readonly build: string;
  readonly resolvers: readonly string[];
}

/** The last proof of each resolver of a list, by its name. */
export type StoredProofs = Readonly<Record<string, ResolverProof>>;

/** Names that a resolver can be asked for later without reading the list. */
export interface StoredNames {
  readonly canary: string;
  readonly older: readonly { readonly canary: string; readonly of: string }[];
  readonly fresh: readonly string[];
  readonly listed: readonly string[];
  readonly freed: readonly string[];
  readonly reachable: readonly string[];
  readonly deciding: readonly string[];
}

/** The proofs of a list. */
export interface LastProof {
  readonly version: 1;
  readonly resolvers: StoredProofs;
  /** Of the build that was asked about last. */
  readonly names?: StoredNames;
  /** Until it is decided whether the published build stays. */
  readonly before?: BuildBefore;
  /** Builds that were rolled back, oldest first. */
  readonly undone?: readonly UndoneBuild[];
}

const NONE: LastProof = { version: 1, resolvers: {} };
const MOST_UNDONE = 50;
/** How often a build may be rolled back in a day. */
const MOST_A_DAY = 3;

function fileOf(list: string, host: Host): StateFile<LastProof> {
  return stateOf(list, "proof.json", isLastProof, host);
}

/** What runs know about the resolvers of the list at a path, and what a server found since. */
export async function readProof(list: string, host: Host): Promise<LastProof> {
  const known = (await fileOf(list, host).read()) ?? NONE;
  const found = await probeFile(list, host).read();
  return found === undefined
    ? known
    : { ...known, resolvers: newestOf(known.resolvers, found.resolvers, host) };
}

/** The last proofs of the list at a path; empty if no resolver was asked. */
export async function readProofs(list: string, host: Host): Promise<StoredProofs> {
  return (await readProof(list, host)).resolvers;
}

/** What a server found between runs. It has a file of its own, because runs may write theirs at the same time. */
interface Probed {
  readonly version: 1;
  readonly resolvers: StoredProofs;
}

function probeFile(list: string, host: Host): StateFile<Probed> {
  return stateOf(list, "probe.json", isProbed, host);
}

/** Keeps what a server found. If that fails, it knows it until it ends. */
export async function rememberProbe(
  list: string,
  resolvers: StoredProofs,
  host: Host,
): Promise<void> {
  await probeFile(list, host).tryReplace({ version: 1, resolvers }, 1);
}

/** The newer proof of each resolver. A date in the future is that of a wrong clock, and counts as old. */
export function newestOf(
  one: StoredProofs,
  other: StoredProofs,
  host: Pick<Host, "now">,
): StoredProofs {
  const now = host.now().toISOString();
  const orderOf = ({ at }: ResolverProof): string => (at > now ? "" : at);
  const all: Record<string, ResolverProof> = Object.assign(Object.create(null), one);
  for (const [name, proof] of Object.entries(other))
    if (!Object.hasOwn(all, name) || orderOf(all[name]!) < orderOf(proof)) all[name] = proof;
  return all;
}

/** Keeps who answered from the build before, or forgets it when the decision is made. Rejects with a `HostError`. */
export async function rememberBefore(
  list: string,
  before: BuildBefore | undefined,
  host: Host,
): Promise<void> {
  const { before: old, ...others } = await readProof(list, host);
  if (before === undefined && old === undefined) return;
  await fileOf(list, host).replace({ ...others, ...(before && { before }) }, 1);
}

/** Adds a rollback of a build; without a reason, forgets those of the build. Rejects with a `HostError`: a rollback must be counted. */
export async function rememberUndone(
  list: string,
  build: string,
  reason: string | undefined,
  host: Host,
): Promise<void> {
  const { undone: all = [], ...others } = await readProof(list, host);
  const old = all.find((one) => one.build === build);
  const undone = all.filter((one) => one !== old);
  if (reason !== undefined) {
    const times = [...(old?.times ?? []), host.now().toISOString()].slice(-MOST_A_DAY);
    undone.push({ build, times, reason });
  } else if (old === undefined) return;
  await fileOf(list, host).replace({ ...others, undone: undone.slice(-MOST_UNDONE) }, 1);
}

/** A build that was rolled back as often as it may be in a day; undefined if it may be tried again. */
export async function exhaustedBuild(
  list: string,
  build: string,
  host: Host,
): Promise<UndoneBuild | undefined> {
  const now = host.now().getTime();
  const found = (await readProof(list, host)).undone?.find((one) => one.build === build);
  // A timestamp in the future is that of a wrong clock.
  const ages = found?.times.map((time) => now - Date.parse(time)) ?? [];
  return ages.filter((age) => age >= 0 && age < DAY_MS).length < MOST_A_DAY ? undefined : found;
}

/** A proof without what the one before leaves. */
export type NewProof = Omit<ResolverProof, "since" | "lastProved">;

/** A proof with what is known from the one before. */
export function nextProof(proof: NewProof, old: ResolverProof | undefined): ResolverProof {
  const { at, build, outcome } = proof;
  const lastProved = outcome === "proved" ? { at, build } : old?.lastProved;
  const since = old?.outcome === outcome ? old.since : at;
  const unansweredMs = proof.unansweredMs ?? old?.unansweredMs ?? null;
  return { ...proof, unansweredMs, since, ...(lastProved && { lastProved }) };
}

/** What the resolvers of a list were found to answer. */
interface FoundProofs {
  readonly proofs: ReadonlyMap<string, NewProof>;
  /** The resolvers of the configuration; others are forgotten. */
  readonly known: ReadonlySet<string>;
  readonly names: Omit<StoredNames, "canary" | "deciding"> & {
    readonly canary: string | undefined;
    readonly deciding: ReadonlySet<string>;
  };
}

/** Adds proofs to those of the list. */
export async function rememberProofs(
  list: string,
  { proofs, known: names, names: asked }: FoundProofs,
  host: Host,
): Promise<void> {
  const known = await readProof(list, host);
  const { resolvers: before, undone = [] } = known;
  const resolvers: Record<string, ResolverProof> = Object.create(null);
  for (const name of names) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const proof = proofs.get(name);
    if (proof !== undefined) resolvers[name] = nextProof(proof, old);
    else if (old !== undefined) resolvers[name] = old;
  }
  // A build that was published again, and is proved now.
  const isProved = [...proofs.values()].every(({ outcome }) => outcome === "proved");
  const builds = new Set([...proofs.values()].map(({ build }) => build));
  const kept = undone.filter((one) => !isProved || !builds.has(one.build));
  const { undone: _undone, names: _names, ...others } = known;
  const { canary, fresh, listed, freed, reachable, deciding } = asked;
  const all = [...fresh, ...listed, ...freed, ...reachable];
  const state = {
    ...others,
    ...(canary !== undefined && {
      names: { ...asked, canary, deciding: all.filter((name) => deciding.has(name)) },
    }),
    resolvers,
    ...(kept.length > 0 && { undone: kept }),
  };
  await fileOf(list, host).tryReplace(state, 1);
}

const isProofs = mapOf(
  objectOf<ResolverProof>({
    outcome: oneOf(OUTCOMES),
    detail: isText,
    at: isText,
    since: isText,
    latencyMs: either(isNumber, oneOf([null])),
  }),
);

const isProbed = objectOf<Probed>({ version: oneOf([1]), resolvers: isProofs });

const isLastProof = objectOf<LastProof>(
  {
    version: oneOf([1]),
    resolvers: isProofs,
  },
  {
    names: objectOf<StoredNames>({
      canary: isText,
      older: arrayOf(objectOf<StoredNames["older"][number]>({ canary: isText, of: isText })),
      fresh: arrayOf(isText),
      listed: arrayOf(isText),
      freed: arrayOf(isText),
      reachable: arrayOf(isText),
      deciding: arrayOf(isText),
    }),
    before: objectOf<BuildBefore>({ build: isText, resolvers: arrayOf(isText) }),
    undone: arrayOf(
      objectOf<UndoneBuild>({ build: isText, reason: isText, times: arrayOf(isDate) }),
    ),
  },
);

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
    /** How many names that people need it blocks, by kind. */
    readonly kinds?: Readonly<Record<string, number>>;
  }[];
  /** The configuration's file, relative to the folder of the list, so that both can be moved. */
  readonly config?: string;
  /** What was published, for a hold. */
  readonly left?: PublishedFiles;
}

/** The files of a publish. */
export interface PublishedFiles {
  readonly written: readonly WrittenFile[];
  /** Names of all files. */
  readonly files: readonly string[];
}

function publishFile(output: string, host: Host): StateFile<LastPublish> {
  return stateOf(output, "json", isLastPublish, host);
}

/** Undefined for the first publish, if the list was deleted, or if the state cannot be read. */
export async function readLastPublish(
  output: string,
  host: Host,
): Promise<LastPublish | undefined> {
  if (!(await host.exists(output))) return undefined;
  return await publishFile(output, host).read();
}

/** Saves the state after a publish. If that fails, the next list is compared with the older state. */
export async function rememberPublish(
  output: string,
  { report, left }: { readonly report: CompileReport; readonly left: PublishedFiles },
  path: string | undefined,
  host: Host,
): Promise<void> {
  const last = await readLastPublish(output, host);
  const file = publishFile(output, host);
  const config =
    path === undefined ? last?.config : host.path.relative(host.path.dirname(output), path);
  try {
    const { rules, blocked } = report;
    const next: LastPublish = {
      version: 1,
      published: host.now().toISOString(),
      rules,
      ...(blocked !== undefined && { blocked }),
      sources: report.sources.flatMap(({ label, source, lines, kept, state, kinds }) => {
        // A source that is left out is not new when it comes back, and may block what it blocked.
        const known = last?.sources.find((one) => one.source === source);
        const blocks = state === "dropped" ? known?.kinds : kinds;
        return state === "dropped" && known === undefined
          ? []
          : [{ label, source, lines, kept, ...(blocks && { kinds: blocks }) }];
      }),
      ...(config !== undefined && { config }),
    };
    // A list that did not change was published when it did.
    const { left: before, ...known } = last ?? {};
    const same = { ...next, published: last?.published };
    const isSame = JSON.stringify(same) === JSON.stringify(known);
    if (isSame && JSON.stringify(left) === JSON.stringify(before)) return;
    await file.write({ ...next, ...(isSame && { published: last!.published }), left }, 1);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

const isLastPublish = objectOf<LastPublish>(
  { version: oneOf([1]), rules: isNumber, sources: arrayOf(isAnything) },
  {
    blocked: arrayOf(isAnything),
    config: isText,
    left: objectOf<PublishedFiles>({
      written: arrayOf(objectOf<WrittenFile>({ file: isText }, { files: arrayOf(isText) })),
      files: arrayOf(isText),
    }),
  },
);

const MEMORY_MS = 30 * DAY_MS;

/** What the lists of the last 30 days leave for the guards of later ones. Timestamps are in milliseconds since 1970. */
interface ListMemory {
  readonly version: 1;
  /** Popular names that lists blocked, and when one did last. A list is noted when another one replaces it. */
  readonly blocked: readonly (readonly [string, number])[];
  /** Names that new exceptions freed. */
  readonly freed: readonly (FreedNamesOf & { readonly at: number })[];
}

const NOTHING: ListMemory = { version: 1, blocked: [], freed: [] };

function memoryFile(output: string, host: Host): StateFile<ListMemory> {
  return stateOf(output, "memory.json", isMemory, host);
}

export async function readMemory(output: string, host: Host): Promise<ListMemory> {
  const found = (await memoryFile(output, host).read()) ?? NOTHING;
  const now = host.now().getTime();
  const first = now - MEMORY_MS;
  return {
    version: 1,
    // Timestamps of a clock that was ahead count as now.
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

/** Forgets what lists after a timestamp did, because they were rolled back. */
export async function forgetSince(output: string, timestamp: number, host: Host): Promise<void> {
  const memory = await readMemory(output, host);
  const blocked = memory.blocked.filter(([, at]) => at <= timestamp);
  const freed = memory.freed.filter(({ at }) => at <= timestamp);
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
  await memoryFile(output, host).tryReplace(after);
}

const isMemory = objectOf<ListMemory>({
  version: oneOf([1]),
  blocked: arrayOf((entry) => Array.isArray(entry) && isText(entry[0]) && isNumber(entry[1])),
  freed: arrayOf(
    objectOf<ListMemory["freed"][number]>({
      source: isText,
      names: arrayOf(isAnything),
      at: isNumber,
    }),
  ),
});

/** A list that stays at a build until the hold ends. */
export interface Hold extends PublishedFiles {
  readonly version: 1;
  /** When it was held. */
  readonly at: string;
  readonly by: string;
  /** When the build was made. */
  readonly of: string;
  readonly report: CompileReport;
}

/** With a damaged file, the list stays held: publishing could undo a rollback. */
export type FoundHold = Hold | "damaged";

function holdFile(list: string, host: Host): StateFile<Hold> {
  return stateOf(list, "hold.json", isHold, host);
}

/** Undefined if the list is not held. */
export async function readHold(list: string, host: Host): Promise<FoundHold | undefined> {
  const found = await holdFile(list, host).look();
  return found === "missing" ? undefined : found;
}

/** Rejects with a `HostError`. */
export async function writeHold(list: string, hold: Hold, host: Host): Promise<void> {
  await holdFile(list, host).replace(hold);
}

/** Rejects with a `HostError`. */
export async function removeHold(list: string, host: Host): Promise<void> {
  await host.removeFile(holdFile(list, host).path).catch((error: unknown) => {
    if (!(error instanceof HostError) || error.code !== "ENOENT") throw error;
  });
}

/** `My list is held at the build of …`. */
export function holdText(list: string, hold: FoundHold): string {
  const name = printable(list);
  if (hold === "damaged") return `${name} is held; its state cannot be read`;
  const since = `since ${timestampText(hold.at)} by ${printable(hold.by, 60)}`;
  return `${name} is held at the build of ${timestampText(hold.of)}, ${since}`;
}

/** What a run says that publishes nothing. */
export function heldWarning(
  { list, end }: { readonly list: string; readonly end: string },
  hold: FoundHold,
): Diagnostic {
  return warningOf("list-held", `${holdText(list, hold)}; nothing was published`, {
    hint: `To publish again: ${end}`,
    subject: printable(list),
  });
}

export function holdFacts(hold: FoundHold): HoldFacts {
  if (hold === "damaged") return { since: null, by: null, build: null };
  return { since: hold.at, by: hold.by, build: hold.of };
}

const isHold = objectOf<Hold>({
  version: oneOf([1]),
  at: isDate,
  of: isDate,
  by: isText,
  report: objectOf<Hold["report"]>({ sources: arrayOf(isAnything) }),
  written: arrayOf(isAnything),
  files: arrayOf(isAnything),
});

interface StampedFile {
  readonly path: string;
  readonly stamp: string | null;
}

/** The inputs and the result of a build. */
export interface CachedBuild {
  readonly version: string;
  readonly key: string;
  /** Digest of everything fetched from the web. */
  readonly web: string;
  readonly inputs: readonly StampedFile[];
  readonly outputs: readonly (OutputFile & { readonly stamp: string })[];
  /** Stamps of other lists that it was compared with. */
  readonly compared: readonly StampedFile[];
  /** The file of its record; null if none was requested. */
  readonly record: string | null;
  readonly report: CompileReport;
  /** The list and its additional formats, with their counts. */
  readonly written: readonly WrittenFile[];
  /** All published names, also of what is beside the outputs. */
  readonly names: readonly string[];
}

interface CacheableBuild extends Pick<CachedBuild, "report" | "written" | "names"> {
  readonly inputs: readonly InputFile[];
  readonly web: string | undefined;
  readonly outputs: readonly OutputFile[];
  /** Paths of other lists that it was compared with, after their last write. */
  readonly compared: readonly string[];
}

/** If a file changed this shortly before it was read, it may change again without a new stamp. */
const TOO_FRESH_MS = 2000;

/**
 * The last build of one list: its key, the stamps of all files that it read or wrote, and its result. If all of them still match,
 * there is nothing to do. The key hashes the inputs of the plan, not the plan, so an unchanged build loads neither the
 * configuration parser nor the compiler.
 */
export class BuildCache {
  private readonly host: Host;
  private readonly file: StateFile<CachedBuild>;
  private readonly key: string;
  private readonly wantsRecord: boolean;
  private readonly started: number;

  private constructor(folder: string, key: string, wantsRecord: boolean, host: Host) {
    this.host = host;
    this.key = key;
    this.wantsRecord = wantsRecord;
    this.started = host.now().getTime();
    this.file = new StateFile(
      host.path.join(folder, `build-${key.slice(0, 16)}.json`),
      isCachedBuild,
      host,
    );
  }

  /** Undefined without a cache or a configuration file, and for builds that write or repeat a lock. */
  static async open(
    list: string | undefined,
    options: BuildOptions,
    host: Host,
  ): Promise<BuildCache | undefined> {
    const { cacheDir, frozen, update } = options;
    if (cacheDir === undefined || frozen || update !== undefined || options.config !== undefined)
      return undefined;
    try {
      const key = await keyOf(list, options, host);
      const wantsRecord = options.record && host.packFile !== undefined;
      return new BuildCache(host.path.resolve(host.cwd, cacheDir), key, wantsRecord, host);
    } catch (error) {
      if (error instanceof HostError) return undefined;
      throw error;
    }
  }

  /** The last build, if its result is still valid for the same web content. */
  async get(): Promise<CachedBuild | undefined> {
    const last = await this.file.read();
    if (last === undefined || last.version !== VERSION || last.key !== this.key) return undefined;
    for (const { path, stamp } of [...last.inputs, ...last.outputs, ...last.compared])
      if (((await this.host.stampOf(path))?.text ?? null) !== stamp) return undefined;
    const list = last.outputs[0]?.path;
    if (list !== undefined && (await this.host.exists(journalPath(list, this.host))))
      return undefined;
    // A held list says so.
    if (list !== undefined && (await readHold(list, this.host)) !== undefined) return undefined;
    // It says what the last build found.
    if ((await new Conditions(list, this.host).read()) === undefined) return undefined;
    // Rebuild if the record is missing: it was not requested then, or was deleted.
    if (this.wantsRecord && last.record !== (await this.recordOf(last.outputs))) return undefined;
    return last;
  }

  private async recordOf(outputs: readonly OutputFile[]): Promise<string | null> {
    const list = outputs[0]?.path;
    return list === undefined ? null : ((await newestRecord(list, this.host)) ?? null);
  }

  async put(build: CacheableBuild): Promise<void> {
    const { host, key, started } = this;
    const { web, report, written, names } = build;
    if (web === undefined) return;
    const isFresh = ({ stamp }: InputFile): boolean =>
      stamp !== undefined && started - stamp.changed < TOO_FRESH_MS;
    if (build.inputs.some(isFresh)) return;
    const inputs = build.inputs.map(({ path, stamp }) => ({ path, stamp: stamp?.text ?? null }));
    const outputs: (OutputFile & { stamp: string })[] = [];
    for (const output of build.outputs) {
      const stamp = await host.stampOf(output.path);
      if (stamp === undefined) return;
      outputs.push({ ...output, stamp: stamp.text });
    }
    const compared: StampedFile[] = [];
    for (const path of build.compared)
      compared.push({ path, stamp: (await host.stampOf(path))?.text ?? null });
    const record = this.wantsRecord ? await this.recordOf(outputs) : null;
    if (this.wantsRecord && record === null && outputs.length > 0) return;
    const known = { version: VERSION, key, web, inputs, outputs, compared, record };
    await this.file.tryReplace({ ...known, report, written, names });
  }
}

/** A digest, because the configuration may contain passwords. */
async function keyOf(list: string | undefined, options: BuildOptions, host: Host): Promise<string> {
  const { configPath, inputs, inputType, output, to, copyToRules, rulesDir } = options;
  const { cwd } = host;
  const path = host.path.resolve(cwd, configPath);
  const config =
    inputs.length > 0
      ? { inputs, inputType }
      : new TextDecoder().decode(await configFileOf(options, host).read());
  const epoch = host.env["SOURCE_DATE_EPOCH"];
  // A guard that was overruled is checked again, even if nothing else changed.
  const { compat, accept } = options;
  const where = { cwd, path, output, to, copyToRules, rulesDir };
  const decisions = inputs.length > 0 ? "" : await decisionsNow(host.path.dirname(path), host);
  const parts = { ...where, config, decisions, list, epoch, compat, accept };
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The decisions that are not over. */
async function decisionsNow(folder: string, host: Host): Promise<string> {
  if (!(await host.exists(host.path.join(folder, DECISIONS_FILE)))) return "";
  const now = host.now().getTime();
  return JSON.stringify((await decisionsIn(folder, host)).filter((one) => endOf(one) > now));
}

const isCachedBuild = objectOf<CachedBuild>({
  web: isText,
  inputs: arrayOf(isAnything),
  outputs: arrayOf(isAnything),
  compared: arrayOf(isAnything),
  written: arrayOf(isAnything),
  names: arrayOf(isAnything),
  report: objectOf<CachedBuild["report"]>({ sources: arrayOf(isAnything) }),
});
