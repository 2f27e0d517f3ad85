import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { textKey, wireKey } from "../cdb-records.ts";
import { CdbWriter } from "../cdb-writer.ts";
import { dnsdistLua } from "../dnsdist-lua.ts";
import { encodeUtf8 } from "../../bytes/utf8.ts";
import type { CombinedFormat } from "./combined-format.ts";

/**
 * A constant database whose values say what lists block a name. The closest entry decides, so an entry contains what lists say
 * about its parents, and is left out if it says the same.
 */
export const combinedCdb: CombinedFormat = {
  summary:
    "A constant database with every name once, whose values say what lists block it, and a Lua file for dnsdist that chooses lists for clients.",
  usedBy: "dnsdist",
  // The rules first: a restart that meets the new database with the old ones would not know its lists.
  files: [{ ending: ".lua" }, { ending: "", isPolled: true }],
  // dnsdist knows a list by its place until it is restarted.
  keepsPlaces: true,
  write({ lists, names }, { files: [lua, file], name, openScratch }) {
    lua!.write(encodeUtf8(dnsdistLua(lists.map((list) => list?.name))));
    const writer = new CdbWriter(file!, openScratch);
    const values = new ListDigits();
    const key = new Uint8Array(512);
    try {
      for (const { bytes, start, end, self, below, inherited } of names()) {
        if (below !== inherited) writer.add(key, wireKey(bytes, start, end, key), values.of(below));
        if (self !== below) writer.add(key, textKey(bytes, start, end, key), values.of(self));
      }
      if (writer.isFull)
        throw new CompilerError([
          errorOf("database-too-large", `${printable(name)} would have more than 4 GiB`),
        ]);
      writer.finish();
      return writer.count;
    } finally {
      writer.close();
    }
  },
};

/** A hexadecimal digit for every four lists, the first lists first; digits at the end that are 0 are left out. */
class ListDigits {
  private readonly values = new Map<number, Uint8Array>();

  of(lists: number): Uint8Array {
    let value = this.values.get(lists);
    if (value === undefined) {
      const digits = Array.from({ length: 8 }, (_, place) =>
        ((lists >>> (4 * place)) & 15).toString(16),
      );
      this.values.set(lists, (value = encodeUtf8(digits.join("").replace(/0+$/, "") || "0")));
    }
    return value;
  }
}
