import { LF } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import { appendText, textLength } from "../rules/row-text.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { Format } from "./format.ts";

export const adblock: Format = {
  summary:
    "The lines as they are, below a header of comments; what AdGuard Home and AdGuard DNS read",
  extension: ".txt",
  write(rules, header) {
    const head = encodeUtf8(header.join("\n"));
    const out = new ByteBuffer(head.length + liveBytes(rules));
    out.append(head, 0, head.length);
    for (const chunk of rules.chunks) {
      for (let row = 0; row < chunk.length; row++) {
        if (chunk.fate[row] !== Fate.Live) continue;
        out.push(LF);
        appendText(chunk, row, out);
      }
    }
    return out.view();
  },
};

/** Exact, so that the output is never copied to grow: for a large list it is the largest single piece of memory. */
function liveBytes(rules: RuleTable): number {
  let bytes = 0;
  for (const chunk of rules.chunks) {
    for (let row = 0; row < chunk.length; row++)
      if (chunk.fate[row] === Fate.Live) bytes += textLength(chunk, row) + 1;
  }
  return bytes;
}
