import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type NewFile } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { newToken, temporaryOf } from "../host/write-whole.ts";
import { digestOfFile } from "../sources/source-store.ts";
import { Journal, type Step, foldersOf, forget, redo, undo } from "./journal.ts";
import { outputFailed } from "./output-failed.ts";
import type { OutputLock } from "./output-lock.ts";

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
        const sha256 = fresh === null || isSingle ? null : await this.requireDigest(path);
        steps.push({ path, sha256, fresh, before: isSingle ? null : await this.keepOld(path) });
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

  private async requireDigest(path: string): Promise<string> {
    const digest = await this.digestOf(path);
    if (digest === undefined) throw new HostError("EIO", "the temporary file cannot be read");
    return digest;
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
