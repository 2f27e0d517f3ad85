import { decodeUtf8, encodeUtf8 } from "../../bytes/text.ts";
import type { Config } from "../../config/lists.ts";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/render.ts";
import { printable, reasonOf, withoutCredentials } from "../../diagnostics/text.ts";
import { VERSION } from "../../diagnostics/version.ts";
import type { SourceLock } from "../../engine/compile-options.ts";
import type { CompiledList } from "../../engine/report.ts";
import { allEntryFiles, allNameLists, selectionOf } from "../../engine/plan.ts";
import { storeKeyOf } from "../../engine/source-state.ts";
import {
  arrayOf,
  isDate,
  isNumber,
  isText,
  objectOf,
  outputFailed,
  writeWhole,
} from "../../host/files.ts";
import { type Host, HostError } from "../../host/host.ts";
import {
  type StoredFile,
  digestOf,
  digestOfFile,
  isStoredFile,
  needCopies,
} from "../../sources/copies.ts";
import type { InputFile } from "../../sources/source-list.ts";
import { icannRules, privateRules } from "../../syntax/public-suffix-list.ts";
import type { BuildContext } from "../build.ts";
import type { ListConfig, Project } from "../plan/project.ts";

/** The lock beside a configuration, as the options use it. */
export class LockSession {
  private readonly lock: Lockfile | undefined;
  /** Whether the lock belongs to this configuration, not to another one in the folder. */
  private isOwn = false;
  private readonly list: ListConfig;
  private readonly context: BuildContext;
  /** Locked files by `storeKeyOf` the source as written in the configuration. */
  private readonly files = new Map<string, readonly StoredFile[]>();

  private constructor(lock: Lockfile | undefined, list: ListConfig, context: BuildContext) {
    this.lock = lock;
    this.list = list;
    this.context = context;
  }

  static async open(list: ListConfig, context: BuildContext): Promise<LockSession> {
    const { options, host, emit } = context;
    const { frozen, update, cacheDir } = options;
    const { folder, file } = list.project;
    // An unreadable lock does not stop a build that does not need it.
    const locks = await readLockfile(folder, host).catch((error: unknown) => {
      if (!(error instanceof CompilerError)) throw error;
      if (frozen || (update !== undefined && update !== "*")) throw error;
      for (const one of error.diagnostics)
        emit({ kind: "diagnostic", diagnostic: { ...one, severity: "warning" } });
      return [];
    });
    if (cacheDir !== undefined && (locks.length > 0 || update !== undefined))
      await needCopies(cacheDir, { path: host.path.join(folder, LOCKFILE) }, host);
    const opened = new LockSession(lockFor(locks, file), list, context);
    await opened.prepare();
    return opened;
  }

  private async prepare(): Promise<void> {
    const { lock, list } = this;
    const { frozen, update } = this.context.options;
    const { file, config } = list.project;
    this.isOwn = lock !== undefined && (await isLockOf(lock, file, config));
    if (!frozen && (update === undefined || update === "*")) return;
    if (lock === undefined) {
      const message = `${LOCKFILE} has no entry for ${printable(file, 80)}`;
      throw new CompilerError([errorOf("lock-missing", message)]);
    }
    const mismatch = await lockMismatch(lock);
    if (mismatch !== undefined) throw new CompilerError([mismatch]);
    const names = config.sources.flatMap(({ name, source }) => [name ?? "", source]);
    names.push(...allNameLists(config).map(({ source }) => source));
    if (!frozen && !names.includes(update!))
      throw new CompilerError([
        errorOf(
          "wrong-usage",
          `No source matches --update ${printable(withoutCredentials(update!), 80)}`,
        ),
      ]);
    for (const source of lockedKeys(list, frozen ? undefined : update)) {
      const key = await digestOf(source);
      const known = lock.sources.find((one) => one.key === key);
      if (known !== undefined) this.files.set(source, known.files);
    }
  }

  /** The locked files, for the engine. */
  get sources(): SourceLock {
    return { name: LOCKFILE, files: this.files, isComplete: this.context.options.frozen };
  }

  /** The build time that a frozen build repeats. */
  get builtAt(): Date | undefined {
    const { lock, context } = this;
    return context.options.frozen && lock !== undefined ? new Date(lock.built) : undefined;
  }

  /** Throws if local files differ from the lock. */
  async check({ inputs }: CompiledList): Promise<void> {
    const { options, host } = this.context;
    if (!options.frozen || this.lock === undefined) return;
    const changed = await changedFiles(this.lock, this.list.project, inputs, host);
    if (changed.length > 0) throw new CompilerError(changed);
  }

  /** Joins the existing lock with the locks of further lists. Undefined if there are no further lists. */
  joined(locks: readonly Lockfile[]): Lockfile | undefined {
    return locks.length === 0
      ? undefined
      : joinedLocks([this.isOwn ? this.lock : undefined, ...locks]);
  }

