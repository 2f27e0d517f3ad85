import { END_BYTES, decodeUtf8, encodeUtf8, equalBytes } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, someOf } from "../diagnostics/text.ts";
import { slugOf } from "../engine/plan.ts";
import {
  StateFile,
  ifAvailable,
  isNumber,
  isText,
  newToken,
  objectOf,
  readFully,
  removeLeftovers,
  temporaryOf,
  outputFailed,
} from "../host/files.ts";
import { type Host, HostError, type NewFile, type OpenFile, type ProcessId } from "../host/host.ts";
import { canaryIn } from "../syntax/host-name.ts";
import type { FileSet } from "./file-set.ts";
import type { WriteOutcome } from "../documents/facts.ts";

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

/** What the path of an output refers to, after following links. */
type OutputTarget = "file" | "folder" | "stdout" | "nowhere" | "other";

export const NOWHERE = "/dev/null";
const STDOUT = /^\/(?:dev\/stdout|(?:dev|proc\/(?:self|thread-self|\d+))\/fd\/1)$/;
/** Links in these folders refer to open files of a process, whatever name they show. */
const OPEN_FILES = /^\/(?:dev\/fd|proc)\//;
const MOST_LINKS = 40;

/** A path that does not exist, and a dangling link, count as a file. */
export async function outputTarget(output: string, host: Host): Promise<OutputTarget> {
  let path = output;
  for (let links = 0; links < MOST_LINKS; links++) {
    if (STDOUT.test(path)) return "stdout";
    if (path === NOWHERE) return "nowhere";
    if (OPEN_FILES.test(path)) return "other";
    const kind = await host.kindOf(path);
    if (kind !== "link") return kind ?? "file";
    const next = await host.readLink?.(path);
    if (next === undefined) return "file";
    path = host.path.resolve(host.path.dirname(path), next);
  }
  return "other";
}

/** The contents of a lock file. */
interface Holder extends ProcessId {
  /** Unique for each lock. */
  readonly token: string;
  readonly since: string;
}

/** How often the holder updates the time of the lock file. */
const BEAT_MS = 10_000;
/** Without an update for this long, the lock counts as abandoned, unless the process can be checked. */
const SILENCE_MS = 120_000;
/** An unreadable lock may still be written; after this time its writer has died. */
const UNREADABLE_MS = 5000;
const TRIES = 5;

/**
 * Prevents concurrent runs for the same list. The lock is a file beside the list, so it works for all machines that share the folder.
 * On the same machine, the process of the holder is checked; in another container, only the time of the lock file shows that it died.
 */
export class OutputLock {
  private readonly path: string;
  private readonly host: Host;
  private readonly token: string;
  private readonly beat: ReturnType<typeof setInterval>;

  private constructor(path: string, token: string, host: Host) {
    this.path = path;
    this.host = host;
    this.token = token;
    this.beat = setInterval(() => void host.touch(path).catch(() => {}), BEAT_MS);
    this.beat.unref?.();
  }

  /** Rejects with a `CompilerError` if another run holds the lock, with a `HostError` if it cannot be written. */
  static async take(output: string, host: Host): Promise<OutputLock> {
    const path = host.path.join(host.path.dirname(output), `.${host.path.basename(output)}.lock`);
    const token = Math.random().toString(36).slice(2);
    const holder: Holder = { ...host.processId(), token, since: host.now().toISOString() };
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (await create(path, JSON.stringify(holder), host))
        return new OutputLock(path, token, host);
      const other = await readHolder(path, host);
      if (other === "gone") continue;
      if (await isHeld(path, other, host)) throw locked(output, other);
      await breakLock(path, other, host);
    }
    throw locked(output, undefined);
  }

  /** Whether this run still holds the lock. Must be checked before publishing. */
  async isOurs(): Promise<boolean> {
    const holder = await readHolder(this.path, this.host);
    return typeof holder === "object" && holder.token === this.token;
  }

  async release(): Promise<void> {
    clearInterval(this.beat);
    if (await this.isOurs()) await this.host.removeFile(this.path).catch(() => {});
  }
}

/** Writes the lock under another name first, so that a lock file is always complete. */
async function create(path: string, text: string, host: Host): Promise<boolean> {
  const aside = asideOf(path);
  let file: NewFile | undefined;
  try {
    file = host.createFile(aside);
    file.write(encodeUtf8(text));
    await file.finish();
    file = undefined;
    return await linked(aside, path, host);
  } catch (error) {
    file?.abandon();
    throw error;
  } finally {
    await host.removeFile(aside).catch(() => {});
  }
}

