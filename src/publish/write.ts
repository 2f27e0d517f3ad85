import { equalBytes } from "../bytes/search.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type NewFile, type OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { removeLeftovers, temporaryFor } from "../host/write-whole.ts";
import { outputFailed } from "./output-failed.ts";
import { outputTarget } from "./output-target.ts";
import { OutputLock } from "./output-lock.ts";

/** `written`, or `unchanged` when only the date would differ: resolvers then have nothing to load again. */
export type WriteOutcome = "written" | "unchanged";

/**
 * A list on its way to where readers look for it. They see the old list or the new one, whole: the bytes go to a
 * temporary file in the same folder, are flushed, and take the name in one step.
 */
export class ListFile {
  private readonly path: string;
  private readonly temporary: string;
  private readonly host: Host;
  private file: NewFile | undefined;
  private lock: OutputLock | undefined;

  constructor(path: string, host: Host) {
    this.path = path;
    this.host = host;
    this.temporary = temporaryFor(hiddenName(path, host));
  }

  /** Begins one that belongs to another, whose lock is taken. Throws a `CompilerError`. */
  openBeside(): void {
    try {
      this.file = this.host.createFile(this.temporary, this.path);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /** Rejects with a `CompilerError`: it cannot be written, or another run is at it. */
  async open(): Promise<void> {
    const { host, path } = this;
    await this.attempt(async () => {
      const target = await outputTarget(path, host);
      if (target !== "file")
        throw new HostError(
          "EINVAL",
          target === "folder" ? "is a folder" : "is not a regular file",
        );
      await host.makeFolder(host.path.dirname(path));
      this.lock = await OutputLock.take(path, host);
      await removeLeftovers(hiddenName(path, host), host);
      // Who may read the list is for its owner to say, once and for all.
      this.file = host.createFile(this.temporary, path);
    });
  }

  write(bytes: Uint8Array): void {
    try {
      this.file!.write(bytes);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /**
   * Puts the list in its place, unless the one that is there says the same. `timelessHead` is what it begins with, with other
   * bytes wherever the clock decides.
   */
  async publish(timelessHead: Uint8Array = new Uint8Array(0)): Promise<WriteOutcome> {
    return await this.attempt(async () => {
      await this.file!.finish();
      this.file = undefined;
      if (this.lock !== undefined && !(await this.lock.isOurs()))
        throw new HostError("EBUSY", "another run took over");
      if (await isSameButDate([this.path, this.temporary], timelessHead, this.host)) {
        await this.host.removeFile(this.temporary).catch(() => {});
        return "unchanged";
      }
      await this.host.rename(this.temporary, this.path);
      await this.host.syncFolder(this.host.path.dirname(this.path));
      return "written";
    });
  }

  /** Takes back what was not published, and lets other runs in. */
  async close(): Promise<void> {
    this.file?.abandon();
    this.file = undefined;
    await this.host.removeFile(this.temporary).catch(() => {});
    await this.lock?.release();
    this.lock = undefined;
  }

  private async attempt<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      await this.close();
      throw this.errorOf(error);
    }
  }

  private errorOf(error: unknown): unknown {
    return outputFailed(`Cannot write ${printable(this.path)}`, error);
  }
}

function hiddenName(path: string, host: Host): string {
  return host.path.join(host.path.dirname(path), `.${host.path.basename(path)}`);
}

const BLOCK = 1024 * 1024;
/** Bytes in which the head of a list ends. */
const HEAD = 8192;
/** Its last line may end behind them. */
const LAST_LINE = 512;

/** Whether two lists differ in nothing but the date and the serial in their heads, which take the same bytes in both. */
async function isSameButDate(
  paths: readonly [old: string, fresh: string],
  timelessHead: Uint8Array,
  host: Host,
): Promise<boolean> {
  if (!(await host.exists(paths[0]))) return false;
  const files: OpenFile[] = [];
  try {
    for (const path of paths) files.push(await host.openFile(path));
    const [old, fresh] = files as [OpenFile, OpenFile];
    return old.size === fresh.size && (await haveSameText(old, fresh, timelessHead));
  } catch (error) {
    if (error instanceof HostError && files.length === 0) return false;
    throw error;
  } finally {
    for (const file of files) await file.close();
  }
}

async function haveSameText(
  old: OpenFile,
  fresh: OpenFile,
  timelessHead: Uint8Array,
): Promise<boolean> {
  const size = Math.min(Math.max(BLOCK, timelessHead.length), Math.max(old.size, 1));
  const head = Math.max(HEAD, timelessHead.length);
  const buffers = [new Uint8Array(size), new Uint8Array(size)] as const;
  for (let block = 0; ; block++) {
    const [a, b] = await Promise.all([readFully(old, buffers[0]), readFully(fresh, buffers[1])]);
    if (a.length !== b.length) return false;
    if (a.length === 0) return true;
    if (block === 0) {
      for (const [at, byte] of timelessHead.entries()) if (byte !== b[at]) a[at] = b[at]!;
      if (withoutDates(a, head) !== withoutDates(b, head)) return false;
      const rest = head + LAST_LINE;
      if (!equalBytes(a.subarray(rest), b.subarray(rest))) return false;
    } else if (!equalBytes(a, b)) return false;
  }
}

/** Parts of a head that say when and which edition, and nothing about rules. */
const VOLATILE = [
  /(?<=^! Diff-Path: )[^\n]*(?=\n)/m,
  /(?<=^[!#;]? ?Last modified: )[^\n]*(?=\n)/m,
  /(?<=^@ SOA \S+ \S+ )\d+/m,
  /(?<="Last modified: )[^"]*/,
];

/** A head with those parts blotted out; of the same length. */
function withoutDates(bytes: Uint8Array, head: number): string {
  // A character a byte, whatever the bytes.
  let text = new TextDecoder("latin1").decode(bytes.subarray(0, head + LAST_LINE));
  for (const part of VOLATILE)
    text = text.replace(part, (found, at: number) =>
      at < head ? "?".repeat(found.length) : found,
    );
  return text;
}
