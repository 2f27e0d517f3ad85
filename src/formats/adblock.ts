import { LF } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import { appendText } from "../rules/row-text.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { Format } from "./format.ts";

export const adblock: Format = {
  summary:
    "The lines as they are, below a header of comments; what AdGuard Home and AdGuard DNS read",
  extension: ".txt",
  write(rules, header) {
    const head = encodeUtf8(header.join("\n"));
    const out = new ByteBuffer(head.length + roomFor(rules));
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

/** More than enough, so that the output is never copied to grow; pages that are not written to are not there. */
function roomFor(rules: RuleTable): number {
  let bytes = 0;
  for (const { length, start, end, rewritten } of rules.chunks)
    if (length > 0) bytes += textSpan(start, end, length) + rewritten.length + length * 4;
  return bytes;
}

/** Bytes between the first and the last row's text, whichever buffer they lie in. */
function textSpan(start: Uint32Array, end: Uint32Array, length: number): number {
  return Math.max(0, end[length - 1]! - start[0]!);
}
