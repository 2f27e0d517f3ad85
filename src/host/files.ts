import { ByteBuffer, LF, encodeUtf8 } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf } from "../diagnostics/text.ts";
import {
  type Host,
  HostError,
  type NewFile,
  type OpenFile,
  type Packing,
  type Scratch,
} from "./host.ts";

const ATTEMPTS = 5;

/**
 * A JSON file that stores state for later runs. Another program may have changed it, or a crash may have truncated it: a file
 * that cannot be read, is not JSON or fails the check counts as missing. A file of a newer version is not read and not
 * replaced: all methods then reject with a `CompilerError`.
 */
export class StateFile<T extends object> {
  readonly path: string;
  private readonly isValid: (value: unknown) => value is T;
  private readonly host: Host;
  private readonly version: number;

  /** `version`: the newest that this program knows. */
  constructor(path: string, isValid: (value: unknown) => value is T, host: Host, version = 1) {
    this.path = path;
    this.isValid = isValid;
    this.host = host;
    this.version = version;
  }

  async read(): Promise<T | undefined> {
    const found = await this.look();
    return typeof found === "string" ? undefined : found;
  }

  /** The same for callers that report a damaged file. */
  async look(): Promise<T | "missing" | "damaged"> {
    try {
      const text = new TextDecoder().decode(await this.host.readFile(this.path));
      const value: unknown = JSON.parse(text);
      this.refuseNewer(value);
      return this.isValid(value) ? value : "damaged";
    } catch (error) {
      if (error instanceof HostError) return error.code === "ENOENT" ? "missing" : "damaged";
      if (error instanceof SyntaxError) return "damaged";
      throw error;
    }
  }

  private refuseNewer(value: unknown): void {
    const { version } = (value ?? {}) as { readonly version?: unknown };
    if (typeof version !== "number" || version <= this.version) return;
    const message = `${printable(this.path)} was written by a newer rules-compiler`;
    const cause = `its version is ${version}, and this one knows ${this.version}`;
    throw new CompilerError([errorOf("newer-state", message, { cause })]);
  }

  /** Replaces the file atomically. Rejects with a `HostError`. */
  async write(value: T, indent?: number): Promise<void> {
    await this.look();
    const text = `${JSON.stringify(value, undefined, indent)}\n`;
    await writeWhole(this.path, this.host, (file) => file.write(new TextEncoder().encode(text)));
  }

  /**
   * Like `write`, and removes temporary files of killed runs, for state that runs write without a lock. Another run may take
   * the temporary file of this one for such a file, so this one writes again.
   */
  async replace(value: T, indent?: number): Promise<void> {
    await removeLeftovers(this.path, this.host);
    for (let attempt = 1; ; attempt++)
      try {
        return await this.write(value, indent);
      } catch (error) {
        const isRemoved = error instanceof HostError && error.code === "ENOENT";
        if (!isRemoved || attempt === ATTEMPTS) throw error;
      }
  }

  /** Like `replace`, but ignores failures, for state that later runs can do without. */
  async tryReplace(value: T, indent?: number): Promise<void> {
    try {
      await this.replace(value, indent);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }
}

/** What makes the name of a temporary file unique. */
export function newToken(): string {
  return Math.random().toString(36).slice(2, 10);
}

export function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[a-z0-9]{1,12}$/.test(value);
}

/** A temporary name beside a path. */
export function temporaryFor(path: string): string {
  return `${path}.${newToken()}.tmp`;
}

/** The temporary name, which is hidden, of a file that is published. */
export function temporaryOf(path: string, token: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(path), `.${host.path.basename(path)}.${token}.tmp`);
}

/** Removes temporary files of killed runs. The caller must know that no other run uses the path. */
export async function removeLeftovers(path: string, host: Host): Promise<void> {
  const name = host.path.basename(path);
  await removeLeftoversIn(host.path.dirname(path), (file) => file === name, host);
}

