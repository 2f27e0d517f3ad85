import type { Config } from "../config/lists.ts";
import { printable } from "../diagnostics/text.ts";
import {
  arrayOf,
  either,
  ifAvailable,
  isText,
  isToken,
  newToken,
  objectOf,
  oneOf,
  outputFailed,
  PACKED_ENDING,
  removeLeftoversIn,
  type Shape,
  StateFile,
  temporaryOf,
} from "../host/files.ts";
import { type Host, HostError, type NewFile } from "../host/host.ts";
import { journalPath, recordFolder } from "../record/record-file.ts";
import { checksumOfFile, digestOfFile } from "../sources/copies.ts";
import type { OutputFile, OutputLock } from "./list-file.ts";
import { type OutputPlan, plannedFiles } from "./output-plan.ts";
import { isPatchOf, patchFolder } from "./patches.ts";
import { isPartOf } from "./split-file.ts";

/**
 * Files that are published together: all of them, or none. Each is written under a temporary name beside its own; `commit` gives them
 * their names. If that is interrupted, the journal tells the next run how to complete or undo it.
 */
export class FileSet {
  private readonly journal: Journal;
  private readonly host: Host;
  /** The token of the temporary file by path; null for a file that is removed. In the order of publishing. */
  private readonly staged = new Map<string, string | null>();
  private readonly locks = new Set<OutputLock>();
  private readonly digests = new Map<string, Promise<string | undefined>>();
  /** Whether the journal still needs the temporary files. */
  private isUnfinished = false;

  /** `home` is the first file of the set, `root` the rules directory. */
  constructor(home: string, root: string, host: Host) {
    this.journal = new Journal(home, root, host);
    this.host = host;
  }

  /** Takes a finished temporary file. The set is not published if the lock is lost. */
  stage(path: string, token: string, lock?: OutputLock): void {
    this.staged.set(path, token);
    this.digests.delete(path);
    if (lock !== undefined) this.locks.add(lock);
  }

  /** Writes a file of the set. Rejects with a `HostError`. */
  async write(path: string, write: (file: NewFile) => void): Promise<void> {
    const { host } = this;
    const token = newToken();
    const temporary = temporaryOf(path, token, host);
    let file: NewFile | undefined;
    try {
      await host.makeFolder(host.path.dirname(path));
      file = host.createFile(temporary, path);
      write(file);
      await file.finish();
      this.stage(path, token);
    } catch (error) {
      file?.abandon();
      await host.removeFile(temporary).catch(() => {});
      throw error;
    }
  }

  /** Removes a file that the set does not write, if it exists. Links and folders stay. */
  async remove(path: string): Promise<void> {
    if (!this.staged.has(path) && (await this.host.kindOf(path)) === "file")
      this.staged.set(path, null);
  }

  /** Where the bytes are that the set will have under this path. */
  placeOf(path: string): string {
    const token = this.staged.get(path) ?? undefined;
    return token === undefined ? path : temporaryOf(path, token, this.host);
  }

  /** SHA-256 of the file that the set will have under this path; undefined if it cannot be read. */
  async digestOf(path: string): Promise<string | undefined> {
    let digest = this.digests.get(path);
    if (digest === undefined)
      this.digests.set(path, (digest = digestOfFile(this.placeOf(path), this.host)));
    return await digest;
  }

  /** Gives all files their names. Rejects with a `CompilerError`, and then none has changed. */
  async commit(): Promise<void> {
    const { host, journal } = this;
    const steps: Step[] = [];
    let at = this.staged.keys().next().value ?? "";
    try {
      for (const lock of this.locks)
        if (!(await lock.isOurs())) throw new HostError("EBUSY", "another run took over");
      // One rename is complete or did not happen.
      const isSingle = this.staged.size === 1;
      for (const [path, fresh] of this.staged) {
        at = path;
        const checksum = fresh === null || isSingle ? null : await this.requireChecksum(path);
        steps.push({ path, checksum, fresh, before: isSingle ? null : await this.keepOld(path) });
      }
      if (steps.length > 1) {
        for (const folder of foldersOf(steps, host)) await host.syncFolder(folder);
        await journal.write(steps);
      }
      await this.perform(steps, (path) => (at = path));
    } catch (error) {
      throw outputFailed(`Cannot write ${printable(at)}`, error);
    } finally {
      if (!this.isUnfinished) for (const step of steps) await forget(step, host);
    }
    this.staged.clear();
  }

  private async perform(steps: readonly Step[], begin: (path: string) => void): Promise<void> {
    const { host, journal } = this;
    const done: Step[] = [];
    this.isUnfinished = steps.length > 1;
    try {
      for (const step of steps) {
        begin(step.path);
        await redo(step, host);
        done.push(step);
      }
      for (const folder of foldersOf(steps, host)) await host.syncFolder(folder);
    } catch (error) {
      if (steps.length > 1) {
        for (const step of done.toReversed()) await undo(step, host);
        await journal.remove();
        this.isUnfinished = false;
      }
      throw error;
    }
    this.isUnfinished = false;
    // If it stays, the next run finds that all is done.
    if (steps.length > 1) await ifAvailable(() => journal.remove());
  }

