/**
 * The innermost loops, in AssemblyScript: reading lines and resolving names. `test/support/reference` has them in TypeScript; a
 * differential test compares the two. `scripts/kernel-module.ts` generates the constants from `src/kernel/kernel.ts`,
 * `src/rules` and `src/bytes`.
 *
 * The caller lays out the memory and passes addresses in. Functions that need many numbers take a descriptor: the address of
 * a block of words. Up to sixteen bytes after every text may be read.
 */

import {
  AT_BY, AT_FLAGS, AT_ID, AT_LENGTH, AT_TEXT, BLOCK_SHIFT, CLASS_BLANK, CLASS_DOT, CLASS_HYPHEN, CLASS_MARK,
  CLASS_NON_ASCII, CLASS_UPPER, CLASS_WORD, COLUMN_END, COLUMN_FATE, COLUMN_FLAGS, COLUMN_HOST_END, COLUMN_HOST_HASH,
  COLUMN_HOST_PART, COLUMN_HOST_START, COLUMN_KIND, COLUMN_START, CONTENTS_BLANKS, CONTENTS_COMMENTS,
  CONTENTS_LONG_LINES, CONTENTS_SPECIAL_HOSTS, CONTENTS_OUTER_BLANKS, CURSOR_BYTES, CURSOR_COUNT, CURSOR_END, PARTITION_BYTES,
  PARTITION_CAPACITY, PARTITION_CHECKS_TEXT, PARTITION_COLUMNS, PARTITION_CURSORS, PARTITION_ENTERED, PARTITION_FIRST_ID, PARTITION_FROM_ROW, PARTITION_LIST_MASK,
  PARTITION_ROWS, PARTITION_WIDE_LIST, FATE_BLANK, FATE_COVERED, FATE_DUPLICATE, FATE_SAME_HOST, FILTER_BITS, FILTER_BYTES,
  FLAG_AS_BLOCK, FLAG_CONTINUED, FLAG_DEEP_HOST, FLAG_GENERATED, FLAG_NON_ASCII, FLAG_ORDINARY, FLAG_PLAIN_HOST,
  FLAG_REWRITTEN, FLAG_UPPER_HOST, FLAG_WIDENED, KIND_BLANK, KIND_BLOCK, KIND_COMMENT, KIND_DOMAIN, KIND_HOSTS,
  KIND_RULE, LONGEST_NAME, LONG_LINE, OTHER_NO_RULE, PART_HAS_ONE_LABEL, PART_RUNS, PART_RUN_COUNT,
  PART_SEPARATES_WIDENED, PART_SLOTS, PART_TABLE, PART_TRUSTS_ORDINARY, PART_USED, PART_WIDE_SLOTS, PART_WIDE_TABLE,
  RECORD_EXCLUDED, RECORD_COVERED, RECORD_DEEP, RECORD_ORDINARY, RECORD_PLAIN, RECORD_SAME, RECORD_TRUSTED, RECORD_USED,
  RECORD_WAS_WIDENED, RECORD_WIDENED, RESULT_COVERED, RESULT_NOT_WIDENED, SCAN_BYTES, SCAN_CAPACITY, SCAN_COLUMNS, SCAN_FIRST_ROW, SCAN_FROM,
  SCAN_HASH_COMMENTS, SCAN_LIVE_FATE, SCAN_MASKS, SCAN_SPLITS, SCAN_TO, SCAN_UNKNOWN, STOP_END, STOP_PAGE, STOP_ROW,
  WIDE, WRITE_BYTES, WRITE_CAPACITY, WRITE_COLUMNS, WRITE_FROM_ROW, WRITE_OUT, WRITE_OUT_END, WRITE_ROWS,
} from "./constants";

const HOST: u32 = CLASS_WORD | CLASS_UPPER | CLASS_DOT | CLASS_HYPHEN;

/** Left to the caller, who knows more syntax. */
const KIND_UNKNOWN: u32 = 255;

const FILTER_MASK: u32 = FILTER_BYTES * 8 - 1;

/** `localhost.localdomain`, the one local name of a hosts file that has a dot; told by its length and first letter. */
const LOCAL_DOMAIN_LENGTH: u32 = 21;

/** Class of each byte, at a fixed address. */
const CLASSES: u32 = 64;
const CLASSES_END: u32 = CLASSES + 256;

/** Takes the seed of the hash and fills the class table; returns the first address that is the caller's. */
export function init(seed: i32): u32 {
  HASH_SEED = seed;
  for (let byte: u32 = 0; byte < 256; byte++) store<u8>(CLASSES + byte, classOf(byte));
  return max<u32>(CLASSES_END, <u32>__heap_base);
}

function classOf(byte: u32): u32 {
  if ((byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57)) return CLASS_WORD;
  if (byte >= 65 && byte <= 90) return CLASS_UPPER;
  if (byte == 46) return CLASS_DOT;
  if (byte == 45) return CLASS_HYPHEN;
  if (byte == 32 || byte == 9 || byte == 11 || byte == 12) return CLASS_BLANK;
  return byte < 128 ? CLASS_MARK : CLASS_NON_ASCII;
}

// What `readHost` found.
let hostHash: i32 = 0;
/** Hash of what stands behind the first dot. */
let hostParentHash: i32 = 0;
let hostPart: u32 = 0;
let hostMask: u32 = 0;
let hostFlags: u32 = 0;
let hostIsDomain: bool = false;

/** Given by the caller, so that both forms agree. */
let HASH_SEED: i32 = 0;

// @ts-ignore: decorator
@inline
function hashStep(state: i32, word: u32): i32 {
  const mixed = (<u32>state ^ word) * 0x9e3779b1;
  return <i32>(mixed ^ (mixed >> 15));
}

// @ts-ignore: decorator
@inline
function hashLabel(state: i32, start: u32, end: u32): i32 {
  let at = start;
  for (; at + 4 <= end; at += 4) state = hashStep(state, load<u32>(at));
  const rest = load<u32>(at) & ((1 << ((end - at) << 3)) - 1);
  return hashStep(state, rest ^ ((end - start) << 24));
}

// @ts-ignore: decorator
@inline
function hashEnd(state: i32): i32 {
  let hash: u32 = <u32>state ^ (<u32>state >> 15);
  hash *= 0x2c1b3c6d;
  hash ^= hash >> 12;
  hash *= 0x297a2d39;
  return <i32>(hash ^ (hash >> 15));
}

// @ts-ignore: decorator
@inline
function isLabel(start: u32, end: u32): bool {
  const length = end - start;
  return length - 1 < 63 && load<u8>(start) != 45 && load<u8>(end - 1) != 45;
}

let suffixFilter: u32 = 0; // 64 kB: two bits for the hash of each public suffix
let wildcardFilter: u32 = 0; // 8 kB: the same for the names that a wildcard rule of the list stands above

export function useSuffixes(filter: u32, wildcards: u32): void {
  suffixFilter = filter;
  wildcardFilter = wildcards;
}

