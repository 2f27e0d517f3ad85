import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { Transformation } from "./transformation.ts";

export const insertFinalNewLine: Transformation = {
  summary: "Ends the list with a line feed",
  details: "Adds one empty line at the end unless the last line is blank already.",
  run(rules) {
    if (lastLiveKind(rules) === Kind.Blank) return;
    const origin = rules.chunks.at(-1)?.origin ?? 0;
    const chunk = rules.pool.addChunk(origin, new Uint8Array(0), 1);
    chunk.flags[chunk.push(0, 0, 0)] = Flag.Generated;
    chunk.has.blanks = true;
    rules.chunks.push(chunk);
  },
};

function lastLiveKind(rules: RuleTable): number | undefined {
  for (let index = rules.chunks.length - 1; index >= 0; index--) {
    const chunk = rules.chunks[index]!;
    for (let row = chunk.length - 1; row >= 0; row--)
      if (chunk.fate[row] === Fate.Live) return chunk.kind[row];
  }
  return undefined;
}