  private async requireChecksum(path: string): Promise<string> {
    const checksum = await checksumOfFile(this.placeOf(path), this.host);
    if (checksum === undefined) throw new HostError("EIO", "the temporary file cannot be read");
    return checksum;
  }

  /** Gives the published file another name as well; null without one. */
  private async keepOld(path: string): Promise<string | null> {
    const { host } = this;
    if ((await host.kindOf(path)) !== "file") return null;
    const token = newToken();
    await host.link(path, temporaryOf(path, token, host));
    return token;
  }

  /** Removes the temporary files of a set that was not published. */
  async close(): Promise<void> {
    if (this.isUnfinished) return;
    for (const [path, token] of this.staged)
      if (token !== null)
        await this.host.removeFile(temporaryOf(path, token, this.host)).catch(() => {});
    this.staged.clear();
  }
}

/** What happens to one file of a set. */
interface Step {
  readonly path: string;
  /** Size and CRC-32 of the new file; null for a file that is removed. */
  readonly checksum: string | null;
  /** The token of the temporary file with the new bytes. */
  readonly fresh: string | null;
  /** The token of the other name of the old file, which the step replaces; null without an old file. */
  readonly before: string | null;
}

/** A step as it is stored: with a path relative to the rules directory. */
type StoredStep = Omit<Step, "path"> & { readonly file: string };

interface Stored {
  readonly journal: 1;
  readonly steps: readonly StoredStep[];
}

/** How an unfinished publish ended. */
export type JournalEnd = "completed" | "undone" | "left";

/**
 * The steps of a set of files, written before the first of them, so that a later run can complete or undo them. It is state: what it
 * names counts only if the configuration names it, too.
 */
export class Journal {
  private readonly root: string;
  private readonly host: Host;
  private readonly file: StateFile<Stored>;

  constructor(home: string, root: string, host: Host) {
    this.root = root;
    this.host = host;
    this.file = new StateFile(journalPath(home, host), isStored, host);
  }

  async write(steps: readonly Step[]): Promise<void> {
    const { host, root, file } = this;
    const stored = steps.map(({ path, ...rest }) => ({
      file: host.path.relative(root, path).replaceAll(host.path.sep, "/"),
      ...rest,
    }));
    await file.replace({ journal: 1, steps: stored });
    await host.syncFolder(host.path.dirname(file.path));
  }

  async remove(): Promise<void> {
    await this.host.removeFile(this.file.path);
  }

  /**
   * Completes the steps if all new bytes are there, or else undoes them; undefined without a journal. Only files that `isNamed` accepts
   * are touched. The caller holds the lock of the set. Rejects with a `HostError`.
   */
  async finish(isNamed: (path: string) => Promise<boolean>): Promise<JournalEnd | undefined> {
    const { host, root } = this;
    const stored = await this.file.look();
    if (stored === "missing") return undefined;
    const views: StepView[] = [];
    for (const { file, ...rest } of stored === "damaged" ? [] : stored.steps)
      views.push(await viewOf({ path: host.path.resolve(root, file), ...rest }, isNamed, host));
    const named = views.filter((view) => view.isNamed);
    const end = stored === "damaged" ? "left" : endOf(named, others(views, root, host));
    for (const { step, isDone } of named) {
      if (end === "completed" && !isDone) await redo(step, host);
      if (end === "undone" && isDone) await undo(step, host);
    }
    for (const folder of foldersOf(named, host)) await host.syncFolder(folder);
    await this.remove();
    for (const { step } of named) await forget(step, host);
    return end;
  }
}

interface StepView {
  readonly step: Step;
  readonly isNamed: boolean;
  /** Whether the file is as it is after the step. */
  readonly isDone: boolean;
  readonly canRedo: boolean;
  readonly canUndo: boolean;
}

async function viewOf(
  step: Step,
  isNamed: (path: string) => Promise<boolean>,
  host: Host,
): Promise<StepView> {
  const { path, checksum, fresh, before } = step;
  const has = async (file: string): Promise<boolean> =>
    (await host.kindOf(file)) === "file" && (await checksumOfFile(file, host)) === checksum;
  const isDone = checksum === null ? (await host.kindOf(path)) === undefined : await has(path);
  const canRedo =
    isDone ||
    (checksum === null
      ? (await host.kindOf(path)) === "file"
      : fresh !== null && (await has(temporaryOf(path, fresh, host))));
  const canUndo =
    !isDone ||
    (before === null
      ? checksum !== null
      : (await host.kindOf(temporaryOf(path, before, host))) === "file");
  return { step, isNamed: await isNamed(path), isDone, canRedo, canUndo };
}

/** The steps for files of the folder that the configuration does not name any more. They stay as they are. */
function others(
  views: readonly StepView[],
  root: string,
  { path }: Pick<Host, "path">,
): StepView[] {
  return views.filter(
    ({ step, isNamed }) => !isNamed && path.relative(root, step.path).split(path.sep)[0] !== "..",
  );
}