/** Enters the names of suffix rules, each with a blank behind it, into empty filters. */
export function enterSuffixes(from: u32, end: u32, filter: u32, wildcards: u32): void {
  for (let at = from; at < end; at++) {
    const sign = load<u8>(at);
    const start = at + (sign == 42 ? 2 : sign == 33 ? 1 : 0);
    while (load<u8>(at) != 32) at++;
    let state = HASH_SEED;
    let labelEnd = at;
    for (let dot = at - 1; dot > start; dot--) {
      if (load<u8>(dot) != 46) continue;
      state = hashLabel(state, dot + 1, labelEnd);
      labelEnd = dot;
    }
    const hash = <u32>hashEnd(hashLabel(state, start, labelEnd));
    addToFilter(filter, 0xffff, hash);
    if (sign == 42) addToFilter(wildcards, 0x1fff, hash);
  }
}

function addToFilter(filter: u32, mask: u32, hash: u32): void {
  const other = hash >> 15;
  const first = filter + ((hash >> 3) & mask);
  store<u8>(first, <u8>(<u32>load<u8>(first) | (1 << (hash & 7))));
  const second = filter + ((other >> 3) & mask);
  store<u8>(second, <u8>(<u32>load<u8>(second) | (1 << (other & 7))));
}

// @ts-ignore: decorator
@inline
function isInFilter(filter: u32, mask: u32, hash: u32): bool {
  const other = hash >> 15;
  return (
    (<u32>load<u8>(filter + ((hash >> 3) & mask)) & (1 << (hash & 7))) != 0 &&
    (<u32>load<u8>(filter + ((other >> 3) & mask)) & (1 << (other & 7))) != 0
  );
}

/**
 * The partition of a name: the same for a name and all its parents, but for those that are wide. Names fall apart by
 * their last two labels, or three where two may be a public suffix (`co.uk`); what is above that is wide.
 */
// @ts-ignore: decorator
@inline
function partOf(dots: u32, two: i32, three: i32): u32 {
  if (dots == 0) return WIDE;
  const hash = <u32>hashEnd(two);
  let part = hash >> 24;
  if (isInFilter(suffixFilter, 0xffff, hash)) {
    if (dots == 1) return WIDE;
    part = <u32>hashEnd(three) >> 24;
  }
  return part == WIDE ? WIDE - 1 : part;
}

// Bits of 16 bytes, the first byte lowest.

// @ts-ignore: decorator
@inline
function bitsBelow(block: v128, from: i8, count: i8): u32 {
  return <u32>i8x16.bitmask(i8x16.lt_u(i8x16.sub(block, i8x16.splat(from)), i8x16.splat(count)));
}

// @ts-ignore: decorator
@inline
function letterBits(block: v128): u32 {
  return bitsBelow(v128.or(block, i8x16.splat(32)), 97, 26);
}

// @ts-ignore: decorator
@inline
function bitsEqual(block: v128, byte: i8): u32 {
  return <u32>i8x16.bitmask(i8x16.eq(block, i8x16.splat(byte)));
}

/** Bit 5 tells lower case from upper; shifted to the top, it is what `bitmask` reads. */
// @ts-ignore: decorator
@inline
function lowerBits(block: v128): u32 {
  return <u32>i8x16.bitmask(i8x16.shl(block, 2));
}

/** Reads a slice as a host name. Nearly all are well-formed names of at most 32 bytes, and are looked at 16 bytes at a time. */
function readHost(start: u32, end: u32): void {
  const length = end - start;
  if (length - 1 >= 32) {
    readAnyHost(start, end);
    return;
  }
  const block = v128.load(start);
  let letters = letterBits(block);
  let lowers = lowerBits(block);
  let digits = bitsBelow(block, 48, 10);
  let dots = bitsEqual(block, 46);
  let hyphens = bitsEqual(block, 45);
  if (length > 16) {
    const rest = v128.load(start + 16);
    letters |= letterBits(rest) << 16;
    lowers |= lowerBits(rest) << 16;
    digits |= bitsBelow(rest, 48, 10) << 16;
    dots |= bitsEqual(rest, 46) << 16;
    hyphens |= bitsEqual(rest, 45) << 16;
  }
  const all: u32 = length == 32 ? 0xffffffff : (1 << length) - 1;
  const hostBits = letters | digits | dots | hyphens;
  dots &= all;
  const marks = dots | (hyphens & all);
  const starts = (dots << 1) | 1;
  const ends = (dots >> 1) | (1 << (length - 1));
  if ((hostBits & all) != all || dots == 0 || (marks & (starts | ends)) != 0) {
    readAnyHost(start, end);
    return;
  }
  // From the last label to the first.
  const hasUpper = (letters & ~lowers & all) != 0;
  hostFlags = FLAG_PLAIN_HOST | (hasUpper ? FLAG_UPPER_HOST : 0) | ((dots & (dots - 1)) != 0 ? FLAG_DEEP_HOST : 0);
  let state = HASH_SEED;
  let two: i32 = 0;
  let three: i32 = 0;
  let inner: u32 = 0;
  let labelEnd = end;
  while (dots != 0) {
    const bit = 31 - <u32>clz<u32>(dots);
    dots ^= 1 << bit;
    const dot = start + bit;
    state = hashLabel(state, dot + 1, labelEnd);
    if (++inner == 2) two = state;
    else if (inner == 3) three = state;
    labelEnd = dot;
  }
  hostParentHash = hashEnd(state);
  state = hashLabel(state, start, labelEnd);
  hostHash = hashEnd(state);
  hostPart = partOf(inner, inner >= 2 ? two : state, inner >= 3 ? three : state);
  hostMask = hasUpper ? HOST : HOST & ~CLASS_UPPER;
  hostIsDomain = true;
}

function readAnyHost(start: u32, end: u32): void {
  let state = HASH_SEED;
  let two: i32 = 0;
  let three: i32 = 0;
  let mask: u32 = 0;
  let dots: u32 = 0;
  let inner: u32 = 0;
  let isWellFormed = end > start && end - start <= 255;
  const hasFinalDot = end > start && load<u8>(end - 1) == 46;
  let labelEnd = end;
  for (let at = end; at > start; ) {
    at--;
    const byte = <u32>load<u8>(at);
    mask |= <u32>load<u8>(CLASSES + byte);
    if (byte != 46) continue;
    dots++;
    state = hashLabel(state, at + 1, labelEnd);
    // A final dot closes no label.
    if (at + 1 != end) {
      if (++inner == 2) two = state;
      else if (inner == 3) three = state;
      if (!isLabel(at + 1, labelEnd)) isWellFormed = false;
    }
    labelEnd = at;
  }
  hostParentHash = hashEnd(state);
  state = hashLabel(state, start, labelEnd);
  if (!isLabel(start, labelEnd)) isWellFormed = false;
  hostHash = hashEnd(state);
  hostPart = partOf(inner, inner >= 2 ? two : state, inner >= 3 ? three : state);
  hostMask = mask;
  hostIsDomain = isWellFormed && (mask & ~HOST) == 0 && dots > 0;
  hostFlags = (mask & CLASS_UPPER) != 0 ? FLAG_UPPER_HOST : 0;
  if (hostIsDomain && !hasFinalDot) hostFlags |= dots > 1 ? FLAG_PLAIN_HOST | FLAG_DEEP_HOST : FLAG_PLAIN_HOST;
}