  /** The new lock of this list alone, after it is published. Undefined if no lock exists or the list goes elsewhere, and none was requested. */
  async renewed(result: CompiledList): Promise<Lockfile | undefined> {
    const { options, host } = this.context;
    const { frozen, update, output, copyToRules } = options;
    const { project } = this.list;
    // The lock is of the list in the rules directory.
    const isKept = this.isOwn && (output === undefined || copyToRules);
    if (frozen || project.file === "" || (!isKept && update === undefined)) return undefined;
    return await lockOf(result, project, host);
  }
}

/** Writes a lock, if there is one. The list is already published, so a failure is only a warning. */
export async function saveLock(
  folder: string,
  lock: Lockfile | undefined,
  { host, emit }: BuildContext,
): Promise<void> {
  if (lock === undefined) return;
  try {
    await writeLockfile(folder, lock, host);
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    for (const one of error.diagnostics)
      emit({ kind: "diagnostic", diagnostic: { ...one, severity: "warning" } });
  }
}

/** The keys of the sources that must match the lock: all, or all except one. */
function lockedKeys({ config }: ListConfig, but: string | undefined): string[] {
  const own = config.sources
    .filter(({ name, source }) => but === undefined || (name !== but && source !== but))
    .map((one) => storeKeyOf(one.source, selectionOf(one)));
  const names = allNameLists(config).filter(({ source }) => source !== but);
  const files = [...names, ...allEntryFiles(config)].map((one) => storeKeyOf(one.source, one));
  return [...own, ...files];
}

export const LOCKFILE = "rules.lock";

/** Records the inputs of a list, beside its configuration: enough to build the same bytes again or to report why not. */
export interface Lockfile {
  /** The file name of the configuration. Version 0.1.0 did not write it. */
  readonly configuration?: string | undefined;
  readonly tool: string;
  /** Digest of the public suffix list, which affects which rules are valid. */
  readonly suffixes: string;
  /** Digest of the configuration. */
  readonly config: string;
  /** The build time in the list's header. */
  readonly built: string;
  readonly sources: readonly LockedSource[];
  readonly local: readonly LockedFile[];
}

interface LockedSource {
  /** The source without possible secrets, for human readers. */
  readonly source: string;
  /** Digest of the source as written in the configuration, with what selects a part of it. */
  readonly key: string;
  readonly rules?: number;
  readonly files: readonly StoredFile[];
}

interface LockedFile {
  /** Relative to the folder of the configuration. */
  readonly path: string;
  readonly sha256: string;
}

/** The locks in a folder, one per configuration. Rejects with a `CompilerError` if the file is invalid. */
async function readLockfile(folder: string, host: Host): Promise<readonly Lockfile[]> {
  const path = host.path.join(folder, LOCKFILE);
  let text: string;
  try {
    text = decodeUtf8(await host.readFile(path));
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return [];
    throw error instanceof HostError
      ? unreadable(`Cannot read ${printable(path)}`, reasonOf(error.code, error.message))
      : error;
  }
  const locks = locksIn(text);
  if (locks === undefined)
    throw unreadable(`${printable(path)} is not a valid lockfile`, "it was edited or cut off");
  return locks;
}

/** The lock of a configuration, or a lock that does not name its configuration. */
function lockFor(locks: readonly Lockfile[], configuration: string): Lockfile | undefined {
  return (
    locks.find((lock) => lock.configuration === configuration) ??
    locks.find((lock) => lock.configuration === undefined)
  );
}

/** Whether a lock belongs to this configuration: by its name, or because nothing changed since it was written. */
async function isLockOf(lock: Lockfile, configuration: string, config: Config): Promise<boolean> {
  return lock.configuration === undefined
    ? lock.config === (await configDigest(config))
    : lock.configuration === configuration;
}

/** Why this program cannot build from a lock; undefined if it can. */
async function lockMismatch(lock: Lockfile): Promise<Diagnostic | undefined> {
  if (lock.tool !== VERSION)
    return errorOf(
      "lock-version",
      `${LOCKFILE} was written by rules-compiler ${printable(lock.tool)}`,
      {
        cause: `this is ${VERSION}, which may compile the same sources differently`,
      },
    );
  if (lock.suffixes !== (await suffixDigest()))
    return errorOf("lock-version", `${LOCKFILE} was written with another public suffix list`);
  return undefined;
}

