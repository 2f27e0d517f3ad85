/**
 * Codes and memory layouts that the kernel and TypeScript share. `scripts/kernel-module.ts` generates the constants of
 * `kernel/kernel.ts` from this file and from the enumerations of `src/rules` and `src/bytes`.
 */

/** Offsets in a record: a name or a text to compare with others. Its bytes are padded to a multiple of four. */
export const AT = { Hash: 0, Id: 4, By: 8, Length: 12, Flags: 14, Text: 16 } as const;

export const RECORD = {
  Deep: 1,
  Widened: 2,
  Excluded: 4,
  Used: 8,
  Plain: 16,
  Same: 32,
  Covered: 64,
  Trusted: 128,
  /** Was widened, but another rule for the same name is not. */
  WasWidened: 256,
  /** The rule's own text is not exactly `||name^` and was judged before. */
  Verbatim: 512,
  /** An ordinary name, which no validator drops. */
  Ordinary: 2048,
} as const;

/** Offsets in the cursor of a list of records: the next free address, the end of its page, the number of records. */
export const CURSOR = { Next: 0, End: 4, Count: 8, Bytes: 16 } as const;

/** The partition of names that are parents of names in all partitions. */
export const WIDE = 255;

/** Marks in the cause of a result. */
export const RESULT = {
  /** Instead of a row: the rule is not wider than its author meant. */
  NotWidened: 0x7fffffff,
  /** A parent covers the row. Without this mark, another row has the same name. */
  Covered: 0x80000000,
} as const;

/** Why the kernel stopped: at the end, at a row for the caller, or because the page of a list is full. */
export const STOP = { End: 0, Row: 1, Page: 2 } as const;

/** What the lines that the kernel read contain. */
export const CONTENTS = {
  Comments: 1,
  Blanks: 2,
  OuterBlanks: 4,
  SpecialHosts: 8,
  LongLines: 16,
} as const;

/** What a build record stores about a row in addition to its fate. */
export const Other = { Generated: 1, Continued: 2, NoRule: 4 } as const;

/** Fields of the descriptors that kernel functions take, one word each, in this order. See `KernelMemory.describe`. */
export const SCAN = [
  "bytes",
  "columns",
  "capacity",
  "firstRow",
  "from",
  "to",
  "liveFate",
  "hashComments",
  "splits",
  "masks",
  "unknown",
] as const;
export const PARTITION = [
  "bytes",
  "columns",
  "capacity",
  "fromRow",
  "rows",
  "firstId",
  "cursors",
  "listMask",
  "wideList",
  "checksText",
  "entered",
] as const;
export const PART = [
  "runs",
  "runCount",
  "table",
  "slots",
  "used",
  "separatesWidened",
  "trustsOrdinary",
  "wideTable",
  "wideSlots",
  "hasOneLabel",
] as const;
export const WRITE = ["bytes", "columns", "capacity", "fromRow", "rows", "out", "outEnd"] as const;

/** Size of the longest descriptor. */
export const DESCRIPTOR_BYTES = 64;