/** Whether the last label of a plain name has letters only, at least two, or is in punycode. */
// @ts-ignore: decorator
@inline
function endsLikeDomain(end: u32): bool {
  let at = end - 1;
  while ((<u32>load<u8>(at) | 32) - 97 < 26) at--;
  if (load<u8>(at) == 46) return end - at > 2;
  while (load<u8>(at) != 46) at--;
  return end - at > 5 && load<u32>(at + 1) == 0x2d2d6e78;
}

/** Whether the host that `readHost` read is a name like nearly all: nothing can be wrong with it. */
// @ts-ignore: decorator
@inline
function isOrdinary(start: u32, end: u32, isAlone: bool): bool {
  if ((hostFlags & (FLAG_PLAIN_HOST | FLAG_UPPER_HOST)) != FLAG_PLAIN_HOST) return false;
  if (end - start == LOCAL_DOMAIN_LENGTH && load<u8>(start) == 108) return false;
  const last = <u32>load<u8>(end - 1);
  if (last - 48 < 10) return false;
  if (isAlone && !endsLikeDomain(end)) return false;
  return !isInFilter(suffixFilter, 0xffff, <u32>hostHash) && !isInFilter(wildcardFilter, 0x1fff, <u32>hostParentHash);
}

/** Where the name begins in `0.0.0.0 name` and `127.0.0.1 name`, with any number of spaces or tabs; 0 for all others. */
function sinkholeNameStart(start: u32, end: u32): u32 {
  if (end - start < 9) return 0;
  let at = start;
  // "0.0.0.0" and "127.0.0.", read as little-endian words
  const head = load<u64>(start);
  if ((head & 0x00ffffffffffffff) == 0x00302e302e302e30) at += 7;
  else if (head == 0x2e302e302e373231 && load<u8>(start + 8) == 49) at += 9;
  else return 0;
  if (!isSpaceOrTab(at)) return 0;
  while (at < end && isSpaceOrTab(at)) at++;
  return at < end ? at : 0;
}

// @ts-ignore: decorator
@inline
function isSpaceOrTab(at: u32): bool {
  const byte = <u32>load<u8>(at);
  return byte == 32 || byte == 9;
}

/** Whether a line may be a hosts line with more names than one, or become one when it is trimmed. */
function mayHaveSeveralNames(start: u32, end: u32, first: u32, mask: u32): bool {
  if ((mask & (CLASS_BLANK | CLASS_NON_ASCII)) == 0) return false;
  if (<u32>load<u8>(CLASSES + first) == CLASS_BLANK || first >= 128) return true;
  const isHex = (first >= 48 && first <= 57) || ((first | 32) >= 97 && (first | 32) <= 102) || first == 58 || first == 91;
  if (!isHex) return false;
  if ((mask & CLASS_NON_ASCII) != 0) return true;
  let tokens: u32 = 0;
  let isInside = false;
  for (let at = start; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == 35) break;
    const isBlank = <u32>load<u8>(CLASSES + byte) == CLASS_BLANK;
    if (!isBlank && !isInside) tokens++;
    isInside = !isBlank;
  }
  return tokens > 2;
}

/** About the rows that these lines need: one for each line end, and with `splits` one for each blank beyond one a line. */
export function countLines(from: u32, to: u32, splits: bool): u32 {
  let feeds: u32 = 0;
  let returns: u32 = 0;
  let blanks: u32 = 0;
  // What lies behind the text may be counted too: a row too much.
  for (let at = from; at < to; at += 16) {
    const block = v128.load(at);
    feeds += popcnt<u32>(<u32>i8x16.bitmask(i8x16.eq(block, i8x16.splat(10))));
    returns += popcnt<u32>(<u32>i8x16.bitmask(i8x16.eq(block, i8x16.splat(13))));
    if (splits) blanks += popcnt<u32>(<u32>i8x16.bitmask(v128.or(i8x16.eq(block, i8x16.splat(32)), v128.or(i8x16.eq(block, i8x16.splat(9)), i8x16.lt_u(i8x16.sub(block, i8x16.splat(11)), i8x16.splat(2))))));
  }
  const lines = max(feeds, returns);
  return splits && blanks > lines ? blanks : lines;
}

/**
 * Whether a line that is neither a name nor a comment is surely a rule, without looking closer: 0 when it is not sure,
 * `start` when it is and names no host, otherwise where the host of `||host^…` ends, which was read then.
 */
function ruleHost(start: u32, end: u32, first: u32, mask: u32): u32 {
  if ((mask & CLASS_NON_ASCII) != 0 || end - start > LONG_LINE) return 0;
  if (first == 35) return start;
  // `@@` and regular expressions are noted, and what has blanks may be a hosts line.
  if ((mask & CLASS_BLANK) != 0 || first == 64 || first == 47) return 0;
  if (first != 124 || end - start < 4 || load<u8>(start + 1) != 124) return start;
  let at = start + 2;
  while (at < end && (((<u32>load<u8>(CLASSES + <u32>load<u8>(at))) & HOST) != 0 || load<u8>(at) == 95)) at++;
  if (at == start + 2 || at == end || load<u8>(at) != 94) return start;
  // `||host^$,` says no more than `||host^`.
  let tail = at + 1;
  if (tail < end && load<u8>(tail) == 36) tail++;
  while (tail < end && load<u8>(tail) == 44) tail++;
  if (tail == end) return 0;
  readHost(start + 2, at);
  return at;
}

function maskOf(start: u32, end: u32): u32 {
  let mask: u32 = 0;
  for (let at = start; at < end; at++) mask |= <u32>load<u8>(CLASSES + <u32>load<u8>(at));
  return mask;
}

/** Where `scan` stopped. */
export let scanEnd: u32 = 0;
export let unknownRows: u32 = 0;
/** What was among the rows: 1 comments, 2 blank lines, 4 a space or tab at the end of a line, 8 special hosts, 16 long lines. */
export let contents: u32 = 0;

/**
 * Reads whole lines from `from` on into the columns of a chunk, from `firstRow` on. Stops at `to`, when the columns are
 * full, at a line without an end, and, with `splits`, before a hosts line that may have several names. Returns the number
 * of rows.
 */
