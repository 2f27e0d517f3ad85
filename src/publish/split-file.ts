import type { WriteOutcome } from "../documents/facts.ts";
import { SPACE, countLineFeeds, decodeUtf8, encodeUtf8, lineEnd } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { numberText, printable } from "../diagnostics/text.ts";
import { PACKED_ENDINGS, ifAvailable, writeWhole } from "../host/files.ts";
import type { Host } from "../host/host.ts";
import { recordFolder } from "../record/record-file.ts";
import type { FileSet } from "./file-set.ts";
import { ListFile } from "./list-file.ts";

export interface SplitLimits {
  readonly names: number;
  readonly bytes: number;
}

/** More files are a mistake in the limits: no client subscribes to so many. */
const MOST_PARTS = 1000;

const ENDINGS: readonly string[] = Object.values(PACKED_ENDINGS).map((ending) => `.${ending}`);

/** The header of every part. */
export interface PartHeader {
  readonly bytes: Uint8Array;
  /** The same header with `?` in place of everything that depends on the clock. */
  readonly timeless?: Uint8Array;
}

/** The layout of every part. */
export interface PartLayout {
  readonly limits: SplitLimits;
  readonly footer: Uint8Array;
  /** Whether every line except the first begins with a comma. */
  readonly isCommaFirst: boolean;
}

/** A file that is split if it is too large: `list.txt`, `list-2.txt`, `list-3.txt` … Each part has the same header. */
export class SplitFile {
  bytes = 0;
  readonly path: string;
  private readonly host: Host;
  private readonly limits: SplitLimits;
  private header: PartHeader = { bytes: new Uint8Array(0) };
  private readonly footer: Uint8Array;
  private readonly isCommaFirst: boolean;
  private readonly parts: ListFile[] = [];
  /** The headers of the parts without dates; a part without one has that of the first. */
  private readonly headers: (Uint8Array | undefined)[] = [];
  private partBytes = 0;
  private partNames = 0;
  /** Whether lines that must stay together exceed the size of a part. */
  isTorn = false;

  constructor(path: string, { limits, footer, isCommaFirst }: PartLayout, host: Host) {
    this.path = path;
    this.footer = footer;
    this.isCommaFirst = isCommaFirst;
    this.limits = limits;
    this.host = host;
  }

  get paths(): string[] {
    return this.parts.map((_, index) => partPath(this.path, index, this.host));
  }

  async open(): Promise<void> {
    const file = new ListFile(this.path, this.host);
    await file.open();
    this.begin(file);
  }

  /** Writes the header, before the first line. */
  start(header: PartHeader): void {
    this.headers.push(header.timeless);
    this.header = header;
    this.append(header.bytes);
  }

  /** Begins the next part, with its own header. */
  startPart(header: PartHeader): void {
    this.headers.push(header.timeless);
    this.header = header;
    this.beginNext();
  }

  /** Opens another section, in this part and in all that follow. */
  startSection(opening: Uint8Array): void {
    const size = this.partBytes + opening.length + this.footer.length;
    if (size > this.limits.bytes && this.partNames > 0) this.beginNext();
    this.append(opening);
    const { bytes } = this.header;
    const header = new Uint8Array(bytes.length + opening.length);
    header.set(bytes);
    header.set(opening, bytes.length);
    this.header = { ...this.header, bytes: header };
  }

  /** Writes the lines of some names; every name has the same number of lines. */
  write(bytes: Uint8Array, names: number): void {
    const { limits } = this;
    let from = 0;
    let left = names;
    const lines =
      limits.names === Infinity && limits.bytes === Infinity
        ? 0
        : countLineFeeds(bytes, 0, bytes.length);
    while (left > 0 || from < bytes.length) {
      const isWhole =
        this.partNames + left <= limits.names &&
        this.partBytes + bytes.length - from + this.footer.length <= limits.bytes;
      const taken = isWhole ? left : this.fitting(bytes, from, left, lines / names);
      if (taken === 0 && this.partNames > 0) {
        this.beginNext();
        continue;
      }
      // A name whose lines exceed the limit gets its own part.
      const count = Math.max(1, taken);
      const end = isWhole ? bytes.length : endOfLines(bytes, from, count * (lines / names));
      if (this.isCommaFirst && this.partNames === 0) this.appendFirst(bytes.subarray(from, end));
      else this.append(bytes.subarray(from, end));
      this.partNames += count;
      from = end;
      left -= count;
    }
  }

  /** Starts a new part if the next names, which must stay together, do not fit into this one. */
  keepTogether(names: number, bytes: number): void {
    const { limits } = this;
    const fits = (): boolean =>
      this.partNames + names <= limits.names &&
      this.partBytes + bytes + this.footer.length <= limits.bytes;
    if (!fits() && this.partNames > 0) this.beginNext();
    if (!fits()) this.isTorn = true;
  }

