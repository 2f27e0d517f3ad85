import { Buffer } from "node:buffer";
import { BANG, DOT, HASH, LF } from "../bytes/ascii.ts";
import { HASH_SEED, hashEnd, hashLabel, hashName } from "../bytes/hash.ts";
import { bufferOf } from "../bytes/search.ts";
import { SliceTable } from "../bytes/slice-table.ts";
import { nameSlice, readNameSlice, soleName } from "../meaning/line.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { eachLiveLine } from "./live-lines.ts";
import type { ListRule, NameRules, PlainNames } from "./plain-names.ts";

/** Names of some lines of a list, and the row of each. */
class NamedRows {
  private readonly names: SliceTable;
  private readonly rows: number[] = [];

  constructor(list: Uint8Array) {
    this.names = new SliceTable(list);
  }

  /** The row that has the name already; -1 if it is new. */
  enter(start: number, end: number, row: number): number {
    const hash = hashName(this.names.bytes, start, end);
    const known = this.names.find(this.names.bytes, start, end, hash);
    if (known !== -1) return this.rows[known]!;
    this.names.enter(start, end, hash);
    this.rows.push(row);
    return -1;
  }

  rowOf(name: Uint8Array, start: number, end: number, hash: number): number {
    const number = this.names.find(name, start, end, hash);
    return number === -1 ? -1 : this.rows[number]!;
  }
}

/** For many names: indexes the whole list. */
export class MappedNames implements PlainNames {
  private readonly subtrees: NamedRows;
  private readonly exact: NamedRows;
  /** Rows with the name of an earlier row, which neither Compress nor Deduplicate merged. */
  readonly repeats: { readonly row: number; readonly first: number }[] = [];
  private readonly starts: Uint32Array;
  private readonly list: Buffer;
  /** The bytes of the name that is searched for. */
  private readonly wanted = Buffer.alloc(LONGEST);

  constructor(list: Uint8Array, record: BuildRecord) {
    this.list = bufferOf(list);
    this.subtrees = new NamedRows(list);
    this.exact = new NamedRows(list);
    this.starts = new Uint32Array(record.rows);
    for (const frame of record.frames) this.enter(frame);
  }

  private enter(frame: Frame): void {
    const { list, starts, repeats } = this;
    eachLiveLine(list, frame, (row, start, end) => {
      starts[row] = start;
      const first = readNameSlice(list, start, end)
        ? this.enterName(row, nameSlice.start, nameSlice.end, nameSlice.isSubtree)
        : this.enterText(row, start, end);
      if (first !== -1) repeats.push({ row, first });
    });
  }

  /** A line that is not just a name in one of the usual forms. */
  private enterText(row: number, start: number, end: number): number {
    const first = this.list[start]!;
    if (first === BANG || first === HASH) return -1;
    const line = this.list.toString("latin1", start, end);
    const found = soleName(line);
    if (found === undefined) return -1;
    const at = start + line.indexOf(found.name);
    return this.enterName(row, at, at + found.name.length, found.isSubtree);
  }

  private enterName(row: number, start: number, end: number, isSubtree: boolean): number {
    return (isSubtree ? this.subtrees : this.exact).enter(start, end, row);
  }

  /** Whether the name, or a name above it, has a rule: one walk for most names, which have none. */
  mayFind(name: string): boolean {
    const length = this.write(name);
    if (length === -1) return true;
    const { wanted, subtrees, exact } = this;
    let state = HASH_SEED;
    let labelEnd = length;
    for (let at = length - 1; at >= 0; at--) {
      if (wanted[at] !== DOT) continue;
      state = hashLabel(state, wanted, at + 1, labelEnd);
      if (subtrees.rowOf(wanted, at + 1, length, hashEnd(state)) !== -1) return true;
      labelEnd = at;
    }
    const hash = hashEnd(hashLabel(state, wanted, 0, labelEnd));
    return (
      subtrees.rowOf(wanted, 0, length, hash) !== -1 || exact.rowOf(wanted, 0, length, hash) !== -1
    );
  }

  find(name: string): NameRules {
    const length = this.write(name);
    if (length === -1) return NOTHING;
    const hash = hashName(this.wanted, 0, length);
    const subtree = this.subtrees.rowOf(this.wanted, 0, length, hash);
    const exact = this.exact.rowOf(this.wanted, 0, length, hash);
    if (subtree === -1 && exact === -1) return NOTHING;
    return { subtree: this.ruleAt(subtree), exact: this.ruleAt(exact) };
  }

  /** The length of the name in `wanted`; -1 if it cannot be the name of a rule. */
  private write(name: string): number {
    const { length } = name;
    if (length > LONGEST) return -1;
    for (let at = 0; at < length; at++) {
      const code = name.charCodeAt(at);
      if (code > 0x7f) return -1;
      this.wanted[at] = code;
    }
    return length;
  }

  private ruleAt(row: number): ListRule | undefined {
    if (row === -1) return undefined;
    const { list, starts } = this;
    return {
      row,
      get text() {
        const end = list.indexOf(LF, starts[row]);
        return list.toString("utf8", starts[row], end === -1 ? list.length : end);
      },
    };
  }
}

const NOTHING: NameRules = {};
/** Longer than any name. */
const LONGEST = 1024;