export function scan(descriptor: u32): u32 {
  const bytes = load<u32>(descriptor + SCAN_BYTES);
  const columns = load<u32>(descriptor + SCAN_COLUMNS);
  const capacity = load<u32>(descriptor + SCAN_CAPACITY);
  const firstRow = load<u32>(descriptor + SCAN_FIRST_ROW);
  const from = load<u32>(descriptor + SCAN_FROM);
  const to = load<u32>(descriptor + SCAN_TO);
  const liveFate = load<u32>(descriptor + SCAN_LIVE_FATE);
  const hashComments = load<u32>(descriptor + SCAN_HASH_COMMENTS) != 0;
  const splits = load<u32>(descriptor + SCAN_SPLITS) != 0;
  const masks = load<u32>(descriptor + SCAN_MASKS);
  const unknown = load<u32>(descriptor + SCAN_UNKNOWN);
  const starts = columns + capacity * COLUMN_START + (firstRow << 2);
  const ends = columns + capacity * COLUMN_END + (firstRow << 2);
  const hostStarts = columns + capacity * COLUMN_HOST_START + (firstRow << 2);
  const hostEnds = columns + capacity * COLUMN_HOST_END + (firstRow << 2);
  const hashes = columns + capacity * COLUMN_HOST_HASH + (firstRow << 2);
  const flagsOut = columns + capacity * COLUMN_FLAGS + (firstRow << 1);
  const parts = columns + capacity * COLUMN_HOST_PART + firstRow;
  const kinds = columns + capacity * COLUMN_KIND + firstRow;
  const fates = columns + capacity * COLUMN_FATE + firstRow;
  const free = capacity - firstRow;
  let row: u32 = 0;
  let at = from;
  unknownRows = 0;
  contents = 0;
  scanEnd = from;
  while (at < to && row < free) {
    const start = at;
    let nonAscii: u32 = 0;
    while (true) {
      const block = v128.load(at);
      const found = <u32>i8x16.bitmask(v128.or(i8x16.eq(block, i8x16.splat(10)), i8x16.eq(block, i8x16.splat(13))));
      const high = <u32>i8x16.bitmask(block);
      if (found != 0) {
        const count = <u32>ctz<u32>(found);
        nonAscii |= high & ((1 << count) - 1);
        at += count;
        break;
      }
      nonAscii |= high;
      at += 16;
      if (at >= to) break;
    }
    if (at >= to) break;
    const end = at;
    if (load<u8>(at++) == 13) {
      if (at >= to) break;
      if (load<u8>(at) == 10) at++;
    }
    let kind = KIND_UNKNOWN;
    let flags: u32 = nonAscii != 0 ? FLAG_NON_ASCII : 0;
    let hostStart = start;
    let hostEnd = start;
    let fate = liveFate;
    hostHash = 0;
    hostPart = 0;
    if (start == end) {
      kind = KIND_BLANK;
      fate = FATE_BLANK;
      contents |= CONTENTS_BLANKS;
    } else {
      const first = <u32>load<u8>(start);
      if (end - start > LONG_LINE) contents |= CONTENTS_LONG_LINES;
      if (first == 124) {
        if (end - start >= 4 && load<u8>(start + 1) == 124 && load<u8>(end - 1) == 94) {
          readHost(start + 2, end - 1);
          if ((hostMask & ~HOST) == 0) {
            kind = KIND_BLOCK;
            hostStart = start + 2;
            hostEnd = end - 1;
          }
        }
      } else if (first == 33) {
        kind = KIND_COMMENT;
      } else if (first == 35) {
        const length = end - start;
        if (hashComments || length == 1 || load<u8>(start + 1) == 32 || (length >= 4 && load<u32>(start) == 0x23232323)) kind = KIND_COMMENT;
      } else {
        const nameStart = sinkholeNameStart(start, end);
        readHost(nameStart == 0 ? start : nameStart, end);
        if ((hostMask & ~HOST) == 0) {
          if (nameStart != 0) {
            kind = KIND_HOSTS;
            hostStart = nameStart;
            hostEnd = end;
          } else {
            kind = KIND_RULE;
            if (hostIsDomain) {
              kind = KIND_DOMAIN;
              hostEnd = end;
            } else {
              hostHash = 0;
              hostPart = 0;
            }
          }
        }
      }
      let mask: u32 = 0;
      if (kind == KIND_UNKNOWN) {
        mask = maskOf(start, end);
        const ruleHostEnd = ruleHost(start, end, first, mask);
        if (ruleHostEnd != 0) {
          kind = KIND_RULE;
          if (ruleHostEnd > start) {
            hostStart = start + 2;
            hostEnd = ruleHostEnd;
          } else {
            hostHash = 0;
            hostPart = 0;
          }
        }
      }
      if (hostEnd != hostStart) {
        flags |= hostFlags;
        if ((hostFlags & FLAG_PLAIN_HOST) == 0) contents |= CONTENTS_SPECIAL_HOSTS;
        else if (kind != KIND_RULE && isOrdinary(hostStart, hostEnd, kind == KIND_DOMAIN)) flags |= FLAG_ORDINARY;
      } else {
        const last = <u32>load<u8>(end - 1);
        if (last == 32 || last == 9) contents |= CONTENTS_OUTER_BLANKS;
        if (kind == KIND_COMMENT) contents |= CONTENTS_COMMENTS;
        else if (kind == KIND_UNKNOWN) {
          if (splits && first != 124 && first != 35 && mayHaveSeveralNames(start, end, first, mask)) break;
          store<u8>(masks + row, mask);
          store<u32>(unknown + (unknownRows++ << 2), row);
          hostHash = 0;
          hostPart = 0;
        }
      }
    }
    store<u32>(starts + (row << 2), start - bytes);
    store<u32>(ends + (row << 2), end - bytes);
    store<u32>(hostStarts + (row << 2), hostStart - bytes);
    store<u32>(hostEnds + (row << 2), hostEnd - bytes);
    store<i32>(hashes + (row << 2), hostHash);
    store<u8>(kinds + row, kind);
    store<u16>(flagsOut + (row << 1), flags);
    store<u8>(fates + row, fate);
    store<u8>(parts + row, hostPart);
    row++;
    scanEnd = at;
  }
  return row;
}

// ---- Records: names or texts that are compared with each other. They lie in pages of one partition, one behind the
// other in the order of their rows:
//
//   hash i32 | row id u32 | by u32 | length u16 | flags u16 | bytes… | up to the next multiple of 4
//
// `by` is the address of the record that makes this one redundant.

export let stop: u32 = 0;
export let stopList: u32 = 0;
export let stopSize: u32 = 0;

// @ts-ignore: decorator
@inline
function sizeOf(length: u32): u32 {
  return (AT_TEXT + length + 3) & ~3;
}

/**
 * Turns the live rows of ordinary names into rules, and puts the names of all rules into the pages of their partitions. `cursors` has, for each list, the next free
 * address, the end of its page and the number of records. `entered` has a byte for each list: without it, its names are not entered; 0 enters all.
 * Stops at a row whose text lies elsewhere and when a page is full; returns the row to go on with.
 */
