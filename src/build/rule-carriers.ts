import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { SourceGroups } from "../explain/overlap.ts";
import type { ListedRule } from "../formats/owned-names.ts";
import { RulePlaces, type RuleSlice } from "../formats/rule-places.ts";
import { resolvableName } from "../formats/special-rule.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";

/**
 * The sources that have each rule of a list, whether or not their line is in it: the list has one line of those that are the same or
 * block the same name.
 */
export class RuleCarriers {
  private readonly groups: SourceGroups;
  private readonly places = new RulePlaces();

  constructor(sources: number) {
    this.groups = new SourceGroups(sources);
  }

  /** Takes the chunks of the list, with all their rows. */
  take(chunk: Chunk, source: number): void {
    const { fate, kind, flags, length } = chunk;
    const add = (group: number): number => this.groups.with(group, source);
    for (let row = 0; row < length; row++) {
      if (kind[row]! < Kind.Hosts || (fate[row] !== Fate.Live && !hasCause(fate[row]!))) continue;
      const bytes = chunk.bytesOf(row);
      const isName = blocksAsName(chunk, row);
      if (isName) this.places.update(nameOf(chunk, row), add);
      // Otherwise, nearly all rows would be in both tables.
      if (isName && (flags[row]! & Flag.Ordinary) !== 0) continue;
      const [start, end] = [chunk.start[row]!, chunk.end[row]!];
      this.places.update({ bytes, start, end, isName: false }, add);
    }
  }

  /** In the order of the configuration; the source of the line itself if no other is known. */
  sourcesOf(rule: ListedRule): readonly number[] {
    const group = this.places.get(rule);
    return group === -1 ? [rule.source] : this.groups.sourcesOf(group);
  }
}

/** Whether the row is `||name^`, or Compress made it one or dropped it for one. Without Compress, `name` is another rule. */
function blocksAsName(chunk: Chunk, row: number): boolean {
  if (chunk.kind[row] === Kind.Block || (chunk.flags[row]! & Flag.AsBlock) !== 0) return true;
  return chunk.fate[row] === Fate.SameHost || chunk.fate[row] === Fate.Covered;
}

/** The name of a row, as it is written in the list. */
function nameOf(chunk: Chunk, row: number): RuleSlice {
  const bytes = chunk.bytesOf(row);
  const start = chunk.hostStart[row]!;
  const end = chunk.hostEnd[row]!;
  if ((chunk.flags[row]! & Flag.Ordinary) !== 0) return { bytes, start, end, isName: true };
  const written = decodeUtf8(bytes, start, end);
  const name = encodeUtf8(resolvableName(written) ?? written.toLowerCase());
  return { bytes: name, start: 0, end: name.length, isName: true };
}
