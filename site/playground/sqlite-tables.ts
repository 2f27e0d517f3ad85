import { decodeUtf8 } from "../../src/bytes/utf8.ts";
import { HostError } from "../../src/host/host.ts";
import type { Row } from "../../src/import/imported-config.ts";

interface Column {
  readonly name: string;
  /** The value of rows that are older than the column. */
  readonly fallback: number | null;
  /** Whether its value is the number of the row. */
  readonly isRowNumber: boolean;
}

interface Table {
  readonly root: number;
  readonly columns: readonly Column[];
}

type Value = number | string | null | undefined;

const PAGE = { leaf: 13, interior: 5 } as const;
const HEADER_BYTES = 100;
const UTF8 = 1;
/** A gravity.db has a few thousand rows in the tables that are imported. */
const MOST_ROWS = 1_000_000;
/** A tree of this depth has more pages than SQLite allows. */
const MOST_LEVELS = 20;
const SCHEMA: Table = {
  root: 1,
  columns: ["type", "name", "tbl_name", "rootpage", "sql"].map((name) => ({
    name,
    fallback: null,
    isRowNumber: false,
  })),
};

/**
 * Reads whole tables of an SQLite file, for a page that has no SQLite: only ordinary tables. Values are integers, texts in UTF-8 and null; others are undefined. Pages that the
 * file has in its journal of writes are not seen. Throws a `HostError` for a damaged file.
 */
export class SqliteTables {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly pageSize: number;
  private readonly usable: number;
  private readonly tables = new Map<string, Table>();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < HEADER_BYTES) throw damaged("it is too short");
    const size = this.view.getUint16(16);
    this.pageSize = size === 1 ? 65_536 : size;
    this.usable = this.pageSize - this.view.getUint8(20);
    if (this.pageSize < 512 || this.usable < 480) throw damaged("the size of its pages is invalid");
    const encoding = this.view.getUint32(56);
    if (encoding !== UTF8 && encoding !== 0) throw damaged("its texts are not UTF-8");
    for (const { type, name, rootpage, sql } of this.rowsOf(SCHEMA))
      if (type === "table" && typeof name === "string" && typeof sql === "string")
        this.tables.set(name, { root: Number(rootpage), columns: columnsIn(sql) });
  }

  /** Whether recent changes may be in another file beside this one. */
  get hasJournal(): boolean {
    return this.view.getUint8(18) === 2;
  }

  /** All rows in the order of their numbers; undefined if there is no such table. */
  rows(name: string): readonly Row[] | undefined {
    const table = this.tables.get(name);
    return table && this.rowsOf(table);
  }

  private rowsOf({ root, columns }: Table): Row[] {
    const rows: Row[] = [];
    const seen = new Set<number>();
    const visit = (page: number, depth = 0): void => {
      const start = (page - 1) * this.pageSize;
      if (
        page < 1 ||
        start + this.pageSize > this.bytes.length ||
        seen.has(page) ||
        depth > MOST_LEVELS
      )
        throw damaged(`page ${page} is missing or used twice`);
      seen.add(page);
      const head = page === 1 ? start + HEADER_BYTES : start;
      const kind = this.bytes[head];
      if (kind !== PAGE.leaf && kind !== PAGE.interior)
        throw damaged(`page ${page} does not belong to a table`);
      const pointers = head + (kind === PAGE.leaf ? 8 : 12);
      const cells = this.view.getUint16(head + 3);
      if (pointers + 2 * cells > start + this.pageSize) throw damaged(`page ${page} is too full`);
      for (let cell = 0; cell < cells; cell++) {
        const at = start + this.view.getUint16(pointers + 2 * cell);
        if (kind === PAGE.interior) visit(this.number(at), depth + 1);
        else rows.push(this.row(at, columns));
        if (rows.length > MOST_ROWS) throw damaged("a table has too many rows");
      }
      if (kind === PAGE.interior) visit(this.number(head + 8), depth + 1);
    };
    visit(root);
    return rows;
  }

  private row(at: number, columns: readonly Column[]): Row {
    const [length, afterLength] = this.varint(at);
    const [number, start] = this.varint(afterLength);
    const payload = this.payload(start, length);
    const values = valuesIn(payload, columns.length);
    return Object.fromEntries(
      columns.map(({ name, fallback, isRowNumber }, index) => {
        const value = index < values.length ? values[index] : fallback;
        return [name, isRowNumber && value === null ? number : value];
      }),
    );
  }

  /** The bytes of a row. What does not fit into its page is in a chain of others. */
  private payload(start: number, length: number): Uint8Array {
    const most = this.usable - 35;
    const least = Math.floor(((this.usable - 12) * 32) / 255) - 23;
    const rest = least + ((length - least) % (this.usable - 4));
    const inPage = length <= most ? length : rest <= most ? rest : least;
    if (length < 0 || length > this.bytes.length || start + inPage > this.bytes.length)
      throw damaged("a row is longer than the file");
    if (inPage === length) return this.bytes.subarray(start, start + length);
    const whole = new Uint8Array(length);
    whole.set(this.bytes.subarray(start, start + inPage));
    let next = this.number(start + inPage);
    for (let at = inPage; at < length;) {
      const page = (next - 1) * this.pageSize;
      if (next < 1 || page + this.pageSize > this.bytes.length) throw damaged("a row is cut off");
      const part = Math.min(this.usable - 4, length - at);
      whole.set(this.bytes.subarray(page + 4, page + 4 + part), at);
      at += part;
      next = this.number(page);
    }
    return whole;
  }

  private number(at: number): number {
    if (at + 4 > this.bytes.length) throw damaged("it is cut off");
    return this.view.getUint32(at);
  }

  private varint(at: number): [value: number, end: number] {
    return varintIn(this.bytes, at);
  }
}