export function partition(descriptor: u32): u32 {
  const bytes = load<u32>(descriptor + PARTITION_BYTES);
  const columns = load<u32>(descriptor + PARTITION_COLUMNS);
  const capacity = load<u32>(descriptor + PARTITION_CAPACITY);
  const fromRow = load<u32>(descriptor + PARTITION_FROM_ROW);
  const rows = load<u32>(descriptor + PARTITION_ROWS);
  const firstId = load<u32>(descriptor + PARTITION_FIRST_ID);
  const cursors = load<u32>(descriptor + PARTITION_CURSORS);
  const listMask = load<u32>(descriptor + PARTITION_LIST_MASK);
  const wideList = load<u32>(descriptor + PARTITION_WIDE_LIST);
  const checksText = load<u32>(descriptor + PARTITION_CHECKS_TEXT) != 0;
  const entered = load<u32>(descriptor + PARTITION_ENTERED);
  const starts = columns + capacity * COLUMN_START;
  const ends = columns + capacity * COLUMN_END;
  const hostStarts = columns + capacity * COLUMN_HOST_START;
  const hostEnds = columns + capacity * COLUMN_HOST_END;
  const hashes = columns + capacity * COLUMN_HOST_HASH;
  const flagsIn = columns + capacity * COLUMN_FLAGS;
  const parts = columns + capacity * COLUMN_HOST_PART;
  const kinds = columns + capacity * COLUMN_KIND;
  const fates = columns + capacity * COLUMN_FATE;
  for (let row = fromRow; row < rows; row++) {
    if (load<u8>(fates + row) != 0) continue;
    let flags = <u32>load<u16>(flagsIn + (row << 1));
    if (load<u8>(kinds + row) != KIND_BLOCK) {
      if ((flags & FLAG_ORDINARY) == 0) continue;
      store<u8>(kinds + row, KIND_BLOCK);
      flags |= FLAG_AS_BLOCK;
      store<u16>(flagsIn + (row << 1), flags);
    }
    const part = <u32>load<u8>(parts + row);
    const list = part == WIDE ? wideList : part & listMask;
    if (entered != 0 && load<u8>(entered + list) == 0) continue;
    const hostStart = load<u32>(hostStarts + (row << 2));
    const hostEnd = load<u32>(hostEnds + (row << 2));
    const length = hostEnd - hostStart;
    if ((flags & FLAG_REWRITTEN) != 0 || length > LONGEST_NAME) {
      stop = STOP_ROW;
      return row;
    }
    if (checksText && (flags & FLAG_AS_BLOCK) == 0) {
      if (load<u32>(starts + (row << 2)) + 2 != hostStart || load<u32>(ends + (row << 2)) != hostEnd + 1) {
        stop = STOP_ROW;
        return row;
      }
    }
    const start = hostStart + bytes;
    const cursor = cursors + list * CURSOR_BYTES;
    const record = load<u32>(cursor);
    const size = sizeOf(length);
    if (record + size > load<u32>(cursor + CURSOR_END)) {
      stop = STOP_PAGE;
      stopList = list;
      stopSize = size;
      return row;
    }
    store<u32>(cursor, record + size);
    store<u32>(cursor + CURSOR_COUNT, load<u32>(cursor + CURSOR_COUNT) + 1);
    store<i32>(record, load<i32>(hashes + (row << 2)));
    store<u32>(record + AT_ID, firstId + row);
    store<u32>(record + AT_BY, 0);
    store<u32>(
      record + AT_LENGTH,
      length | (((flags & FLAG_DEEP_HOST) != 0 ? RECORD_DEEP : 0) | ((flags & FLAG_WIDENED) != 0 ? RECORD_WIDENED | RECORD_WAS_WIDENED : 0) | ((flags & FLAG_PLAIN_HOST) != 0 ? RECORD_PLAIN : 0) | ((flags & FLAG_ORDINARY) != 0 ? RECORD_ORDINARY : 0)) << 16,
    );
    // Names are short; `memory.copy` costs more to call than they take to copy. The last step may write up to 7 bytes
    // beyond the name, which the next record or the slack at the end of a page takes.
    const to = record + AT_TEXT;
    for (let at: u32 = 0; at < length; at += 8) store<u64>(to + at, load<u64>(start + at));
  }
  stop = STOP_END;
  return rows;
}

/** No dot, but for a final one. */
function isOneLabel(start: u32, length: u32): bool {
  for (let at = start; at + 1 < start + length; at++) if (load<u8>(at) == 46) return false;
  return true;
}

let table: u32 = 0; // pairs: hash, address of a record or 0
let tableMask: u32 = 0;
let wideTable: u32 = 0;
let wideMask: u32 = 0;
let hasOneLabel: bool = false;

/** Makes this area, of a power of two of slots, the table of what `index` is told. */
export function useTable(at: u32, slots: u32): void {
  table = at;
  tableMask = slots - 1;
  memory.fill(table, 0, slots << 3);
}

/** Whether one of these records is for a top-level domain. */
export function namesOneLabel(page: u32, end: u32): bool {
  for (let record = page; record < end; ) {
    const length = <u32>load<u16>(record + AT_LENGTH);
    if (isOneLabel(record + AT_TEXT, length)) return true;
    record += sizeOf(length);
  }
  return false;
}

/**
 * Resolves one partition, except for the question whether parents survive. `runs` are pairs of where records begin and
 * end; the wide table has no slots where there are no wide names. Returns how many parents are in the list at `used`.
 */
export function resolvePart(descriptor: u32): u32 {
  const runs = load<u32>(descriptor + PART_RUNS);
  const runCount = load<u32>(descriptor + PART_RUN_COUNT);
  const slots = load<u32>(descriptor + PART_SLOTS);
  const wideSlots = load<u32>(descriptor + PART_WIDE_SLOTS);
  wideTable = load<u32>(descriptor + PART_WIDE_TABLE);
  wideMask = wideSlots == 0 ? 0 : wideSlots - 1;
  hasOneLabel = load<u32>(descriptor + PART_HAS_ONE_LABEL) != 0;
  useTable(load<u32>(descriptor + PART_TABLE), slots);
  for (let run: u32 = 0; run < runCount; run++) indexNames(load<u32>(runs + (run << 3)), load<u32>(runs + (run << 3) + 4));
  return coverPart(descriptor);
}

/** Looks for parents once more, because some of those that were found are excluded now. */
export function coverPart(descriptor: u32): u32 {
  const runs = load<u32>(descriptor + PART_RUNS);
  const runCount = load<u32>(descriptor + PART_RUN_COUNT);
  const used = load<u32>(descriptor + PART_USED);
  const separatesWidened = load<u32>(descriptor + PART_SEPARATES_WIDENED) != 0;
  const trustsOrdinary = load<u32>(descriptor + PART_TRUSTS_ORDINARY) != 0;
  table = load<u32>(descriptor + PART_TABLE);
  tableMask = load<u32>(descriptor + PART_SLOTS) - 1;
  let count: u32 = 0;
  for (let run: u32 = 0; run < runCount; run++)
    count = cover(load<u32>(runs + (run << 3)), load<u32>(runs + (run << 3) + 4), separatesWidened, trustsOrdinary, used, count);
  return count;
}

// @ts-ignore: decorator
@inline
function isSame(record: u32, start: u32, length: u32): bool {
  if (<u32>load<u16>(record + AT_LENGTH) != length) return false;
  const other = record + AT_TEXT;
  let at: u32 = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(other + at) != load<u64>(start + at)) return false;
  for (; at < length; at++) if (load<u8>(other + at) != load<u8>(start + at)) return false;
  return true;
}

// @ts-ignore: decorator
@inline
function find(slots: u32, mask: u32, hash: i32, start: u32, length: u32): u32 {
  let slot = <u32>hash & mask;
  let record = load<u32>(slots + (slot << 3) + 4);
  while (record != 0) {
    if (load<i32>(slots + (slot << 3)) == hash && isSame(record, start, length)) return record;
    slot = (slot + 1) & mask;
    record = load<u32>(slots + (slot << 3) + 4);
  }
  return 0;
}

