import { Class } from "../src/bytes/text.ts";
import {
  AT,
  CONTENTS,
  CURSOR,
  Other,
  PART,
  PARTITION,
  RECORD,
  RESULT,
  SCAN,
  STOP,
  WIDE,
  WRITE,
} from "../src/kernel/kernel.ts";
import { LONG_LINE } from "../src/kernel/name-resolver.ts";
import { BLOCK_SHIFT, FILTER_BITS, FILTER_BYTES, LONGEST_NAME } from "../src/kernel/names.ts";
import { COLUMN, Flag, Kind } from "../src/rules/chunk.ts";
import { Fate } from "../src/rules/fate.ts";

const GROUPS = {
  AT,
  CLASS: Class,
  COLUMN,
  CONTENTS,
  CURSOR,
  FATE: Fate,
  FLAG: Flag,
  KIND: Kind,
  OTHER: Other,
  RECORD,
  RESULT,
  STOP,
};

const DESCRIPTORS = { PARTITION, PART, SCAN, WRITE };

const SINGLES = {
  BLOCK_SHIFT,
  FILTER_BITS,
  FILTER_BYTES,
  LONGEST_NAME,
  LONG_LINE,
  WIDE,
};

/** The module that `kernel/kernel.ts` imports as `./constants`: the numbers that it shares with TypeScript. */
export function kernelConstants(): string {
  const all = new Map<string, number>(Object.entries(SINGLES));
  for (const [group, values] of Object.entries(GROUPS))
    for (const [name, value] of Object.entries(values))
      all.set(`${group}_${constantCase(name)}`, value);
  for (const [group, fields] of Object.entries(DESCRIPTORS))
    for (const [index, field] of fields.entries())
      all.set(`${group}_${constantCase(field)}`, index * 4);
  return [...all].map(([name, value]) => `export const ${name}: u32 = ${value};\n`).join("");
}

/** `hostStart` and `HostStart` become `HOST_START`. */
function constantCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
