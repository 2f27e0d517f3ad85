import { equalBytes } from "../bytes/search.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError, type NewFile, type OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { newToken, removeLeftovers, temporaryOf } from "../host/write-whole.ts";
import type { FileSet } from "./file-set.ts";
import { outputFailed } from "./output-failed.ts";
import { outputTarget } from "./output-target.ts";
import { OutputLock } from "./output-lock.ts";

/** `unchanged` if only the date would differ: resolvers then need not reload the list. */
export type WriteOutcome = "written" | "unchanged";

/** A file that is written beside the published one, under a temporary name, until a set of files publishes it. */
export class ListFile {
  private readonly path: string;
  private readonly token: string = newToken();
  private readonly temporary: string;
  private readonly host: Host;
  private file: NewFile | undefined;
  private lock: OutputLock | undefined;
  /** Whether the temporary file belongs to a set. */
  private isStaged = false;

  constructor(path: string, host: Host) {
    this.path = path;
    this.host = host;
    this.temporary = temporaryOf(path, this.token, host);
  }

  /** Opens a further part of a list, whose lock this run holds already. Throws a `CompilerError`. */
  openBeside(): void {
    try {
      this.file = this.host.createFile(this.temporary, this.path);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /**
   * `prepare` runs as soon as this run has the lock. Rejects with a `CompilerError` if the file cannot be written, or another run
   * holds the lock.
   */
  async open(prepare?: () => Promise<void>): Promise<void> {
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
      await prepare?.();
      const hidden = `.${host.path.basename(path)}`;
      await removeLeftovers(host.path.join(host.path.dirname(path), hidden), host);
      // The new file keeps the permissions that the owner gave to the old one.
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

  /** Replaces bytes that were written before. */
  rewrite(position: number, bytes: Uint8Array): void {
    try {
      this.file!.rewrite(position, bytes);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /**
   * Hands the file to a set for a program that compares times in seconds: not with the second of the existing file, which it may
   * have read in that second.
   */
  async stageLater(set: FileSet): Promise<WriteOutcome> {
    const { host, path, temporary } = this;
    const old = await host.stampOf(path);
    const passed = host.now().getTime() - SECOND * Math.floor((old?.changed ?? 0) / SECOND);
    if (passed >= 0 && passed < SECOND) {
      await host.wait(SECOND - passed);
      await this.attempt(() => host.touch(temporary));
    }
    return await this.stage(set);
  }

  /**
   * Hands the complete file to a set, unless the existing one has the same rules. `timelessHeader` is the header with other bytes in
   * place of everything that depends on the clock.
   */
  async stage(set: FileSet, timelessHeader: Uint8Array = new Uint8Array(0)): Promise<WriteOutcome> {
    return await this.attempt(async () => {
      const { host, path, temporary } = this;
      await this.file!.finish();
      this.file = undefined;
      if (await isSameButDate([path, temporary], timelessHeader, host)) {
        await host.removeFile(temporary).catch(() => {});
        return "unchanged";
      }
      set.stage(path, this.token, this.lock);
      this.isStaged = true;
      return "written";
    });
  }

  /** Removes the temporary file, unless a set has it, and releases the lock. */
  async close(): Promise<void> {
    this.file?.abandon();
    this.file = undefined;
    if (!this.isStaged) await this.host.removeFile(this.temporary).catch(() => {});
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

const SECOND = 1000;
const BLOCK = 1024 * 1024;
/** The header of a list ends within this many bytes. */
const HEADER_BYTES = 8192;
/** Maximum length of a header line that crosses that limit. */
const LAST_LINE = 512;

/** Whether two lists differ only in the date and the serial in their headers, which have the same length. */
export async function isSameButDate(
  paths: readonly [old: string, fresh: string],
  timelessHeader: Uint8Array,
  host: Host,
): Promise<boolean> {
  if (!(await host.exists(paths[0]))) return false;
  const files: OpenFile[] = [];
  try {
    for (const path of paths) files.push(await host.openFile(path));
    const [old, fresh] = files as [OpenFile, OpenFile];
    return old.size === fresh.size && (await haveSameText(old, fresh, timelessHeader));
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
  timelessHeader: Uint8Array,
): Promise<boolean> {
  const size = Math.min(Math.max(BLOCK, timelessHeader.length), Math.max(old.size, 1));
  const header = Math.max(HEADER_BYTES, timelessHeader.length);
  const buffers = [new Uint8Array(size), new Uint8Array(size)] as const;
  for (let block = 0; ; block++) {
    const [a, b] = await Promise.all([readFully(old, buffers[0]), readFully(fresh, buffers[1])]);
    if (a.length !== b.length) return false;
    if (a.length === 0) return true;
    if (block === 0) {
      for (const [at, byte] of timelessHeader.entries()) if (byte !== b[at]) a[at] = b[at]!;
      if (withoutDates(a, header) !== withoutDates(b, header)) return false;
      const rest = header + LAST_LINE;
      if (!equalBytes(a.subarray(rest), b.subarray(rest))) return false;
    } else if (!equalBytes(a, b)) return false;
  }
}

/** Parts of a header that depend on the time or the version, not on the rules. */
const VOLATILE = [
  /(?<=^! Diff-Path: )[^\n]*(?=\n)/m,
  /(?<=^[!#;]? ?Last modified: )[^\n]*(?=\n)/m,
  /(?<=^@ SOA \S+ \S+ )\d+/m,
  /(?<="Last modified: )[^"]*/,
];

/** The header with `?` in place of those parts. */
function withoutDates(bytes: Uint8Array, header: number): string {
  // latin1 has one character per byte.
  let text = new TextDecoder("latin1").decode(bytes.subarray(0, header + LAST_LINE));
  for (const part of VOLATILE)
    text = text.replace(part, (found, at: number) =>
      at < header ? "?".repeat(found.length) : found,
    );
  return text;
}
