import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { eachChunk } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const removeComments: Transformation = {
  summary: "Drops comment lines",
  details:
    "A comment begins with `!` or `# `, is a lone `#`, or begins with `####`. In a source of type `hosts` or `domains` every line that begins with `#` is one. At the top level the banners above each source go too.",
  stages: ({ finder }) => [
    eachChunk((chunk) => {
      if (!chunk.has.comments) return;
      for (const row of finder.special(chunk))
        if (chunk.kind[row] === Kind.Comment) chunk.drop(row, Fate.Comment);
    }),
  ],
};
