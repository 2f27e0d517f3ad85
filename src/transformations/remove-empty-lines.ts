import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { eachChunk } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const removeEmptyLines: Transformation = {
  summary: "Drops empty lines",
  details: "A line of blanks only, of any script, counts as empty.",
  stages: ({ finder }) => [
    eachChunk((chunk) => {
      if (!chunk.has.blanks) return;
      for (const row of finder.special(chunk))
        if (chunk.kind[row] === Kind.Blank) chunk.drop(row, Fate.Empty);
    }),
  ],
};
