import type { WriteOutcome } from "../documents/facts.ts";
import { TextNumbers } from "../bytes/hash.ts";
import { countLineFeeds, decodeUtf8, eachLine, encodeUtf8, lineEnd } from "../bytes/text.ts";
import type { Host } from "../host/host.ts";
import type { FileSet } from "./file-set.ts";
import { type PartHeader, type PartLayout, SplitFile, publishedParts } from "./split-file.ts";

/** The lines of one name. */
interface Unit {
  readonly text: string;
  readonly bytes: number;
}

interface StablePart {
  readonly units: Unit[];
  bytes: number;
  /** How many of its published lines the list no longer has. */
  lost: number;
}

/** The header of a part with this many entries. */
export type PartHeaderOf = (count: number) => PartHeader;

/** There may be a quarter more parts than needed, so that names need not move. */
const SPARE = 4;

/**
 * A file in parts, in which names stay where they are: a published name stays in its part; new names go to parts that change anyway,
 * then to one that has room for all of them, or to a new one. A part is sorted, so that the same names give the same bytes.
 */
export class StableFiles {
  readonly path: string;
  private readonly layout: PartLayout;
  private readonly host: Host;
  private readonly out: SplitFile;
  private readonly texts = new TextNumbers();
  /** The part of each text. */
  private readonly partOf: number[] = [];
  private parts: StablePart[] = [];
  private readonly added: Unit[] = [];
  private headerOf: PartHeaderOf = () => ({ bytes: new Uint8Array(0) });
  private frame = 0;
  /** Published parts, until the length of the header is known. */
  private published: readonly Uint8Array[] = [];

  constructor(path: string, layout: PartLayout, host: Host) {
    this.path = path;
    this.layout = layout;
    this.host = host;
    this.out = new SplitFile(
      path,
      { ...layout, limits: { names: Infinity, bytes: Infinity } },
      host,
    );
  }

  get bytes(): number {
    return this.out.bytes;
  }

  get paths(): string[] {
    return this.out.paths;
  }

  async open(): Promise<void> {
    await this.out.open();
    this.published = await publishedParts(this.path, this.host);
  }

  /** `longest` is the count for which the header is longest. */
  start(headerOf: PartHeaderOf, longest: number): void {
    this.headerOf = headerOf;
    const { bytes } = headerOf(longest);
    this.frame = bytes.length + this.layout.footer.length;
    const headerLines = countLineFeeds(bytes, 0, bytes.length);
    for (const part of this.published) this.readPart(part, headerLines);
    this.published = [];
  }

  private readPart(bytes: Uint8Array, headerLines: number): void {
    const place = this.parts.length;
    let lines = 0;
    eachLine(bytes, (start, end, index) => {
      lines = index + 1;
      if (index >= headerLines && this.texts.find(bytes, start, end) === -1)
        this.partOf[this.texts.enter()] = place;
    });
    this.parts.push({ units: [], bytes: 0, lost: Math.max(0, lines - headerLines) });
  }

  /** Every name has the same number of lines. */
  write(bytes: Uint8Array, names: number): void {
    const height = countLineFeeds(bytes, 0, bytes.length) / Math.max(1, names);
    for (let start = 0; start < bytes.length;) {
      const first = lineEnd(bytes, start);
      let end = first + 1;
      for (let line = 1; line < height; line++) end = lineEnd(bytes, end) + 1;
      const unit = { text: decodeUtf8(bytes, start, end), bytes: end - start };
      const part = this.parts[this.partOf[this.texts.find(bytes, start, first)] ?? -1];
      if (part !== undefined && this.fits(part, unit)) {
        put(part, unit);
        part.lost -= height;
      } else this.added.push(unit);
      start = end;
    }
  }

  private fits({ units, bytes }: StablePart, unit: Unit): boolean {
    const { limits } = this.layout;
    return units.length < limits.names && bytes + unit.bytes + this.frame <= limits.bytes;
  }

  /** Writes all parts, and returns how many there are. Call it after the last line. */
  finish(mostFiles: number): number {
    this.placeAdded(this.mostParts(mostFiles));
    for (const [index, { units }] of this.parts.entries()) {
      const header = this.headerOf(units.length);
      if (index === 0) this.out.start(header);
      else this.out.startPart(header);
      const texts = units.map(({ text }) => text);
      // Not by locale: the order must be the same everywhere.
      // oxlint-disable-next-line require-array-sort-compare
      this.out.write(encodeUtf8(texts.toSorted().join("")), units.length);
    }
    return this.parts.length;
  }

  /** How many parts are reasonable: as many as needed, and some more so that names need not move. */
  private mostParts(mostFiles: number): number {
    const { limits } = this.layout;
    const units = [...this.parts.flatMap((part) => part.units), ...this.added];
    const room = Math.max(1, limits.bytes - this.frame);
    const needed = Math.max(
      1,
      Math.ceil(units.length / limits.names),
      Math.ceil(sizeOf(units) / room),
    );
    return Math.min(Math.max(needed, mostFiles), needed + Math.ceil(needed / SPARE));
  }

  /** Places new names so that as few parts as possible change. */
  private placeAdded(most: number): void {
    const { parts } = this;
    // A list that has become smaller leaves room in all parts, to which the names of the last parts move.
    const given = parts.splice(most).flatMap((part) => part.units);
    const left = [...this.added, ...given].toReversed();
    const fill = (part: StablePart): void => {
      while (left.length > 0 && this.fits(part, left.at(-1)!)) put(part, left.pop()!);
    };
    for (const part of parts) if (part.lost > 0) fill(part);
    const byRoom = parts.toSorted((a, b) => b.units.length - a.units.length || b.bytes - a.bytes);
    while (left.length > 0 || parts.length === 0) {
      const roomy = byRoom.at(-1);
      const isEnough = roomy !== undefined && this.hasRoom(roomy, left);
      if (roomy !== undefined && (isEnough || parts.length >= most)) {
        fill(roomy);
        byRoom.pop();
        continue;
      }
      const part: StablePart = { units: [], bytes: 0, lost: 0 };
      parts.push(part);
      fill(part);
      // A name whose lines exceed the limit gets its own part.
      if (part.units.length === 0 && left.length > 0) put(part, left.pop()!);
    }
    while (parts.length > 1 && parts.at(-1)!.units.length === 0) parts.pop();
  }

  private hasRoom(part: StablePart, more: readonly Unit[]): boolean {
    const { limits } = this.layout;
    if (part.units.length + more.length > limits.names) return false;
    return limits.bytes === Infinity || part.bytes + sizeOf(more) + this.frame <= limits.bytes;
  }

  async stage(set: FileSet): Promise<WriteOutcome> {
    return await this.out.stage(set);
  }

  async settle(): Promise<void> {
    await this.out.settle();
  }

  async close(): Promise<void> {
    await this.out.close();
  }
}

function sizeOf(units: readonly Unit[]): number {
  return units.reduce((sum, { bytes }) => sum + bytes, 0);
}

function put(part: StablePart, unit: Unit): void {
  part.units.push(unit);
  part.bytes += unit.bytes;
}
