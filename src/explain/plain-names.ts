import type { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { bufferOf } from "../bytes/search.ts";
import type { OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { mayHaveAny } from "../kernel/name-filter.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { Fate } from "../rules/fate.ts";
import { nameIn } from "./line-names.ts";
import { eachLiveLine } from "./live-lines.ts";
import { linesWithAny } from "./matching-lines.ts";

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
export interface PlainNames {
  find(name: string): NameRules;
}

/** The bytes of the list that a frame's live rows are in; they begin with the line feed before the first. */
export type ListPart = (frame: number) => Uint8Array | undefined;

/** The parts of a list that is in memory. */
export function partsOf(list: Uint8Array, record: BuildRecord): ListPart {
  return (frame) => list.subarray(...rangeOf(record, frame));
}

/** Reads the parts of a list in which one of some names may be a rule, and no others. Rejects with a `HostError`. */
export async function readParts(
  file: OpenFile,
  record: BuildRecord,
  names: readonly string[],
): Promise<ListPart> {
  const parts = new Map<number, Uint8Array>();
  for (const frame of framesWith(record, names)) {
    const [start, end] = rangeOf(record, frame);
    parts.set(frame, await readFully(file, new Uint8Array(end - start), start));
  }
  return (frame) => parts.get(frame);
}

function rangeOf({ frames, header }: BuildRecord, frame: number): [number, number] {
  return [frames[frame]!.offset, frames[frame + 1]?.offset ?? header.bytes];
}

function framesWith(record: BuildRecord, names: readonly string[]): number[] {
  const hashes = names.map((name) => record.hashOf(name));
  return [...record.frames.keys()].filter((frame) =>
    mayHaveAny(record.frames[frame]!.blocks.filters, hashes),
  );
}

/** For a few names: looks for each in the bytes of the list, where the record says that it may be. */
export class SearchedNames implements PlainNames {
  private readonly record: BuildRecord;
  private readonly part: ListPart;
  private readonly found = new Map<string, NameRules>();

  constructor(record: BuildRecord, part: ListPart) {
    this.record = record;
    this.part = part;
  }

  find(name: string): NameRules {
    let rules = this.found.get(name);
    if (rules === undefined) this.found.set(name, (rules = this.search(name)));
    return rules;
  }

  private search(name: string): NameRules {
    const rules: { subtree?: NameRule; exact?: NameRule } = {};
    // A single label occurs everywhere; as a rule it is only ever this one.
    const needle = name.includes(".") ? name : `||${name}^`;
    for (const frame of framesWith(this.record, [name])) {
      const bytes = this.part(frame);
      if (bytes === undefined) continue;
      for (const { text, start } of linesWithAny(bytes, [needle], true)) {
        const found = nameIn(text);
        if (found?.name !== name) continue;
        rules[found.isSubtree ? "subtree" : "exact"] ??= {
          text,
          row: rowAt(this.record.frames[frame]!, bytes, start),
        };
      }
    }
    return rules;
  }
}

/** The live row whose text begins at a byte of the frame's part of the list. */
function rowAt({ base, length, fates }: Frame, part: Uint8Array, start: number): number {
  let lines = countLineFeeds(part, 0, start);
  for (let row = 0; row < length; row++)
    if (fates[row] === Fate.Live && --lines === 0) return base + row;
  return -1;
}

/** For many names: all of them in a table. */
export class MappedNames implements PlainNames {
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