/** Enters the records of a page into the table and finds those whose name stands in an earlier one. */
function indexNames(page: u32, end: u32): void {
  for (let record = page; record < end; ) {
    const length = <u32>load<u16>(record + AT_LENGTH);
    const hash = load<i32>(record);
    let slot = <u32>hash & tableMask;
    let same = load<u32>(table + (slot << 3) + 4);
    while (same != 0 && !(load<i32>(table + (slot << 3)) == hash && isSame(same, record + AT_TEXT, length))) {
      slot = (slot + 1) & tableMask;
      same = load<u32>(table + (slot << 3) + 4);
    }
    if (same == 0) {
      store<i32>(table + (slot << 3), hash);
      store<u32>(table + (slot << 3) + 4, record);
    } else {
      store<u32>(record + AT_BY, same);
      const flags = load<u16>(record + AT_FLAGS);
      store<u16>(record + AT_FLAGS, flags | <u16>RECORD_SAME);
      if ((flags & <u16>RECORD_WIDENED) == 0) store<u16>(same + AT_FLAGS, load<u16>(same + AT_FLAGS) & <u16>~RECORD_WIDENED);
    }
    record += sizeOf(length);
  }
}

/** The same for texts, of which the last stays: the table ends up with the last record of each. */
export function indexTexts(page: u32, end: u32): void {
  for (let record = page; record < end; ) {
    const length = <u32>load<u16>(record + AT_LENGTH);
    const slot = slotOfText(record, length);
    store<i32>(table + (slot << 3), load<i32>(record));
    store<u32>(table + (slot << 3) + 4, record);
    record += sizeOf(length);
  }
}

/** After `indexTexts` for all pages: finds the records that are not the last of their text. */
export function resolveTexts(page: u32, end: u32): void {
  for (let record = page; record < end; ) {
    const length = <u32>load<u16>(record + AT_LENGTH);
    const last = load<u32>(table + (slotOfText(record, length) << 3) + 4);
    if (last != record) {
      store<u32>(record + AT_BY, last);
      store<u16>(record + AT_FLAGS, load<u16>(record + AT_FLAGS) | <u16>RECORD_SAME);
    }
    record += sizeOf(length);
  }
}

/** The slot of a record with the same text and the same flags, or the free one for it. */
function slotOfText(record: u32, length: u32): u32 {
  const hash = load<i32>(record);
  const flags = load<u16>(record + AT_FLAGS) & ~<u16>RECORD_SAME;
  let slot = <u32>hash & tableMask;
  let other = load<u32>(table + (slot << 3) + 4);
  while (other != 0) {
    if (
      load<i32>(table + (slot << 3)) == hash &&
      (load<u16>(other + AT_FLAGS) & ~<u16>RECORD_SAME) == flags &&
      isSame(other, record + AT_TEXT, length)
    ) break;
    slot = (slot + 1) & tableMask;
    other = load<u32>(table + (slot << 3) + 4);
  }
  return slot;
}

function isIpv4(start: u32, end: u32): bool {
  if (end - start < 7 || end - start > 15) return false;
  let octets: u32 = 1;
  let digits: u32 = 0;
  let value: u32 = 0;
  for (let at = start; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == 46) {
      if (digits == 0 || octets == 4) return false;
      octets++;
      digits = 0;
      value = 0;
    } else if (byte >= 48 && byte <= 57 && digits < 3) {
      digits++;
      value = value * 10 + byte - 48;
      if (value > 255) return false;
    } else return false;
  }
  return octets == 4 && digits > 0;
}

/**
 * Finds, for every record of the page that is first of its name, the widest parent in the tables that is not excluded, and
 * notes parents that nobody vouched for yet, once each, in the list at `used`. Returns how many are in it then.
 */
function cover(page: u32, end: u32, separatesWidened: bool, trustsOrdinary: bool, used: u32, usedCount: u32): u32 {
  const trusted = RECORD_USED | RECORD_TRUSTED | (trustsOrdinary ? RECORD_ORDINARY : 0);
  let count = usedCount;
  for (let record = page; record < end; ) {
    const flags = <u32>load<u16>(record + AT_FLAGS);
    const length = <u32>load<u16>(record + AT_LENGTH);
    const start = record + AT_TEXT;
    record += sizeOf(length);
    if ((flags & RECORD_SAME) != 0) continue;
    // Two plain labels: the only parent is a top-level domain.
    if (!hasOneLabel && (flags & (RECORD_PLAIN | RECORD_DEEP)) == RECORD_PLAIN) continue;
    const self = start - AT_TEXT;
    store<u16>(self + AT_FLAGS, <u16>(flags & ~RECORD_COVERED));
    const stopAt = start + length;
    const last = <u32>load<u8>(stopAt - 1);
    if (last >= 48 && last <= 57 && isIpv4(start, stopAt)) continue;
    let state = HASH_SEED;
    let labels: u32 = 0;
    let labelEnd = stopAt;
    if (last == 46) {
      state = hashLabel(state, stopAt, stopAt);
      labelEnd = stopAt - 1;
    }
    for (let at = stopAt - 1; at > start; ) {
      at--;
      if (load<u8>(at) != 46) continue;
      state = hashLabel(state, at + 1, labelEnd);
      labelEnd = at;
      labels++;
      if (labels == 1 && !hasOneLabel) continue;
      const hash = hashEnd(state);
      const isWide = labels == 1 || (labels == 2 && isInFilter(suffixFilter, 0xffff, <u32>hash));
      if (isWide && wideMask == 0) continue;
      const parent = isWide
        ? find(wideTable, wideMask, hash, at + 1, stopAt - at - 1)
        : find(table, tableMask, hash, at + 1, stopAt - at - 1);
      if (parent == 0) continue;
      const parentFlags = <u32>load<u16>(parent + AT_FLAGS);
      const mayCover = !separatesWidened || (flags & RECORD_WIDENED) != 0 || (parentFlags & RECORD_WIDENED) == 0;
      if (!mayCover || (parentFlags & RECORD_EXCLUDED) != 0) continue;
      if ((parentFlags & trusted) == 0) {
        store<u16>(parent + AT_FLAGS, <u16>(parentFlags | RECORD_USED));
        store<u32>(used + (count++ << 2), parent);
      }
      store<u32>(self + AT_BY, parent);
      store<u16>(self + AT_FLAGS, load<u16>(self + AT_FLAGS) | <u16>RECORD_COVERED);
      break;
    }
  }
  return count;
}

/**
 * Hands the verdicts on the records of a page to the lists of the chunks that their rows are in: pairs of the row's id
 * and that of the row which makes it redundant. Stops when a list's page is full; returns the record to go on with.
 */
export function deliver(page: u32, end: u32, cursors: u32, idShift: u32): u32 {
  for (let record = page; record < end; ) {
    const flags = <u32>load<u16>(record + AT_FLAGS);
    const isRedundant = (flags & (RECORD_SAME | RECORD_COVERED)) != 0;
    if (isRedundant || (flags & (RECORD_WIDENED | RECORD_WAS_WIDENED)) == RECORD_WAS_WIDENED) {
      const id = load<u32>(record + AT_ID);
      const list = id >> idShift;
      const cursor = cursors + list * CURSOR_BYTES;
      const at = load<u32>(cursor);
      if (at + 8 > load<u32>(cursor + CURSOR_END)) {
        stop = STOP_PAGE;
        stopList = list;
        stopSize = 8;
        return record;
      }
      let by: u32 = RESULT_NOT_WIDENED;
      if (isRedundant) {
        by = load<u32>(load<u32>(record + AT_BY) + AT_ID);
        if ((flags & RECORD_SAME) == 0) by |= RESULT_COVERED;
      }
      store<u32>(at, id);
      store<u32>(at + 4, by);
      store<u32>(cursor, at + 8);
    }
    record += sizeOf(<u32>load<u16>(record + AT_LENGTH));
  }
  stop = STOP_END;
  return end;
}

