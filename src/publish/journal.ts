import type { Host } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";
import { isToken, temporaryOf } from "../host/write-whole.ts";
import { journalPath } from "../record/record-folder.ts";
import { digestOfFile } from "../sources/source-store.ts";

/** What happens to one file of a set. */
export interface Step {
  readonly path: string;
  /** SHA-256 of the new file; null for a file that is removed. */
  readonly sha256: string | null;
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
  const { path, sha256, fresh, before } = step;
  const has = async (file: string): Promise<boolean> =>
    (await host.kindOf(file)) === "file" && (await digestOfFile(file, host)) === sha256;
  const isDone = sha256 === null ? (await host.kindOf(path)) === undefined : await has(path);
  const canRedo =
    isDone ||
    (sha256 === null
      ? (await host.kindOf(path)) === "file"
      : fresh !== null && (await has(temporaryOf(path, fresh, host))));
  const canUndo =
    !isDone ||
    (before === null
      ? sha256 !== null
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

export function foldersOf(
  steps: readonly (Step | StepView)[],
  host: Pick<Host, "path">,
): Set<string> {
  return new Set(steps.map((one) => host.path.dirname("step" in one ? one.step.path : one.path)));
}

/** Does a step. */
export async function redo({ path, fresh }: Step, host: Host): Promise<void> {
  if (fresh === null) await host.removeFile(path);
  else await host.rename(temporaryOf(path, fresh, host), path);
}

/** Undoes a step that was done. */
export async function undo({ path, before }: Step, host: Host): Promise<void> {
  if (before === null) await host.removeFile(path);
  else await host.rename(temporaryOf(path, before, host), path);
}

/** Removes the temporary names of a step. */
export async function forget({ path, fresh, before }: Step, host: Host): Promise<void> {
  for (const token of [fresh, before])
    if (token !== null) await host.removeFile(temporaryOf(path, token, host)).catch(() => {});
}

function isStored(value: unknown): value is Stored {
  const { journal, steps } = (value ?? {}) as Partial<Stored>;
  return journal === 1 && Array.isArray(steps) && steps.every(isStoredStep);
}

function isStoredStep(value: unknown): boolean {
  const { file, sha256, fresh, before } = (value ?? {}) as Partial<StoredStep>;
  const isDigest = typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
  return (
    typeof file === "string" &&
    file !== "" &&
    (sha256 === null ? fresh === null : isDigest && isToken(fresh)) &&
    (before === null || isToken(before))
  );
}