/** The same for all files of a folder that `isOwn` accepts by their name, which begins with a dot for files that are published. */
export async function removeLeftoversIn(
  folder: string,
  isOwn: (name: string) => boolean,
  host: Host,
): Promise<void> {
  for (const name of await host.listFolder(folder)) {
    const file = /^(?<file>.+)\.[a-z0-9]{1,12}\.tmp$/s.exec(name)?.groups?.["file"];
    if (file !== undefined && isOwn(file))
      await host.removeFile(host.path.join(folder, name)).catch(() => {});
  }
}

/**
 * Writes a file under a temporary name and renames it when it is complete; the name may depend on the content. Any number of
 * runs may write the same file. Rejects with a `HostError`, and leaves nothing behind.
 */
export async function writeWhole<T>(
  path: string,
  host: Host,
  write: (file: NewFile) => T | Promise<T>,
  nameOf: (written: T) => string | Promise<string> = () => path,
): Promise<T> {
  const temporary = temporaryFor(path);
  let file: NewFile | undefined;
  try {
    await host.makeFolder(host.path.dirname(path));
    file = host.createFile(temporary, path);
    const written = await write(file);
    await file.finish();
    file = undefined;
    await host.rename(temporary, await nameOf(written));
    return written;
  } catch (error) {
    file?.abandon();
    await host.removeFile(temporary).catch(() => {});
    throw error;
  }
}

/** Bytes of a partition that are collected before they go to the scratch file. */
const PIECE = 64 * 1024;

/** Many bytes in a number of partitions, each of which is small enough to be read at once. */
export class ScratchPartitions {
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly waiting: readonly ByteBuffer[];
  private readonly pieces: readonly { readonly position: number; readonly length: number }[][];

  constructor(openScratch: () => Scratch, count: number) {
    this.openScratch = openScratch;
    this.waiting = Array.from({ length: count }, () => new ByteBuffer());
    this.pieces = Array.from({ length: count }, () => []);
  }

  get count(): number {
    return this.waiting.length;
  }

  /** The end of a partition, to append to. Call `settle` afterwards. */
  end(index: number): ByteBuffer {
    return this.waiting[index]!;
  }

  /** Moves the end of a partition to the scratch file if it is large. */
  settle(index: number): void {
    const waiting = this.waiting[index]!;
    if (waiting.length < PIECE) return;
    this.scratch ??= this.openScratch();
    const position = this.scratch.append(waiting.view());
    this.pieces[index]!.push({ position, length: waiting.length });
    waiting.length = 0;
  }

  /** All bytes of a partition. */
  load(index: number): Uint8Array {
    const pieces = this.pieces[index]!;
    const waiting = this.waiting[index]!;
    const stored = pieces.reduce((sum, { length }) => sum + length, 0);
    const bytes = new Uint8Array(stored + waiting.length);
    let at = 0;
    for (const { position, length } of pieces) {
      this.scratch!.read(position, bytes.subarray(at, at + length));
      at += length;
    }
    bytes.set(waiting.view(), at);
    return bytes;
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }
}

const BLOCK = 1024 * 1024;

/** Passes on the lines of a file, many at a time; a block is valid during the call. Rejects with a `HostError`. */
export async function readLines(
  path: string,
  host: Pick<Host, "openFile">,
  take: (lines: Uint8Array) => void,
): Promise<void> {
  const file = await host.openFile(path);
  try {
    let buffer = new Uint8Array(BLOCK);
    let kept = 0;
    for (;;) {
      const read = await readFully(file, buffer.subarray(kept));
      const filled = buffer.subarray(0, kept + read.length);
      if (read.length === 0) {
        if (kept > 0) take(filled);
        return;
      }
      const end = filled.lastIndexOf(LF) + 1;
      if (end > 0) take(filled.subarray(0, end));
      else if (filled.length === buffer.length) {
        // A line that is longer than the buffer.
        const larger = new Uint8Array(buffer.length * 2);
        larger.set(buffer);
        buffer = larger;
      }
      buffer.copyWithin(0, end, filled.length);
      kept = filled.length - end;
    }
  } finally {
    await file.close();
  }
}

