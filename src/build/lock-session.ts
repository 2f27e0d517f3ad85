import type { CompiledList } from "../engine/compiled-list.ts";
import { allEntryFiles, allNameLists, selectionOf } from "../engine/plan.ts";
import type { SourceLock } from "../engine/source-lock.ts";
import { storeKeyOf } from "../engine/source-key.ts";
import {
  LOCKFILE,
  type Lockfile,
  changedFiles,
  isLockOf,
  joinedLocks,
  lockFor,
  lockMismatch,
  lockOf,
  readLockfile,
  writeLockfile,
} from "./lockfile.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import { needCopies } from "../sources/collect-copies.ts";
import { type StoredFile, digestOf } from "../sources/source-store.ts";
import type { BuildContext } from "./build-context.ts";
import type { ListConfig } from "./project.ts";

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
          "unknown-flag",
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