/** Hands out pairs that `deliver` made for a single list. Stops like it; returns the pair to go on with. */
export function passOn(from: u32, to: u32, cursors: u32, idShift: u32): u32 {
  for (let pair = from; pair < to; pair += 8) {
    const list = load<u32>(pair) >> idShift;
    const cursor = cursors + list * CURSOR_BYTES;
    const at = load<u32>(cursor);
    if (at + 8 > load<u32>(cursor + CURSOR_END)) {
      stop = STOP_PAGE;
      stopList = list;
      stopSize = 8;
      return pair;
    }
    store<u64>(at, load<u64>(pair));
    store<u32>(cursor, at + 8);
  }
  stop = STOP_END;
  return to;
}

/**
 * Writes verdicts on names, pairs as `deliver` made them, into the columns of the chunk with this id. The flags come
 * last in case that a rule is no wider than its author meant; returns whether there was one.
 */
export function applyResults(
  from: u32, to: u32, chunk: u32, idShift: u32, fates: u32, causes: u32, flags: u32,
): bool {
  let isChanged = false;
  const rowMask: u32 = (1 << idShift) - 1;
  for (let at = from; at < to; at += 8) {
    const id = load<u32>(at);
    if (id >> idShift != chunk) continue;
    const row = id & rowMask;
    const by = load<u32>(at + 4);
    if (by == RESULT_NOT_WIDENED) {
      store<u16>(flags + (row << 1), load<u16>(flags + (row << 1)) & <u16>~FLAG_WIDENED);
      isChanged = true;
    } else {
      store<u8>(fates + row, (by & RESULT_COVERED) != 0 ? FATE_COVERED : FATE_SAME_HOST);
      store<u32>(causes + (row << 2), by & ~RESULT_COVERED);
    }
  }
  return isChanged;
}

/** Where `writeRows` stopped. */
export let writeEnd: u32 = 0;

/**
 * Writes the live rows from `fromRow` on, a line feed before each, to `out` as long as there is room. Returns the row to go on with:
 * the first that does not fit, or whose text was rewritten, or `rows`.
 */
export function writeRows(descriptor: u32): u32 {
  const bytes = load<u32>(descriptor + WRITE_BYTES);
  const columns = load<u32>(descriptor + WRITE_COLUMNS);
  const capacity = load<u32>(descriptor + WRITE_CAPACITY);
  const fromRow = load<u32>(descriptor + WRITE_FROM_ROW);
  const rows = load<u32>(descriptor + WRITE_ROWS);
  const out = load<u32>(descriptor + WRITE_OUT);
  const outEnd = load<u32>(descriptor + WRITE_OUT_END);
  const starts = columns + capacity * COLUMN_START;
  const ends = columns + capacity * COLUMN_END;
  const hostStarts = columns + capacity * COLUMN_HOST_START;
  const hostEnds = columns + capacity * COLUMN_HOST_END;
  const flagsIn = columns + capacity * COLUMN_FLAGS;
  const fates = columns + capacity * COLUMN_FATE;
  let to = out;
  let row = fromRow;
  for (; row < rows; row++) {
    if (load<u8>(fates + row) != 0) continue;
    const flags = <u32>load<u16>(flagsIn + (row << 1));
    if ((flags & FLAG_REWRITTEN) != 0) break;
    const isBlock = (flags & FLAG_AS_BLOCK) != 0;
    const start = load<u32>((isBlock ? hostStarts : starts) + (row << 2));
    const length = load<u32>((isBlock ? hostEnds : ends) + (row << 2)) - start;
    // Eight bytes are written at a time: a little more than the text and its marks.
    if (to + length + 16 > outEnd) break;
    store<u8>(to++, 10);
    if (isBlock) {
      store<u16>(to, 0x7c7c);
      to += 2;
    }
    const from = bytes + start;
    for (let at: u32 = 0; at < length; at += 8) store<u64>(to + at, load<u64>(from + at));
    to += length;
    if (isBlock) store<u8>(to++, 94);
  }
  writeEnd = to;
  return row;
}

/** Adds the rows' fates to counters (u32 each); live rows that are rules are counted behind them, at `256`. */
export function countFates(rows: u32, fates: u32, kinds: u32, counts: u32): void {
  for (let row: u32 = 0; row < rows; row++) {
    const fate = <u32>load<u8>(fates + row);
    const counter = counts + (fate << 2);
    store<u32>(counter, load<u32>(counter) + 1);
    if (fate == 0 && load<u8>(kinds + row) >= <u8>KIND_HOSTS) store<u32>(counts + 1024, load<u32>(counts + 1024) + 1);
  }
}

/** Writes the numbers of rows with a fate up to `lastFate`, and without any of these flags, to `out`. Returns how many. */
export function findRows(rows: u32, fates: u32, flagsIn: u32, lastFate: u32, without: u32, out: u32): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    if (<u32>load<u8>(fates + row) > lastFate || (<u32>load<u16>(flagsIn + (row << 1)) & without) != 0) continue;
    store<u32>(out + (count++ << 2), row);
  }
  return count;
}

/** Live rows, whose hash is in a filter of 65,536 bits. Returns how many there are. */
export function findHashes(rows: u32, fates: u32, hashes: u32, filter: u32, out: u32): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const hash = load<u32>(hashes + (row << 2)) & 0xffff;
    if ((load<u8>(filter + (hash >> 3)) & (1 << (hash & 7))) == 0) continue;
    if (load<u8>(fates + row) != 0) continue;
    store<u32>(out + (count++ << 2), row);
  }
  return count;
}

/**
 * Enters the names of ordinary rows into the filters of their blocks (see `src/kernel/names.ts`). Writes the numbers of rows that are
 * not ordinary, or were rewritten, to `out`. Returns how many there are.
 */
export function enterNames(rows: u32, flagsIn: u32, hashes: u32, filters: u32, out: u32): u32 {
  let count: u32 = 0;
  memory.fill(filters, 0, ((rows + (1 << BLOCK_SHIFT) - 1) >> BLOCK_SHIFT) * FILTER_BYTES);
  for (let row: u32 = 0; row < rows; row++) {
    const flags = <u32>load<u16>(flagsIn + (row << 1));
    if ((flags & (FLAG_ORDINARY | FLAG_REWRITTEN)) != FLAG_ORDINARY) store<u32>(out + (count++ << 2), row);
    if ((flags & FLAG_ORDINARY) == 0) continue;
    const filter = filters + ((row >> BLOCK_SHIFT) * FILTER_BYTES);
    const hash = load<u32>(hashes + (row << 2));
    setBit(filter, hash & FILTER_MASK);
    setBit(filter, (hash >> FILTER_BITS) & FILTER_MASK);
  }
  return count;
}

