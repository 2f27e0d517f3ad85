import { countLineFeeds } from "../bytes/count-lines.ts";
import type { OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { mayHaveAny } from "../kernel/name-filter.ts";
import { soleName } from "../meaning/line.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { Fate } from "../rules/fate.ts";
import { linesWithAny } from "./matching-lines.ts";

/** A rule of the list. */
export interface ListRule {
  readonly text: string;
  readonly row: number;
}

/** The plain rules for a name: one that includes the names below it, and one that does not. */
export interface NameRules {
  readonly subtree?: ListRule | undefined;
  readonly exact?: ListRule | undefined;
}

/** Finds the rules that contain only a name. */
export interface PlainNames {
  find(name: string): NameRules;
  /** False if neither the name nor a name above it has a rule. */
  mayFind?(name: string): boolean;
}

/** The bytes of the list with the live rows of a frame, from the line feed before the first row on. */
export type ListPart = (frame: number) => Uint8Array | undefined;

/** The parts of a list that is in memory. */
export function partsOf(list: Uint8Array, record: BuildRecord): ListPart {
  return (frame) => list.subarray(...frameRange(record, frame));
}

/** Reads only the parts of a list that may contain a rule for one of some names. Rejects with a `HostError`. */
export async function readParts(
  file: OpenFile,
  record: BuildRecord,
  names: readonly string[],
): Promise<ListPart> {
  const parts = new Map<number, Uint8Array>();
  for (const frame of framesWith(record, names)) {
    const [start, end] = frameRange(record, frame);
    parts.set(frame, await readFully(file, new Uint8Array(end - start), start));
  }
  return (frame) => parts.get(frame);
}

function frameRange({ frames, header }: BuildRecord, frame: number): [number, number] {
  return [frames[frame]!.offset, frames[frame + 1]?.offset ?? header.bytes];
}

function framesWith(record: BuildRecord, names: readonly string[]): number[] {
  const hashes = names.map((name) => record.hashOf(name));
  return [...record.frames.keys()].filter((frame) =>
    mayHaveAny(record.frames[frame]!.blocks.filters, hashes),
  );
}

/** For a few names: searches the parts of the list that may contain them. */
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
    const rules: { subtree?: ListRule; exact?: ListRule } = {};
    // A single label occurs everywhere; as a rule it has only this form.
    const needle = name.includes(".") ? name : `||${name}^`;
    for (const frame of framesWith(this.record, [name])) {
      const bytes = this.part(frame);
      if (bytes === undefined) continue;
      for (const { text, start } of linesWithAny(bytes, [needle], true)) {
        const found = soleName(text);
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

/** The live row whose text begins at a position in the part of a frame. */
function rowAt({ base, length, fates }: Frame, part: Uint8Array, start: number): number {
  let lines = countLineFeeds(part, 0, start);
  for (let row = 0; row < length; row++)
    if (fates[row] === Fate.Kept && --lines === 0) return base + row;
  return -1;
}