  /** Hands all parts to a set, and the removal of the additional ones of an earlier version. */
  async stage(set: FileSet): Promise<WriteOutcome> {
    let outcome: WriteOutcome = "unchanged";
    this.append(this.footer);
    for (const [index, part] of this.parts.entries()) {
      const timeless = this.headers[index] ?? this.headers[0];
      if ((await part.stage(set, timeless)) === "written") outcome = "written";
    }
    // Removes only parts that this output has written: another list may have the name `list-2`.
    const { host, parts, path } = this;
    const before = await partsBefore(path, host);
    for (let index = parts.length; index < Math.min(before, MOST_PARTS); index++)
      for (const ending of ["", ...ENDINGS])
        await set.remove(`${partPath(path, index, host)}${ending}`);
    // If this run is killed, the next one looks for as many parts as there may be.
    await this.noteParts(Math.max(before, parts.length));
    return outcome;
  }

  /** Notes how many parts there are. Call it when the set is published. */
  async settle(): Promise<void> {
    await this.noteParts(this.parts.length);
  }

  private async noteParts(count: number): Promise<void> {
    const { host, path } = this;
    if (count === (await partsBefore(path, host))) return;
    await writeWhole(noteOf(path, host), host, (file) => file.write(encodeUtf8(String(count))));
  }

  async close(): Promise<void> {
    for (const part of this.parts.toReversed()) await part.close();
  }

  private begin(file: ListFile): void {
    this.parts.push(file);
    this.partBytes = this.partNames = 0;
    this.append(this.header.bytes);
  }

  private beginNext(): void {
    if (this.parts.length === MOST_PARTS)
      throw new CompilerError([
        errorOf(
          "too-many-files",
          `${printable(this.host.path.basename(this.path))} would be split into more than ${numberText(MOST_PARTS)} files`,
        ),
      ]);
    this.append(this.footer);
    const file = new ListFile(partPath(this.path, this.parts.length, this.host), this.host);
    file.openBeside();
    this.begin(file);
  }

  private append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.parts.at(-1)!.write(bytes);
    this.partBytes += bytes.length;
    this.bytes += bytes.length;
  }

  /** The first line of a part has no comma. */
  private appendFirst(bytes: Uint8Array): void {
    this.append(Uint8Array.of(SPACE));
    this.append(bytes.subarray(1));
  }

  /** How many of the next names fit into the current part. */
  private fitting(bytes: Uint8Array, from: number, names: number, linesPerName: number): number {
    const byNames = Math.min(names, this.limits.names - this.partNames);
    const room = this.limits.bytes - this.partBytes - this.footer.length;
    let end = from;
    for (let count = 0; count < byNames; count++) {
      end = endOfLines(bytes, end, linesPerName);
      if (end - from > room) return count;
    }
    return byNames;
  }
}

function noteOf(path: string, host: Pick<Host, "path">): string {
  return host.path.join(recordFolder(path, host), `${host.path.basename(path)}.parts`);
}

/** How many parts the published output has. */
async function partsBefore(path: string, host: Host): Promise<number> {
  const note = await ifAvailable(() => host.readFile(noteOf(path, host)));
  const count = Number(note === undefined ? 1 : decodeUtf8(note));
  return Number.isSafeInteger(count) && count > 0 ? count : 1;
}

/** The paths of all parts that an output is noted to have, or of their compressed copies. The first one is that of the output. */
export async function partPaths(path: string, host: Host): Promise<string[]> {
  const ending = ENDINGS.find((one) => path.endsWith(one)) ?? "";
  const plain = path.slice(0, path.length - ending.length);
  const count = Math.min(MOST_PARTS, await partsBefore(plain, host));
  return Array.from({ length: count }, (_, index) => `${partPath(plain, index, host)}${ending}`);
}

/** The published parts of an output, up to the first that is missing. */
export async function publishedParts(path: string, host: Host): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for (const part of await partPaths(path, host)) {
    if (!(await host.exists(part))) break;
    parts.push(await host.readFile(part));
  }
  return parts;
}

/** The name of a file without its extension. */
export function stemOf(path: string, host: Pick<Host, "path">): string {
  const name = host.path.basename(path);
  const dot = name.indexOf(".", 1);
  return dot === -1 ? name : name.slice(0, dot);
}

/** `list.txt` → `list-2.txt` for the second part. */
function partPath(path: string, index: number, host: Pick<Host, "path">): string {
  if (index === 0) return path;
  const stem = stemOf(path, host);
  return host.path.join(
    host.path.dirname(path),
    `${stem}-${index + 1}${host.path.basename(path).slice(stem.length)}`,
  );
}

/** Whether a path is that of a further part, or of its compressed copy. */
export function isPartOf(path: string, file: string, host: Pick<Host, "path">): boolean {
  const stem = stemOf(path, host);
  const name = host.path.basename(file);
  const number = name.slice(stem.length + 1, name.indexOf(".", stem.length) >>> 0);
  const index = Number(number) - 1;
  if (!/^[1-9]\d{0,3}$/.test(number) || index < 1 || index >= MOST_PARTS) return false;
  const part = partPath(path, index, host);
  return file === part || ENDINGS.some((ending) => file === `${part}${ending}`);
}

function endOfLines(bytes: Uint8Array, from: number, lines: number): number {
  let at = from;
  for (let count = 0; count < lines; count++) at = lineEnd(bytes, at) + 1;
  return Math.min(at, bytes.length);
}
