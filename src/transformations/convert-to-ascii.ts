import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { asciiLine } from "../syntax/ascii-line.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { loadIdna } from "../syntax/idna.ts";
import { eachChunk } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const convertToAscii: Transformation = {
  summary: "Writes international names in their ASCII form",
  details:
    "`||пример.рф^` becomes `||xn--e1afmkfd.xn--p1ai^` (UTS 46). Names are converted where a host may stand: in the pattern, in a hosts line, in the value of a modifier. Regular expressions, the selector of a browser rule, paths and comments stay as they are; a line whose name has no ASCII form is left alone and counted. Without `--compat`, every list has its names in ASCII anyway, and a line without an ASCII form is dropped.",
  prepare: (chunk) => (chunk.has.nonAscii ? loadIdna() : undefined),
  stages: (context) => [
    eachChunk((chunk) => {
      if (!chunk.has.nonAscii) return;
      for (let row = 0; row < chunk.length; row++) {
        if ((chunk.flags[row]! & Flag.NonAscii) === 0 || chunk.fate[row] !== Fate.Kept) continue;
        if (chunk.kind[row] === Kind.Comment) continue;
        const text = textOf(chunk, row);
        const ascii = asciiLine(text);
        if (ascii === undefined) context.warn("not-converted", chunk, row);
        if (ascii === undefined || ascii === text) continue;
        rewriteText(chunk, row, ascii);
        classifyAgain(chunk, row);
      }
    }),
  ],
};