/** The lock of a list that was just compiled. Rejects with a `HostError`. */
async function lockOf(
  { files, inputs, builtAt, report, sources: planned }: CompiledList,
  { config, folder, file }: Project,
  host: Host,
): Promise<Lockfile> {
  const sources: LockedSource[] = [];
  const positionOf = (wanted: string): number =>
    planned.findIndex((one) => storeKeyOf(one.source, one) === wanted);
  // In the order of the configuration, not in the order of arrival.
  const inOrder = [...files].toSorted(
    ([one], [other]) => positionOf(one) - positionOf(other) || (one < other ? -1 : 1),
  );
  const names = new Map(
    allNameLists(config).map((one) => [storeKeyOf(one.source, one), one.shown]),
  );
  for (const [key, stored] of inOrder) {
    const index = positionOf(key);
    // Files of entries have no settings: their key is their URL.
    const shown = planned[index]?.shown ?? names.get(key) ?? withoutCredentials(key);
    const rules = report.sources[index]?.kept;
    const counted = rules === undefined ? {} : { rules };
    sources.push({ source: shown, key: await digestOf(key), ...counted, files: stored });
  }
  return {
    configuration: file,
    tool: VERSION,
    suffixes: await suffixDigest(),
    config: await configDigest(config),
    built: builtAt.toISOString(),
    sources,
    local: await localFiles(inputs, folder, host),
  };
}

/** Joins the locks of several lists. If two contain the same file, the later one wins. */
function joinedLocks(locks: readonly (Lockfile | undefined)[]): Lockfile | undefined {
  const last = locks.at(-1);
  if (last === undefined) return undefined;
  // Files of another configuration or version do not apply.
  const same = locks.filter((one) => one?.config === last.config && one.tool === last.tool);
  const sources = new Map(same.flatMap((one) => one!.sources).map((one) => [one.key, one]));
  const local = new Map(same.flatMap((one) => one!.local).map((one) => [one.path, one]));
  return { ...last, sources: [...sources.values()], local: [...local.values()] };
}

/** Differences from the lock: the configuration and local files. */
async function changedFiles(
  lock: Lockfile,
  { config, folder }: Project,
  inputs: readonly InputFile[],
  host: Host,
): Promise<Diagnostic[]> {
  if (lock.config !== (await configDigest(config)))
    return [
      errorOf("lock-mismatch", `The configuration has changed since ${LOCKFILE} was written`),
    ];
  const now = await localFiles(inputs, folder, host);
  const known = new Map(lock.local.map(({ path, sha256 }) => [path, sha256]));
  return now
    .filter(({ path, sha256 }) => known.get(path) !== sha256)
    .map(({ path }) =>
      errorOf("lock-mismatch", `${printable(path)} has changed since ${LOCKFILE} was written`),
    );
}

/** Writes the lock of a configuration and keeps the other locks in its folder. */
async function writeLockfile(folder: string, lock: Lockfile, host: Host): Promise<void> {
  const path = host.path.join(folder, LOCKFILE);
  const known = await readLockfile(folder, host).catch((error: unknown) => {
    if (error instanceof CompilerError) return [];
    throw error;
  });
  const others = known.filter(({ configuration, config }) =>
    configuration === undefined ? config !== lock.config : configuration !== lock.configuration,
  );
  const locks = [...others, lock].toSorted((one, other) =>
    (one.configuration ?? "") < (other.configuration ?? "") ? -1 : 1,
  );
  const text = encodeUtf8(`${JSON.stringify({ lockfile: 2, locks }, undefined, 2)}\n`);
  try {
    await writeWhole(path, host, (file) => file.write(text));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

async function localFiles(
  inputs: readonly InputFile[],
  folder: string,
  host: Host,
): Promise<LockedFile[]> {
  const files = new Map<string, LockedFile>();
  for (const { path, stamp } of inputs) {
    if (stamp === undefined) continue;
    const name = host.path.relative(folder, path).replaceAll(host.path.sep, "/");
    files.set(name, { path: name, sha256: (await digestOfFile(path, host)) ?? "" });
  }
  return [...files.values()];
}

async function configDigest(config: Config): Promise<string> {
  return (await digestOf(JSON.stringify(config))).slice(0, 16);
}

async function suffixDigest(): Promise<string> {
  return (await digestOf(`${icannRules()} ${privateRules()}`)).slice(0, 16);
}

function unreadable(message: string, cause: string): CompilerError {
  return new CompilerError([errorOf("lock-unreadable", message, { cause })]);
}

/** In version 0.1.0, the file contains a single lock. */
function locksIn(text: string): readonly Lockfile[] | undefined {
  try {
    const file = JSON.parse(text) as { lockfile?: unknown; locks?: unknown } | null;
    const locks = file?.lockfile === 1 ? [file] : file?.lockfile === 2 ? file.locks : undefined;
    return Array.isArray(locks) && locks.every(isLock) ? locks : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Checks every field, because people and other programs may edit the file. */
const isLock = objectOf<Lockfile>(
  {
    tool: isText,
    suffixes: isText,
    config: isText,
    built: isDate,
    sources: arrayOf(
      objectOf<LockedSource>(
        { source: isText, key: isText, files: arrayOf(isStoredFile) },
        { rules: isNumber },
      ),
    ),
    local: arrayOf(objectOf<LockedFile>({ path: isText, sha256: isText })),
  },
  { configuration: isText },
);