/** Completing is better, unless files that must stay as they are belong to the build before. */
function endOf(named: readonly StepView[], kept: readonly StepView[]): JournalEnd {
  const isOld = kept.length > 0 && kept.every(({ isDone }) => !isDone);
  const mayUndo = named.every(({ canUndo }) => canUndo);
  if (named.every(({ canRedo }) => canRedo) && !(isOld && mayUndo)) return "completed";
  return mayUndo ? "undone" : "left";
}

function foldersOf(steps: readonly (Step | StepView)[], host: Pick<Host, "path">): Set<string> {
  return new Set(steps.map((one) => host.path.dirname("step" in one ? one.step.path : one.path)));
}

/** Does a step. */
async function redo({ path, fresh }: Step, host: Host): Promise<void> {
  if (fresh === null) await host.removeFile(path);
  else await host.rename(temporaryOf(path, fresh, host), path);
}

/** Undoes a step that was done. */
async function undo({ path, before }: Step, host: Host): Promise<void> {
  if (before === null) await host.removeFile(path);
  else await host.rename(temporaryOf(path, before, host), path);
}

/** Removes the temporary names of a step. */
async function forget({ path, fresh, before }: Step, host: Host): Promise<void> {
  for (const token of [fresh, before])
    if (token !== null) await host.removeFile(temporaryOf(path, token, host)).catch(() => {});
}

const isChecksum: Shape = (value) => isText(value) && /^\d{1,15}-[0-9a-f]{1,8}$/.test(value);
const isPath: Shape = (value) => isText(value) && value !== "";
const isOldName: Shape = either(isToken, oneOf([null]));
const isReplaced = objectOf<StoredStep>({
  file: isPath,
  checksum: isChecksum,
  fresh: isToken,
  before: isOldName,
});
const isRemoved = objectOf<StoredStep>({
  file: isPath,
  checksum: oneOf([null]),
  fresh: oneOf([null]),
  before: isOldName,
});
const isStored = objectOf<Stored>({
  journal: oneOf([1]),
  steps: arrayOf((step) => isReplaced(step) || isRemoved(step)),
});

/** What a configuration says about the files of a list. */
export interface ReleaseNames {
  readonly config: Pick<Config, "name" | "patches">;
  readonly files: readonly OutputFile[];
  readonly outputs: readonly OutputPlan[];
  /** Paths of the manifest and its signature. */
  readonly manifest: readonly string[];
}

/** What is noted about a file in the folder of records. */
const NOTE = /\.(?:journal|json|packed|parts)$/;

/** The files that a configuration names for one list: no other file is written, removed or completed. */
export class NamedFiles {
  private readonly release: ReleaseNames;
  private readonly host: Host;
  private readonly paths: ReadonlySet<string>;
  /** The outputs that have parts now, and all outputs. */
  private readonly split: readonly string[];
  private readonly plain: readonly string[];

  constructor(release: ReleaseNames, host: Host) {
    const { files, outputs, manifest } = release;
    this.release = release;
    this.host = host;
    this.plain = firstFiles(outputs);
    this.split = firstFiles(
      outputs.filter(({ limits }) => Math.min(limits.names, limits.bytes) < Infinity),
    );
    const planned = outputs.flatMap(plannedFiles);
    this.paths = new Set([...[...files, ...planned].map(({ path }) => path), ...manifest]);
  }

  has(path: string): boolean {
    return (
      this.paths.has(path) ||
      this.isPatch(path) ||
      this.split.some((first) => isPartOf(first, path, this.host))
    );
  }

  /** Removes the temporary files that killed runs left. The caller holds the lock of the list, and has finished its journal. */
  async removeLeftovers(): Promise<void> {
    const { host, paths, release } = this;
    const folders = new Set([...paths].map((path) => host.path.dirname(path)));
    for (const folder of folders) {
      const isNote = (name: string): boolean =>
        paths.has(host.path.join(folder, name.replace(NOTE, "")));
      await removeLeftoversIn(recordFolder(host.path.join(folder, "x"), host), isNote, host);
    }
    const [list] = release.files;
    if (list !== undefined && release.config.patches !== undefined)
      folders.add(patchFolder(list.path, host));
    for (const folder of folders)
      await removeLeftoversIn(
        folder,
        (name) => name.startsWith(".") && this.isKin(host.path.join(folder, name.slice(1))),
        host,
      );
  }

  /** The same as `has`, also for parts and compressed copies that the configuration had before. */
  private isKin(path: string): boolean {
    return (
      this.has(path) ||
      this.paths.has(path.replace(PACKED_ENDING, "")) ||
      this.plain.some((first) => isPartOf(first, path, this.host))
    );
  }

  private isPatch(path: string): boolean {
    const { config, files } = this.release;
    const [list] = files;
    if (list === undefined || config.patches === undefined) return false;
    const { path: paths } = this.host;
    return (
      paths.dirname(path) === patchFolder(list.path, this.host) &&
      isPatchOf(paths.basename(path), config.name)
    );
  }
}

/** The files of outputs that may have further parts. */
function firstFiles(outputs: readonly OutputPlan[]): string[] {
  return outputs.flatMap(({ path, allowPath }) => [path, allowPath]);
}
