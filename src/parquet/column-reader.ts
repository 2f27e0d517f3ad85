import { decodeUtf8 } from "../bytes/utf8.ts";
import type { OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import {
  ByteReader,
  type Field,
  type Structure,
  asStructure,
  listIn,
  numberIn,
  structureIn,
} from "./byte-reader.ts";
import { readRuns } from "./packed-numbers.ts";
import { ParquetError } from "./parquet-error.ts";
import { type TextTaker, type Texts, pageTexts, plainTexts } from "./text-page.ts";
import { unpackPage } from "./unpack-page.ts";

const LARGEST_FOOTER = 8 * 1024 * 1024;
const LARGEST_PAGE = 128 * 1024 * 1024;
/** Pages may grow this much; names grow by less than 20 times. */
const MOST_GROWTH = 200;
const MOST_VALUES = 16 * 1024 * 1024;
const HEADER_BYTES = 16_384;
const BYTE_ARRAY = 6;
const Page = { Data: 0, Dictionary: 2, DataV2: 3 } as const;
const Repetition = { Required: 0, Optional: 1 } as const;

/** A column of the file: its path, its type, and how many levels of its path may be absent. */
interface Leaf {
  readonly path: string;
  readonly type: number;
  readonly levels: number;
  readonly isRepeated: boolean;
}

/** A column in one group of rows. */
interface ColumnPart {
  readonly codec: number;
  readonly values: number;
  readonly start: number;
}

/**
 * Reads the texts of one column, a page at a time: memory does not grow with the file. Whatever the file contains, it ends with a
 * `ParquetError` or with texts; hyparquet's reader allocates what a damaged file asks for.
 */
export class ColumnReader {
  private readonly file: OpenFile;
  private readonly wanted: string;
  private leaf: Leaf | undefined;
  private parts: ColumnPart[] = [];
  private part = 0;
  /** The next page of the part, and how many of its values are still to come. */
  private position = 0;
  private left = 0;
  private dictionary: Texts | undefined;
  /** How many bytes may still be unpacked: many small pages may be as bad as a large one. */
  private room: number;

  /** `wanted` is the name of a column, or its number from 1. */
  constructor(file: OpenFile, wanted: string) {
    this.file = file;
    this.wanted = wanted;
    this.room = LARGEST_PAGE + file.size * MOST_GROWTH;
  }

  /** Passes on the texts of the next page; returns false after the last page. Rejects with a `ParquetError` or `HostError`. */
  async readPage(take: TextTaker): Promise<boolean> {
    this.leaf ??= await this.open();
    while (this.left === 0) {
      const next = this.parts[this.part++];
      if (next === undefined) return false;
      this.position = next.start;
      this.left = next.values;
      this.dictionary = undefined;
    }
    const { codec } = this.parts[this.part - 1]!;
    const { header, size } = await this.header();
    const packedSize = numberIn(header, 3);
    const fullSize = numberIn(header, 2);
    this.room -= Math.max(0, fullSize);
    if (!isSize(packedSize) || !isSize(fullSize) || this.room < 0)
      throw new ParquetError("a page of it is too large");
    const packed = await this.bytesAt(this.position + size, packedSize);
    this.position += size + packedSize;
    const type = numberIn(header, 1);
    if (type === Page.Dictionary) {
      const count = numberIn(structureIn(header, 7), 1);
      this.dictionary = plainTexts(unpackPage(packed, codec, fullSize), countOf(count));
    } else if (type === Page.Data) this.data(header, unpackPage(packed, codec, fullSize), take);
    else if (type === Page.DataV2) this.dataV2(header, packed, { codec, fullSize }, take);
    return true;
  }

  private data(header: Structure, page: Uint8Array, take: TextTaker): void {
    const about = structureIn(header, 5);
    const count = this.countIn(about);
    const reader = new ByteReader(page);
    const { levels } = this.leaf!;
    const present =
      levels === 0
        ? undefined
        : readRuns(new ByteReader(reader.take(reader.word())), widthOf(levels), count);
    this.pass(reader.take(reader.left), numberIn(about, 2), { count, present }, take);
  }

  private dataV2(
    header: Structure,
    packed: Uint8Array,
    { codec, fullSize }: { codec: number; fullSize: number },
    take: TextTaker,
  ): void {
    const about = structureIn(header, 8);
    const count = this.countIn(about);
    const reader = new ByteReader(packed);
    reader.take(numberIn(about, 6));
    const levelBytes = reader.take(numberIn(about, 5));
    const { levels } = this.leaf!;
    const present =
      levels === 0 ? undefined : readRuns(new ByteReader(levelBytes), widthOf(levels), count);
    const before = reader.at;
    const values = reader.take(reader.left);
    const isPacked = about.fields.get(7) !== 0;
    const page = isPacked ? unpackPage(values, codec, Math.max(0, fullSize - before)) : values;
    this.pass(page, numberIn(about, 4), { count, present }, take);
  }

  private pass(
    page: Uint8Array,
    encoding: number,
    { count, present }: { count: number; present: Int32Array | undefined },
    take: TextTaker,
  ): void {
    const { levels } = this.leaf!;
    let there = count;
    for (const level of present ?? []) if (level !== levels) there--;
    const texts = pageTexts(page, encoding, there, this.dictionary);
    for (let row = 0; row < count; row++) {
      const value =
        present !== undefined && present[row] !== levels ? undefined : texts.next().value;
      if (value === undefined) take(undefined, 0, 0);
      else take(value.bytes, value.start, value.end);
    }
  }

  /** The number of values of a page, at most those that the part still has. */
  private countIn(about: Structure): number {
    const count = countOf(numberIn(about, 1));
    if (count > this.left || count === 0)
      throw new ParquetError("a page of it has a wrong number of rows");
    this.left -= count;
    return count;
  }

  private async header(): Promise<{ readonly header: Structure; readonly size: number }> {
    const bytes = await this.bytesAt(
      this.position,
      Math.min(HEADER_BYTES, this.file.size - this.position),
    );
    const reader = new ByteReader(bytes);
    const header = reader.structure();
    return { header, size: reader.at };
  }

  private async bytesAt(position: number, length: number): Promise<Uint8Array> {
    if (!(position >= 0 && length >= 0 && position + length <= this.file.size))
      throw new ParquetError("a part of it lies outside the file");
    return await readFully(this.file, new Uint8Array(length), position);
  }

  private async open(): Promise<Leaf> {
    const { size } = this.file;
    const tail = new ByteReader(await this.bytesAt(size - 8, 8));
    const length = tail.word();
    if (tail.word() !== 0x31524150) throw new ParquetError("it is not a Parquet file");
    if (length > LARGEST_FOOTER) throw new ParquetError("its footer is too large");
    const footer = new ByteReader(await this.bytesAt(size - 8 - length, length)).structure();
    const leaves = leavesOf(listIn(footer, 2).map(asStructure));
    const { wanted } = this;
    const byNumber = /^[1-9]\d{0,3}$/.test(wanted) ? Number(wanted) - 1 : -1;
    const byName = leaves.findIndex(({ path }) => path === wanted);
    const index = byName === -1 ? byNumber : byName;
    const leaf = leaves[index];
    if (leaf === undefined) throw new ParquetError(`it has no column ${wanted}`);
    if (leaf.type !== BYTE_ARRAY || leaf.isRepeated)
      throw new ParquetError(`its column ${wanted} does not contain texts`);
    this.parts = listIn(footer, 4).map((group) => partOf(listIn(asStructure(group), 1)[index]));
    return leaf;
  }
}

function partOf(column: Field | undefined): ColumnPart {
  const about = structureIn(asStructure(column), 3);
  const dictionary = about.fields.get(11);
  const data = numberIn(about, 9);
  const start =
    typeof dictionary === "number" && dictionary > 0 ? Math.min(dictionary, data) : data;
  const values = numberIn(about, 5);
  if (values < 0) throw new ParquetError("a group of it has a wrong number of rows");
  return { codec: numberIn(about, 4), values, start };
}

/** The columns with values, from the tree in its flat form: an element, then its children. */
function leavesOf(elements: readonly Structure[]): Leaf[] {
  const leaves: Leaf[] = [];
  let at = 1;
  const visit = (parent: Omit<Leaf, "type">, children: number, depth: number): void => {
    for (let child = 0; child < children && at < elements.length; child++) {
      const element = elements[at++]!;
      const name = element.fields.get(4);
      const text = name instanceof Uint8Array ? decodeUtf8(name) : "";
      const repetition = element.fields.get(3) ?? Repetition.Required;
      const own = {
        path: parent.path === "" ? text : `${parent.path}.${text}`,
        levels: parent.levels + Number(repetition !== Repetition.Required),
        isRepeated:
          parent.isRepeated ||
          (repetition !== Repetition.Required && repetition !== Repetition.Optional),
      };
      const more = element.fields.get(5);
      if (typeof more !== "number" || more === 0)
        leaves.push({ ...own, type: Number(element.fields.get(1)) });
      else if (depth < 32) visit(own, more, depth + 1);
      else throw new ParquetError("its columns are nested too deeply");
    }
  };
  visit({ path: "", levels: 0, isRepeated: false }, elements.length, 0);
  return leaves;
}

function isSize(size: number): boolean {
  return size >= 0 && size <= LARGEST_PAGE;
}

function countOf(count: number): number {
  if (!(count >= 0 && count <= MOST_VALUES))
    throw new ParquetError("a page of it has too many rows");
  return count;
}

function widthOf(levels: number): number {
  return 32 - Math.clz32(levels);
}