function damaged(reason: string): HostError {
  return new HostError("EDATABASE", `the database cannot be read: ${reason}`);
}

/** Up to nine bytes, the highest first. */
function varintIn(bytes: Uint8Array, at: number): [value: number, end: number] {
  let value = 0n;
  for (let index = 0; index < 9; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) throw damaged("it is cut off");
    if (index === 8) {
      value = (value << 8n) | BigInt(byte);
      break;
    }
    value = (value << 7n) | BigInt(byte & 127);
    if (byte < 128) return [Number(value), at + index + 1];
  }
  return [Number(BigInt.asIntN(64, value)), at + 9];
}

/** Bytes of values by their type: null, integers of 1 to 8 bytes, a float, 0, 1. */
const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];
const FLOAT = 7;
const FIRST_BLOB = 12;

function valuesIn(payload: Uint8Array, most: number): Value[] {
  const [headEnd, typesStart] = varintIn(payload, 0);
  const values: Value[] = [];
  let at = headEnd;
  for (let next = typesStart; next < headEnd && values.length < most;) {
    const [type, end] = varintIn(payload, next);
    next = end;
    const size = type < FIRST_BLOB ? (SIZES[type] ?? 0) : Math.floor((type - FIRST_BLOB) / 2);
    if (size < 0 || at + size > payload.length) throw damaged("a value is longer than its row");
    values.push(valueOf(type, payload.subarray(at, at + size)));
    at += size;
  }
  return values;
}

function valueOf(type: number, bytes: Uint8Array): Value {
  if (type === 0) return null;
  if (type === 8 || type === 9) return type - 8;
  if (type < FLOAT) {
    let value = 0n;
    for (const byte of bytes) value = (value << 8n) | BigInt(byte);
    return Number(BigInt.asIntN(bytes.length * 8, value));
  }
  return type > FIRST_BLOB && type % 2 === 1 ? decodeUtf8(bytes) : undefined;
}

const CONSTRAINT = /^(?:primary\s+key|unique|check|foreign\s+key|constraint)\b/i;

/** The columns in a `CREATE TABLE` statement, as Pi-hole writes them. */
function columnsIn(sql: string): Column[] {
  const text = sql.replaceAll(/--[^\n]*/g, " ");
  const start = text.indexOf("(") + 1;
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const char of text.slice(start, text.lastIndexOf(")"))) {
    depth += char === "(" ? 1 : char === ")" ? -1 : 0;
    if (char === "," && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else part += char;
  }
  parts.push(part.trim());
  return parts
    .filter((one) => one !== "" && !CONSTRAINT.test(one))
    .map((one) => {
      const [, quoted, plain] =
        /^(?:["'`[](?<quoted>[^"'`\]]+)["'`\]]|(?<plain>\S+))/.exec(one) ?? [];
      const [, value] = /\bdefault\s+(?<value>-?\d+)\b/i.exec(one) ?? [];
      return {
        name: quoted ?? plain ?? "",
        fallback: value === undefined ? null : Number(value),
        isRowNumber: /\sinteger\s+primary\s+key\b/i.test(one),
      };
    });
}