/** Reads until the buffer is full or the file ends, and returns the bytes read. Rejects with a `HostError`. */
export async function readFully(
  file: OpenFile,
  into: Uint8Array,
  position?: number,
): Promise<Uint8Array> {
  let length = 0;
  while (length < into.length) {
    const from = position === undefined ? undefined : position + length;
    const count = await file.read(into.subarray(length), from);
    if (count === 0) break;
    length += count;
  }
  return into.subarray(0, length);
}

/** Writes to standard output. Returns false if the reader has closed it (`| head`); other failures are errors. */
export async function sendToOutput(data: string | Uint8Array, host: Host): Promise<boolean> {
  try {
    await host.stdout.send(data);
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "EPIPE") return false;
    const cause = reasonOf(error.code, error.message);
    throw new CompilerError([
      errorOf("output-failed", "Cannot write to standard output", { cause }),
    ]);
  }
}

/** File extensions of packings; the most compact first. */
export const PACKED_ENDINGS: Readonly<Record<Packing, string>> = {
  zstd: "zst",
  br: "br",
  gzip: "gz",
};

/** The end of the name of a compressed file. */
export const PACKED_ENDING: RegExp = new RegExp(
  `\\.(?:${Object.values(PACKED_ENDINGS).join("|")})$`,
);

/** The result of work with files; undefined if it ends with a `HostError`, for example because a file is missing. */
export async function ifAvailable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** A check of a value that was parsed from JSON, or of a part of it. */
export type Shape = (value: unknown) => boolean;
export type TypeCheck<T> = (value: unknown) => value is T;

export const isText: TypeCheck<string> = (value) => typeof value === "string";
export const isFlag: Shape = (value) => typeof value === "boolean";
export const isNumber: Shape = Number.isFinite;
/** A count or a measurement. */
export const isAmount: Shape = (value) => isNumber(value) && (value as number) >= 0;
export const isWhole: Shape = Number.isSafeInteger;
/** A text that `Date.parse` can read. */
export const isDate: Shape = (value) => isText(value) && !Number.isNaN(Date.parse(value));
/** A timestamp in the format of `Date.toISOString`. */
export const isTimestamp: Shape = (value) =>
  isDate(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value as string);
export const isDigest: Shape = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value);

export function oneOf(values: readonly unknown[]): Shape {
  return (value) => values.includes(value);
}

export function either(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.some((fits) => fits(value));
}

/** An array; `length` if it must have as many items. */
export function arrayOf(fits: Shape, length?: number): Shape {
  return (value) =>
    Array.isArray(value) && (length === undefined || value.length === length) && value.every(fits);
}

export function mapOf(fits: Shape): Shape {
  return (value) => isObject(value) && Object.values(value).every(fits);
}

/** An object with at least the required fields. */
export function objectOf<T = Record<string, unknown>>(
  required: Readonly<Partial<Record<NoInfer<keyof T>, Shape>>>,
  optional?: Readonly<Partial<Record<NoInfer<keyof T>, Shape>>>,
): TypeCheck<T> {
  const needed = Object.entries<Shape | undefined>(required);
  const others = Object.entries<Shape | undefined>(optional ?? {});
  return (value): value is T =>
    isObject(value) &&
    needed.every(([key, fits]) => Object.hasOwn(value, key) && fits!(value[key])) &&
    others.every(([key, fits]) => value[key] === undefined || fits!(value[key]));
}

export const isAnything: Shape = () => true;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes a user's file atomically. Rejects with a `CompilerError`. */
export async function writeText(path: string, text: string, host: Host): Promise<void> {
  try {
    // Keeps symbolic links and file permissions.
    const real = await host.realPath(path).catch(() => path);
    await writeWhole(real, host, (file) => file.write(encodeUtf8(text)));
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

/** Turns the `HostError` of a failed write into a `CompilerError`; returns any other error unchanged. */
export function outputFailed(message: string, error: unknown): unknown {
  if (!(error instanceof HostError)) return error;
  const cause = reasonOf(error.code, error.message);
  return new CompilerError([errorOf("output-failed", message, { cause })]);
}
