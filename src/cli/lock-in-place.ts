import type { CompiledList } from "../engine/compile.ts";
import type { CompileOptions } from "../engine/compile-options.ts";
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
} from "../build/lockfile.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { needCopies } from "../sources/collect-copies.ts";
import { type StoredFile, digestOf } from "../sources/source-store.ts";
import type { ConfigInPlace } from "./config-of.ts";
import type { Options } from "./flags/options.ts";
import type { Talk } from "./output/talk.ts";

/** The lock beside a configuration, and what the command line wants of it. */
export class LockInPlace {
  private readonly lock: Lockfile | undefined;
  /** Whether it is of this configuration, and not of another one of the folder. */
  private isOwn = false;
  private readonly configured: ConfigInPlace;
  private readonly options: Options;
  private readonly host: Host;
  /** Locked files by the source as the configuration has it. */
  private readonly files = new Map<string, readonly StoredFile[]>();

  private constructor(
    lock: Lockfile | undefined,
    configured: ConfigInPlace,
    options: Options,
    host: Host,
  ) {
    this.lock = lock;
    this.configured = configured;
    this.options = options;
    this.host = host;
  }

  static async open(
    configured: ConfigInPlace,
    options: Options,
    host: Host,
    talk?: Talk,
  ): Promise<LockInPlace> {
    const { frozen, update } = options;
    // A lock that nobody asks for and nobody could read does not stop a build, but somebody should know.
    const locks = await readLockfile(configured.folder, host).catch((error: unknown) => {
      if (!(error instanceof CompilerError)) throw error;
      if (frozen || (update !== undefined && update !== "*")) throw error;
      for (const one of error.diagnostics) talk?.diagnostic({ ...one, severity: "warning" });
      return [];
    });
    const { cacheDir } = options;
    const lock = lockFor(locks, configured.name);
    if (cacheDir !== undefined && (locks.length > 0 || update !== undefined))
      await needCopies(cacheDir, { path: host.path.join(configured.folder, LOCKFILE) }, host);
    const opened = new LockInPlace(lock, configured, options, host);
    await opened.prepare();
    return opened;
  }

  private async prepare(): Promise<void> {
    const { lock, configured, options } = this;
    const { frozen, update } = options;
    const { name: file, whole } = configured;
    this.isOwn = lock !== undefined && (await isLockOf(lock, file, whole));
    if (!frozen && (update === undefined || update === "*")) return;
    if (lock === undefined) {
      const message = `${LOCKFILE} has no entry for ${printable(file, 80)} to build from`;
      throw new CompilerError([errorOf("lock-missing", message)]);
    }
    const mismatch = await lockMismatch(lock);
    if (mismatch !== undefined) throw new CompilerError([mismatch]);
    const names = configured.whole.sources.flatMap(({ name, source }) => [name ?? "", source]);
    if (!frozen && !names.includes(update!))
      throw new CompilerError([
        errorOf(
          "unknown-flag",
          `--update names no source: ${printable(withoutCredentials(update!), 80)}`,
        ),
      ]);
    for (const source of lockedSources(configured, frozen ? undefined : update)) {
      const key = await digestOf(source);
      const known = lock.sources.find((one) => one.key === key);
      if (known !== undefined) this.files.set(source, known.files);
    }
  }

  /** What of it the compiler has to know. */
  get wish(): Pick<CompileOptions, "locked" | "builtAt"> {
    const { frozen } = this.options;
    return {
      locked: (source) => {
        const files = this.files.get(source);
        if (files !== undefined || !frozen) return files;
        const { sources } = this.configured.whole;
        const isSecret = sources.some((one) => one.source === source && one.secret === true);
        const shown = printable(withoutCredentials(source, isSecret));
        throw new CompilerError([errorOf("lock-mismatch", `${shown} is not in ${LOCKFILE}`)]);
      },
      ...(frozen && this.lock !== undefined ? { builtAt: new Date(this.lock.built) } : {}),
    };
  }

  /** Throws when local files are not what was locked. */
  async check({ inputs }: CompiledList): Promise<void> {
    if (!this.options.frozen || this.lock === undefined) return;
    const { whole, folder } = this.configured;
    const changed = await changedFiles(this.lock, whole, inputs, folder, this.host);
    if (changed.length > 0) throw new CompilerError(changed);
  }

  /** What was locked, and what further lists were built from, as one lock; undefined where there is none of the latter. */
  joined(locks: readonly Lockfile[]): Lockfile | undefined {
    return locks.length === 0
      ? undefined
      : joinedLocks([this.isOwn ? this.lock : undefined, ...locks]);
  }

  /** The lock as it should be once the list is out; undefined where there is none and none is wanted. Of this list alone. */
  async renewed(result: CompiledList): Promise<Lockfile | undefined> {
    const { frozen, update, inputs } = this.options;
    if (frozen || inputs.length > 0 || (!this.isOwn && update === undefined)) return undefined;
    return await lockOf(result, this.configured.whole, this.configured, this.host);
  }
}

/** Writes a lock, if there is to be one. The list is out; that it could not be noted down is worth a word, no more. */
export async function saveLock(
  folder: string,
  lock: Lockfile | undefined,
  host: Host,
  talk: Talk,
): Promise<void> {
  if (lock === undefined) return;
  try {
    await writeLockfile(folder, lock, host);
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    for (const one of error.diagnostics) talk.diagnostic({ ...one, severity: "warning" });
  }
}

/** The sources that are to be taken as they are locked: all, or all but one. */
function lockedSources({ config }: ConfigInPlace, but: string | undefined): string[] {
  const entries = [config, ...config.sources].flatMap((level) => [
    ...(level.exclusions_sources ?? []),
    ...(level.inclusions_sources ?? []),
  ]);
  const own = config.sources
    .filter(({ name, source }) => but === undefined || (name !== but && source !== but))
    .map(({ source }) => source);
  return [...own, ...entries, ...(config.allow_sources ?? []), ...(config.guards?.protect ?? [])];
}