/** Writes what is said of a row beside its fate (`Other` in `src/kernel/kernel.ts`), a byte for each. */
export function writeOthers(rows: u32, flagsIn: u32, kinds: u32, out: u32): void {
  for (let row: u32 = 0; row < rows; row++) {
    const flags = <u32>load<u16>(flagsIn + (row << 1));
    const isNoRule: u32 = <u32>load<u8>(kinds + row) < KIND_HOSTS ? OTHER_NO_RULE : 0;
    store<u8>(out + row, ((flags & FLAG_GENERATED) >> 8) | ((flags & FLAG_CONTINUED) >> 8) | isNoRule);
  }
}

/**
 * Writes, for each row that another made redundant, the number of that row minus the one before, as a zigzag varint. Returns where
 * they end.
 */
export function writeCauses(rows: u32, fates: u32, by: u32, first: u32, out: u32): u32 {
  let at = out;
  let last = first;
  for (let row: u32 = 0; row < rows; row++) {
    const fate = load<u8>(fates + row);
    if (fate != FATE_DUPLICATE && fate != FATE_SAME_HOST && fate != FATE_COVERED) continue;
    const cause = load<u32>(by + (row << 2));
    const step = <i32>(cause - last);
    last = cause;
    let value = <u32>((step << 1) ^ (step >> 31));
    for (; value > 127; value >>= 7) store<u8>(at++, (value & 127) | 128);
    store<u8>(at++, value);
  }
  return at;
}

// @ts-ignore: decorator
@inline
function setBit(filter: u32, bit: u32): void {
  const at = filter + (bit >> 3);
  store<u8>(at, <u32>load<u8>(at) | (<u32>1 << (bit & 7)));
}

/** Copies sixteen bytes at a time: up to fifteen more than asked for are written, and are written over by what comes next. */
// @ts-ignore: decorator
@inline
function copy(to: u32, from: u32, length: u32): void {
  for (let at: u32 = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at));
}

/**
 * Writes lines for names that each have a line feed behind them. `parts` are the texts before, between and behind the places of
 * the name: for each a length in sixteen bytes, then its bytes up to a multiple of sixteen. Returns where the lines end.
 */
export function expandNames(names: u32, count: u32, parts: u32, places: u32, out: u32): u32 {
  const feeds = i8x16.splat(10);
  let from = names;
  let to = out;
  for (let left = count; left > 0; left--) {
    let length: u32 = 0;
    while (true) {
      const mask = i8x16.bitmask(i8x16.eq(v128.load(from + length), feeds));
      if (mask != 0) {
        length += <u32>ctz(mask);
        break;
      }
      length += 16;
    }
    let part = parts;
    for (let place: u32 = 0; ; place++) {
      const size = load<u32>(part);
      copy(to, part + 16, size);
      to += size;
      if (place == places) break;
      part += 16 + ((size + 15) & ~15);
      copy(to, from, length);
      to += length;
    }
    from += length + 1;
  }
  return to;
}

const PIPE: u32 = 124;
const CARET: u32 = 94;
const HYPHEN: u32 = 45;
const DOT: u32 = 46;
const LINE_FEED: u32 = 10;
const LONGEST_LABEL: u32 = 63;
const LOCALHOST_LENGTH: u32 = 9;

/** What `takeNames` wrote: where it ends, and how many names. */
export let namesEnd: u32 = 0;
export let namesCount: u32 = 0;

/**
 * Copies the names of lines `||name^`, each with a line feed behind it, up to the first other line. A line feed precedes each
 * line; one and sixteen zeros follow the last. Returns where it stopped.
 */
export function takeNames(from: u32, end: u32, longest: u32, out: u32): u32 {
  let at = from;
  let to = out;
  let count: u32 = 0;
  while (at < end) {
    const name = at + (<u32>load<u8>(at) == LINE_FEED ? 3 : 2);
    const nameEnd = plainNameEnd(name, longest);
    if (nameEnd == 0) break;
    copy(to, name, nameEnd - name);
    to += nameEnd - name;
    store<u8>(to++, LINE_FEED);
    count++;
    at = nameEnd + 1;
  }
  namesEnd = to;
  namesCount = count;
  return at;
}

/**
 * The end of the name in a line `||name^`, which stands two bytes before it; 0 for any other line. A plain name has two or more
 * labels of lower-case letters, digits and inner hyphens, and does not end in a number.
 */
// @ts-ignore: decorator
@inline
function plainNameEnd(first: u32, longest: u32): u32 {
  if (<u32>load<u8>(first - 2) != PIPE || <u32>load<u8>(first - 1) != PIPE) return 0;
  let label = first;
  let at = first;
  for (; ; at++) {
    const byte: u32 = load<u8>(at);
    if (<u32>load<u8>(CLASSES + byte) == CLASS_WORD) continue;
    if (byte == HYPHEN) {
      if (at == label) return 0;
      continue;
    }
    if (byte != DOT && byte != CARET) return 0;
    if (at == label || at - label > LONGEST_LABEL || <u32>load<u8>(at - 1) == HYPHEN) return 0;
    if (byte == CARET) break;
    label = at + 1;
  }
  if (label == first || at - first > longest) return 0;
  const letter: u32 = load<u8>(label);
  if (letter < 58 && <u32>load<u8>(at - 1) < 58) return 0;
  // `rpz-client-ip` and the like, `localhost.localdomain`, and names below `localhost` are handled one by one.
  if (letter == 114 && <u32>load<u8>(label + 3) == HYPHEN) return 0;
  if (at - first == LOCAL_DOMAIN_LENGTH && <u32>load<u8>(first) == 108) return 0;
  if (at - label == LOCALHOST_LENGTH && letter == 108) return 0;
  return <u32>load<u8>(at + 1) == LINE_FEED ? at : 0;
}

/**
 * Finds the names of which a filter may have an end (the name itself, or what stands behind one of its dots), or the name as a
 * whole. A line feed follows each name. Writes the offset of each; returns how many.
 */
export function findEnds(names: u32, end: u32, filter: u32, out: u32): u32 {
  const feeds = i8x16.splat(10);
  let to = out;
  let start = names;
  while (start < end) {
    let feed = start;
    while (true) {
      const mask = i8x16.bitmask(i8x16.eq(v128.load(feed), feeds));
      if (mask != 0) {
        feed += <u32>ctz(mask);
        break;
      }
      feed += 16;
    }
    let hash: u32 = 0;
    let isFound = false;
    for (let at = feed; at > start; ) {
      const byte: u32 = load<u8>(--at);
      if (byte == DOT && hasEnd(filter, hash)) {
        isFound = true;
        break;
      }
      hash = ((hash ^ byte) * 0x01000193) ^ (hash >>> 15);
    }
    if (isFound || hasEnd(filter, hash) || hasEnd(filter, ~hash)) {
      store<u32>(to, start - names);
      to += 4;
    }
    start = feed + 1;
  }
  return (to - out) >>> 2;
}

/** Whether both bits of a hash are set in a filter of 2^20 bits. */
// @ts-ignore: decorator
@inline
function hasEnd(filter: u32, hash: u32): bool {
  const first = hash >>> 12;
  if (((<u32>load<u8>(filter + (first >>> 3)) >>> (first & 7)) & 1) == 0) return false;
  const second = (hash * 0x9e3779b1) >>> 12;
  return ((<u32>load<u8>(filter + (second >>> 3)) >>> (second & 7)) & 1) != 0;
}