/** False if another run has the lock, or removed this file as a leftover. */
async function linked(aside: string, path: string, host: Host): Promise<boolean> {
  try {
    await host.link(aside, path);
    return true;
  } catch (error) {
    if (error instanceof HostError && (error.code === "EEXIST" || error.code === "ENOENT"))
      return false;
    throw error;
  }
}

/** A name that later runs recognize as a leftover of a killed run. */
function asideOf(path: string): string {
  return `${path.replace(/\.lock$/, "")}.${Math.random().toString(36).slice(2, 10)}.tmp`;
}

async function readHolder(path: string, host: Host): Promise<Holder | "gone" | undefined> {
  // Whatever goes wrong, a lock that cannot be read is still a lock.
  const found = await new StateFile(path, isHolder, host).look().catch(() => "damaged" as const);
  if (found === "missing") return "gone";
  return found === "damaged" ? undefined : found;
}

const isHolder = objectOf<Holder>({ pid: isNumber, token: isText });

async function isHeld(path: string, holder: Holder | undefined, host: Host): Promise<boolean> {
  const silence = host.now().getTime() - ((await host.stampOf(path))?.changed ?? 0);
  if (holder === undefined) return Math.abs(silence) < UNREADABLE_MS;
  return host.isRunning(holder) ?? Math.abs(silence) < SILENCE_MS;
}

/** Removes an abandoned lock. If another run replaced it meanwhile, its lock is put back. */
async function breakLock(path: string, dead: Holder | undefined, host: Host): Promise<void> {
  const aside = asideOf(path);
  try {
    await host.rename(path, aside);
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return;
    throw error;
  }
  const taken = await readHolder(aside, host);
  const isSame = typeof taken === "object" ? taken.token === dead?.token : dead === undefined;
  if (isSame || (await host.exists(path))) await host.removeFile(aside);
  else await host.rename(aside, path);
}

function locked(output: string, holder: Holder | undefined): CompilerError {
  const who =
    holder === undefined
      ? "another run"
      : `process ${holder.pid} on ${printable(holder.machine.split(" ")[0] ?? "")}`;
  const since = holder === undefined ? "" : `, since ${printable(holder.since)}`;
  return new CompilerError([
    errorOf("locked", `${printable(output)} is being built by ${who}${since}`),
  ]);
}

/** An output file: its name for users, and its path. */
export interface OutputFile {
  readonly name: string;
  readonly path: string;
}

/** The first bytes of a file; undefined if it cannot be read. */
export async function readStart(
  path: string,
  length: number,
  host: Host,
): Promise<Uint8Array | undefined> {
  return await ifAvailable(async () => {
    const file = await host.openFile(path);
    try {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, await file.read(bytes));
    } finally {
      await file.close();
    }
  });
}

/** The values for the placeholders in a file name. */
interface FileValues {
  /** The name of the list. */
  readonly name: string;
  readonly format?: string;
}

/** Replaces `{name}`, `{slug}` and `{format}`. A value cannot add folders; the template can. */
export function fileNamed(template: string, { name, format }: FileValues): string {
  return template.replace(/\{(?:name|slug|format)\}/g, (found) => {
    if (found === "{slug}") return slugOf(name);
    return found === "{name}" ? namePart(name) : (format ?? found);
  });
}

/** Throws a `CompilerError` if a template has a placeholder that is not among the known ones. `where` is its field. */
export function checkTemplate(
  template: string | undefined,
  known: readonly string[],
  where: string,
): void {
  const found = template?.match(/\{\w+\}/g)?.find((one) => !known.includes(one));
  if (found === undefined) return;
  const problem = `${printable(found, 60)} is unknown`;
  throw new CompilerError([
    errorOf("config-invalid", `Invalid configuration: ${where}: ${problem}`, {
      hint: `Known here: ${someOf(known)}`,
    }),
  ]);
}

/** Replaces the characters that file systems do not allow in names. */
function namePart(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const part = name
    .replace(/[\u0000-\u001f\u007f/\\:*?"<>|]+/g, "-")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  return part === "" ? slugOf(name) : part;
}

/** The canary at the end of a list. */
export function canaryOf(bytes: Uint8Array): string | undefined {
  return canaryIn(decodeUtf8(bytes, Math.max(0, bytes.length - END_BYTES), bytes.length));
}

/** The canary of the published list, from its end; undefined if the list has no canary or does not exist. */
export async function publishedCanary(path: string, host: Host): Promise<string | undefined> {
  try {
    const file = await host.openFile(path);
    try {
      const length = Math.min(END_BYTES, file.size);
      return canaryOf(await readFully(file, new Uint8Array(length), file.size - length));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return undefined;
    throw error;
  }
}
