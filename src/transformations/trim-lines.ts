import { SPACE, TAB } from "../bytes/ascii.ts";
import { Flag } from "../rules/kind.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { eachChunk } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const trimLines: Transformation = {
  summary: "Removes spaces and tabs at both ends of a line",
  details:
    "Only the two ASCII blanks go; a no-break space or an ideographic space stays. Indented hosts lines are recognised only after this.",
  stages: ({ finder }) => [
    eachChunk((chunk) => {
      if (!chunk.has.outerBlanks) return;
      for (const row of finder.special(chunk)) {
        if ((chunk.flags[row]! & Flag.AsBlock) !== 0) continue;
        const bytes = chunk.bytesOf(row);
        let start = chunk.start[row]!;
        let end = chunk.end[row]!;
        while (start < end && (bytes[start] === SPACE || bytes[start] === TAB)) start++;
        while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end--;
        if (start === chunk.start[row] && end === chunk.end[row]) continue;
        chunk.start[row] = start;
        chunk.end[row] = end;
        classifyAgain(chunk, row);
      }
    }),
  ],
};
