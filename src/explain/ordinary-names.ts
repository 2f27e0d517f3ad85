import type { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { bufferOf } from "../bytes/search.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { Fate } from "../rules/fate.ts";
import { nameIn } from "./line-names.ts";
import { eachLiveLine } from "./live-lines.ts";

/** A live row of the list that is nothing but a name. */
export interface NameRule {
  readonly text: string;
  readonly row: number;
}

/** The rules for a name that are nothing but that name: one that takes in everything below it, and one that does not. */
export interface NameRules {
  readonly subtree?: NameRule | undefined;
  readonly exact?: NameRule | undefined;
}

/** Finds the rules that are nothing but a name. */
export interface OrdinaryNames {
  find(name: string): NameRules;
}

/** For a few names: looks for each in the bytes of the list, without reading it. */
export class SearchedNames implements OrdinaryNames {
  private readonly list: Buffer;
  private readonly record: BuildRecord;
  /** What was found for the last two labels of a name. */
  private readonly found = new Map<string, Map<string, NameRules>>();

  constructor(list: Uint8Array, record: BuildRecord) {
    this.list = bufferOf(list);
    this.record = record;
  }

  find(name: string): NameRules {
    const labels = name.split(".");
    const key = labels.slice(-2).join(".");
    // A single label occurs everywhere; as a rule it is only ever this one.
    const needle = labels.length === 1 ? `\n||${name}^` : key;
    let rules = this.found.get(needle);
    if (rules === undefined) this.found.set(needle, (rules = this.search(needle)));
    return rules.get(name) ?? {};
  }

  private search(needle: string): Map<string, NameRules> {
    const rules = new Map<string, NameRules>();
    const { list } = this;
    for (let at = list.indexOf(needle); at !== -1;) {
      const start = needle.startsWith("\n") ? at + 1 : list.lastIndexOf(LF, at) + 1;
      const next = list.indexOf(LF, at + needle.length);
      const end = next === -1 ? list.length : next;
      const text = list.toString("utf8", start, end).replace(/\r$/, "");
      const found = nameIn(text);
      if (found !== undefined) this.enter(rules, found.name, text, start, found.isSubtree);
      at = next === -1 ? -1 : list.indexOf(needle, end);
    }
    return rules;
  }

  private enter(
    rules: Map<string, NameRules>,
    name: string,
    text: string,
    start: number,
    isSubtree: boolean,
  ): void {
    const known = rules.get(name);
    const key = isSubtree ? "subtree" : "exact";
    if (known?.[key] !== undefined) return;
    const { record, list } = this;
    // Where the row is found out only for those that are asked for.
    let row: number | undefined;
    const rule: NameRule = {
      text,
      get row() {
        return (row ??= rowAt(record, list, start));
      },
    };
    rules.set(name, { ...known, [key]: rule });
  }
}

/** The live row whose text begins at a byte of the list. */
function rowAt(record: BuildRecord, list: Uint8Array, start: number): number {
  // Frames without live rows have the offset of the next; the last one that begins before the text has it.
  const { base, length, offset, fates } = record.lastFrame((frame) => frame.offset < start);
  let lines = countLineFeeds(list, offset, start);
  for (let row = 0; row < length; row++)
    if (fates[row] === Fate.Live && --lines === 0) return base + row;
  return -1;
}

/** For many names: all of them in a table. */
export class MappedNames implements OrdinaryNames {
  private readonly subtrees = new Map<string, number>();
  private readonly exact = new Map<string, number>();
  private readonly starts: Uint32Array;
  private readonly list: Buffer;

  constructor(list: Uint8Array, record: BuildRecord) {
    this.list = bufferOf(list);
    this.starts = new Uint32Array(record.rows);
    for (const frame of record.frames) this.enter(frame);
  }

  private enter(frame: Frame): void {
    eachLiveLine(this.list, frame, (row, start, end) => {
      this.starts[row] = start;
      const found = nameIn(this.list.toString("latin1", start, end));
      if (found === undefined) return;
      const names = found.isSubtree ? this.subtrees : this.exact;
      if (!names.has(found.name)) names.set(found.name, row);
    });
  }

  find(name: string): NameRules {
    const subtree = this.subtrees.get(name);
    const exact = this.exact.get(name);
    if (subtree === undefined && exact === undefined) return NOTHING;
    return { subtree: this.ruleAt(subtree), exact: this.ruleAt(exact) };
  }

  private ruleAt(row: number | undefined): NameRule | undefined {
    if (row === undefined) return undefined;
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
