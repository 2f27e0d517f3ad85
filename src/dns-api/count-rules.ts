import { BANG, CR, HASH, LF, SPACE, TAB } from "../bytes/ascii.ts";
import type { OpenFile } from "../host/host.ts";

const BLOCK = 1024 * 1024;

/** Counts the rules of a compiled list: all lines except blank ones and comments. Closes the file. */
export async function countRules(file: OpenFile): Promise<number> {
  let rules = 0;
  let isStart = true;
  try {
    const block = new Uint8Array(BLOCK);
    for (let count = await file.read(block); count > 0; count = await file.read(block)) {
      for (let at = 0; at < count; at++) {
        const byte = block[at]!;
        if (byte === LF) isStart = true;
        else if (isStart && byte !== SPACE && byte !== TAB && byte !== CR) {
          isStart = false;
          if (byte !== BANG && byte !== HASH) rules++;
        }
      }
    }
    return rules;
  } finally {
    await file.close();
  }
}
