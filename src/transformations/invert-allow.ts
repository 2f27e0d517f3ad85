import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { eachChunk } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const invertAllow: Transformation = {
  summary: "Turns blocking rules into allowing ones",
  details:
    "Puts `@@` before every line that is not blank, not a comment, not a hosts line and does not begin with `@@` already. For trust, protected names and the question whether a source is a blocklist, its rules count as exceptions.",
  stages: () => [
    eachChunk((chunk) => {
      for (let row = 0; row < chunk.length; row++) {
        const kind = chunk.kind[row]!;
        if (chunk.fate[row] !== Fate.Kept || kind <= Kind.Hosts) continue;
        const text = textOf(chunk, row);
        if (text.startsWith("@@")) continue;
        rewriteText(chunk, row, `@@${text}`);
        classifyAgain(chunk, row);
      }
    }),
  ],
};
