import { LF } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import { appendText } from "../rules/row-text.ts";
import type { Format } from "./format.ts";

export const adblock: Format = {
  summary: "Adblock syntax: the rules below a header of comments, for AdGuard Home and AdGuard DNS",
  extension: ".txt",
  header: (lines) => encodeUtf8(lines.join("\n")),
  append(chunk, out, writer) {
    for (let row = 0; row < chunk.length; row++) {
      row = writer.write(chunk, row, (bytes) => void out.append(bytes, 0, bytes.length));
      if (row === chunk.length) return;
      if (chunk.fate[row] !== Fate.Kept) continue;
      out.push(LF);
      appendText(chunk, row, out);
    }
  },
};
