import { HashPlaces } from "../bytes/hash-places.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { SourceGroups } from "../explain/overlap.ts";
import type { RuleSlice } from "../formats/owned-names.ts";
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
  private readonly byName = new HashPlaces();
  private readonly byText = new HashPlaces();

  constructor(sources: number) {
    this.groups = new SourceGroups(sources);
  }

  /** Takes the chunks of the list, with all their rows. */
  take(chunk: Chunk, source: number): void {
    const { fate, kind, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (kind[row]! < Kind.Hosts || (fate[row] !== Fate.Live && !hasCause(fate[row]!))) continue;
      const bytes = chunk.bytesOf(row);
      this.add(this.byText, { bytes, start: chunk.start[row]!, end: chunk.end[row]! }, source);
      if (blocksAsName(chunk, row)) this.add(this.byName, nameOf(chunk, row), source);
    }
  }

  /** In the order of the configuration; the source of the line itself if no other is known. */
  sourcesOf({ bytes, start, end, isName, source }: RuleSlice): readonly number[] {
    const group = (isName ? this.byName : this.byText).get(bytes, start, end);
    return group === -1 ? [source] : this.groups.sourcesOf(group);
  }

  private add(
    places: HashPlaces,
    { bytes, start, end }: Pick<RuleSlice, "bytes" | "start" | "end">,
    source: number,
  ): void {
    const before = places.get(bytes, start, end);
    const group = this.groups.with(before, source);
    if (group !== before) places.set(group);
  }
}

/** Whether the row is `||name^`, or Compress made it one or dropped it for one. Without Compress, `name` is another rule. */
function blocksAsName(chunk: Chunk, row: number): boolean {
  if (chunk.kind[row] === Kind.Block || (chunk.flags[row]! & Flag.AsBlock) !== 0) return true;
  return chunk.fate[row] === Fate.SameHost || chunk.fate[row] === Fate.Covered;
}

/** The name of a row, as it is written in the list. */
function nameOf(chunk: Chunk, row: number): Pick<RuleSlice, "bytes" | "start" | "end"> {
  const bytes = chunk.bytesOf(row);
  const start = chunk.hostStart[row]!;
  const end = chunk.hostEnd[row]!;
  if ((chunk.flags[row]! & Flag.Ordinary) !== 0) return { bytes, start, end };
  const written = decodeUtf8(bytes, start, end);
  const name = encodeUtf8(resolvableName(written) ?? written.toLowerCase());
  return { bytes: name, start: 0, end: name.length };
}
