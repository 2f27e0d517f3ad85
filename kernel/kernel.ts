/**
 * The innermost loops, in AssemblyScript: reading lines and resolving names. `src/kernel/script-kernel.ts` does the same in
 * TypeScript; a differential test holds the two together. Numbers of kinds, flags and fates are those of `src/rules`.
 *
 * Memory is laid out by the caller (`src/kernel/wasm-kernel.ts`), which passes addresses in.
 */

const WORD: u32 = 1;
const UPPER: u32 = 2;
const DOT_CLASS: u32 = 4;
const HYPHEN_CLASS: u32 = 8;
const BLANK: u32 = 16;
const MARK: u32 = 32;
const NON_ASCII: u32 = 64;
const HOST: u32 = WORD | UPPER | DOT_CLASS | HYPHEN_CLASS;

const KIND_BLANK: u32 = 0;
const KIND_COMMENT: u32 = 1;
const KIND_HOSTS: u32 = 2;
const KIND_DOMAIN: u32 = 3;
const KIND_BLOCK: u32 = 4;
const KIND_RULE: u32 = 5;
/** Left to the caller, who knows more syntax. */
const KIND_UNKNOWN: u32 = 255;

const FLAG_NON_ASCII: u32 = 4;
const FLAG_UPPER_HOST: u32 = 8;
const FLAG_PLAIN_HOST: u32 = 32;
const FLAG_DEEP_HOST: u32 = 4096;

const FATE_BLANK: u32 = 2;

const CLASSES = memory.data(256);

/** Takes the seed of the hash and fills the class table; returns the first address that is the caller's. */
export function init(seed: i32): u32 {
  HASH_SEED = seed;
  for (let byte: u32 = 0; byte < 256; byte++) store<u8>(CLASSES + byte, classOf(byte));
  return <u32>__heap_base;
}

function classOf(byte: u32): u32 {
  if ((byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57)) return WORD;
  if (byte >= 65 && byte <= 90) return UPPER;
  if (byte == 46) return DOT_CLASS;
  if (byte == 45) return HYPHEN_CLASS;
  if (byte == 32 || byte == 9 || byte == 11 || byte == 12) return BLANK;
  return byte < 128 ? MARK : NON_ASCII;
}

// What `readHost` found.
let hostHash: i32 = 0;
let hostPart: u32 = 0;
let hostMask: u32 = 0;
let hostFlags: u32 = 0;
let hostIsDomain: bool = false;

// @ts-ignore: decorator
@inline
function hashByte(state: i32, byte: u32): i32 {
  return (state ^ <i32>byte) * 0x01000193;
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

/** Given by the caller, so that both forms agree. */
let HASH_SEED: i32 = 0;

// @ts-ignore: decorator
@inline
function isLabel(start: u32, end: u32): bool {
  const length = end - start;
  return length - 1 < 63 && load<u8>(start) != 45 && load<u8>(end - 1) != 45;
}

function readHost(start: u32, end: u32): void {
  let state = HASH_SEED;
  let partState = HASH_SEED;
  let mask: u32 = 0;
  let dots: u32 = 0;
  let inner: u32 = 0;
  let isWellFormed = end > start && end - start <= 255;
  const hasFinalDot = end > start && load<u8>(end - 1) == 46;
  let labelEnd = hasFinalDot ? end - 1 : end;
  for (let at = end; at > start; ) {
    at--;
    const byte = <u32>load<u8>(at);
    if (byte == 46) {
      dots++;
      mask |= DOT_CLASS;
      if (at != labelEnd) {
        if (++inner == 2) partState = state;
        if (!isLabel(at + 1, labelEnd)) isWellFormed = false;
        labelEnd = at;
      }
    } else {
      mask |= <u32>load<u8>(CLASSES + byte);
    }
    state = hashByte(state, byte);
  }
  if (!isLabel(start, labelEnd)) isWellFormed = false;
  hostHash = hashEnd(state);
  hostPart = <u32>hashEnd(inner >= 2 ? partState : state) & 255;
  hostMask = mask;
  hostIsDomain = isWellFormed && (mask & ~HOST) == 0 && dots > 0;
  hostFlags = (mask & UPPER) != 0 ? FLAG_UPPER_HOST : 0;
  if (hostIsDomain && !hasFinalDot) hostFlags |= dots > 1 ? FLAG_PLAIN_HOST | FLAG_DEEP_HOST : FLAG_PLAIN_HOST;
}

/** Where the name begins in `0.0.0.0 name` and `127.0.0.1 name`; 0 for all others. */
function sinkholeNameStart(start: u32, end: u32): u32 {
  if (end - start < 9) return 0;
  // "0.0.0.0 " and "127.0.0.", read as little-endian words
  const head = load<u64>(start);
  if (head == 0x20302e302e302e30) return start + 8;
  if (head == 0x2e302e302e373231 && load<u16>(start + 8) == 0x2031 && end - start > 10) return start + 10;
  return 0;
}

/** Whether a line may be a hosts line with more names than one, or become one when it is trimmed. */
function mayHaveSeveralNames(start: u32, end: u32, first: u32, mask: u32): bool {
  if ((mask & (BLANK | NON_ASCII)) == 0) return false;
  if (<u32>load<u8>(CLASSES + first) == BLANK || first >= 128) return true;
  const isHex = (first >= 48 && first <= 57) || ((first | 32) >= 97 && (first | 32) <= 102) || first == 58 || first == 91;
  if (!isHex) return false;
  if ((mask & NON_ASCII) != 0) return true;
  let tokens: u32 = 0;
  let isInside = false;
  for (let at = start; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == 35) break;
    const isBlank = <u32>load<u8>(CLASSES + byte) == BLANK;
    if (!isBlank && !isInside) tokens++;
    isInside = !isBlank;
  }
  return tokens > 2;
}

/** Where `scan` stopped. */
export let scanEnd: u32 = 0;
export let unknownRows: u32 = 0;
/** What was among the rows: 1 comments, 2 blank lines, 4 a space or tab at the end of a line, 8 odd hosts. */
export let contents: u32 = 0;

/**
 * Reads whole lines from `from` on; `base` is added to positions. Stops at `to`, when the columns are full, at a line
 * without an end, and, with `splits`, before a hosts line that may have several names. Returns the number of rows.
 */
export function scan(
  from: u32, to: u32, base: u32, capacity: u32, liveFate: u32, hashComments: bool, splits: bool,
  starts: u32, ends: u32, hostStarts: u32, hostEnds: u32, hashes: u32,
  kinds: u32, flagsOut: u32, fates: u32, parts: u32, masks: u32, unknown: u32,
): u32 {
  let row: u32 = 0;
  let at = from;
  unknownRows = 0;
  contents = 0;
  scanEnd = from;
  while (at < to && row < capacity) {
    const start = at;
    let mask: u32 = 0;
    let byte: u32 = 0;
    while (at < to) {
      byte = <u32>load<u8>(at);
      if (byte <= 13 && (byte == 10 || byte == 13)) break;
      mask |= <u32>load<u8>(CLASSES + byte);
      at++;
    }
    if (at >= to) break;
    const end = at;
    at++;
    if (byte == 13) {
      if (at >= to) break;
      if (load<u8>(at) == 10) at++;
    }
    let kind = KIND_UNKNOWN;
    let flags: u32 = (mask & NON_ASCII) != 0 ? FLAG_NON_ASCII : 0;
    let hostStart = start;
    let hostEnd = start;
    let fate = liveFate;
    hostHash = 0;
    hostPart = 0;
    if (start == end) {
      kind = KIND_BLANK;
      fate = FATE_BLANK;
    } else {
      const first = <u32>load<u8>(start);
      if ((mask & ~HOST) == 0) {
        readHost(start, end);
        kind = KIND_RULE;
        if (hostIsDomain) {
          kind = KIND_DOMAIN;
          hostEnd = end;
          flags |= hostFlags;
        }
      } else if (first == 124) {
        if (end - start >= 4 && load<u8>(start + 1) == 124 && load<u8>(end - 1) == 94) {
          readHost(start + 2, end - 1);
          if ((hostMask & ~HOST) == 0) {
            kind = KIND_BLOCK;
            hostStart = start + 2;
            hostEnd = end - 1;
            flags |= hostFlags;
          }
        }
      } else if (first == 33) {
        kind = KIND_COMMENT;
      } else if (first == 35) {
        const length = end - start;
        if (hashComments || length == 1 || load<u8>(start + 1) == 32 || (length >= 4 && load<u32>(start) == 0x23232323)) kind = KIND_COMMENT;
      } else {
        const nameStart = sinkholeNameStart(start, end);
        if (nameStart != 0) {
          readHost(nameStart, end);
          if ((hostMask & ~HOST) == 0) {
            kind = KIND_HOSTS;
            hostStart = nameStart;
            hostEnd = end;
            flags |= hostFlags;
          }
        }
        if (kind == KIND_UNKNOWN && splits && mayHaveSeveralNames(start, end, first, mask)) break;
      }
    }
    if (kind == KIND_COMMENT) contents |= 1;
    else if (kind == KIND_BLANK) contents |= 2;
    else if (hostEnd != hostStart && (flags & FLAG_PLAIN_HOST) == 0) contents |= 8;
    if (start < end) {
      const last = <u32>load<u8>(end - 1);
      if (last == 32 || last == 9) contents |= 4;
    }
    store<u32>(starts + (row << 2), start + base);
    store<u32>(ends + (row << 2), end + base);
    store<u32>(hostStarts + (row << 2), hostStart + base);
    store<u32>(hostEnds + (row << 2), hostEnd + base);
    store<i32>(hashes + (row << 2), hostHash);
    store<u8>(kinds + row, kind);
    store<u16>(flagsOut + (row << 1), flags);
    store<u8>(fates + row, fate);
    store<u8>(parts + row, hostPart);
    if (kind == KIND_UNKNOWN) {
      store<u8>(masks + row, mask);
      store<u32>(unknown + (unknownRows++ << 2), row);
    }
    row++;
    scanEnd = at;
  }
  return row;
}

// ---- Names. Records of one partition lie together, in the order of their rows.

const RECORD_DEEP: u32 = 1;
const RECORD_WIDENED: u32 = 2;
const RECORD_BARRED: u32 = 4;
const RECORD_USED: u32 = 8;
const RECORD_PLAIN: u32 = 16;

let recordStart: u32 = 0; // u32 each: where the name begins
let recordEnd: u32 = 0;
let recordHash: u32 = 0;
let recordFlags: u32 = 0; // u8 each
let recordBy: u32 = 0; // i32 each: the record that makes this one redundant, or -1
let table: u32 = 0; // pairs of i32: hash, record + 1
let tableMask: u32 = 0;

export function useRecords(starts: u32, ends: u32, hashes: u32, flags: u32, by: u32): void {
  recordStart = starts;
  recordEnd = ends;
  recordHash = hashes;
  recordFlags = flags;
  recordBy = by;
}

/**
 * Copies the names of live rules from a chunk's columns to their partitions. `cursors` has, for each partition, the next
 * free record and the next free byte. Stops at a row whose text was rewritten and returns it; returns `rows` at the end.
 */
export function packNames(
  fromRow: u32, rows: u32, firstId: u32, bytesBase: i32,
  hostStarts: u32, hostEnds: u32, hashes: u32, kinds: u32, flagsIn: u32, fates: u32, parts: u32,
  cursors: u32, ids: u32, rewrittenFlag: u32,
): u32 {
  for (let row = fromRow; row < rows; row++) {
    if (load<u8>(fates + row) != 0 || load<u8>(kinds + row) != KIND_BLOCK) continue;
    const flags = <u32>load<u16>(flagsIn + (row << 1));
    if ((flags & rewrittenFlag) != 0) return row;
    const start = load<u32>(hostStarts + (row << 2)) + bytesBase;
    const end = load<u32>(hostEnds + (row << 2)) + bytesBase;
    packOne(start, end, load<i32>(hashes + (row << 2)), flags, <u32>load<u8>(parts + row), firstId + row, cursors, ids);
  }
  return rows;
}

export function packOne(start: u32, end: u32, hash: i32, flags: u32, part: u32, id: u32, cursors: u32, ids: u32): void {
  const cursor = cursors + (part << 3);
  const record = load<u32>(cursor);
  const to = load<u32>(cursor + 4);
  const length = end - start;
  // Names are short; `memory.copy` costs more to call than they take to copy.
  let at: u32 = 0;
  for (; at + 8 <= length; at += 8) store<u64>(to + at, load<u64>(start + at));
  for (; at < length; at++) store<u8>(to + at, load<u8>(start + at));
  store<u32>(cursor, record + 1);
  store<u32>(cursor + 4, to + length);
  store<u32>(recordStart + (record << 2), to);
  store<u32>(recordEnd + (record << 2), to + length);
  store<i32>(recordHash + (record << 2), hash);
  store<u32>(ids + (record << 2), id);
  store<u8>(
    recordFlags + record,
    ((flags & FLAG_DEEP_HOST) != 0 ? RECORD_DEEP : 0) | ((flags & 2048) != 0 ? RECORD_WIDENED : 0) | ((flags & FLAG_PLAIN_HOST) != 0 ? RECORD_PLAIN : 0),
  );
  store<i32>(recordBy + (record << 2), -1);
}

// @ts-ignore: decorator
@inline
function isSame(record: u32, start: u32, length: u32): bool {
  const other = load<u32>(recordStart + (record << 2));
  if (load<u32>(recordEnd + (record << 2)) - other != length) return false;
  let at: u32 = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(other + at) != load<u64>(start + at)) return false;
  for (; at < length; at++) if (load<u8>(other + at) != load<u8>(start + at)) return false;
  return true;
}

// @ts-ignore: decorator
@inline
function find(hash: i32, start: u32, length: u32): i32 {
  let slot = <u32>hash & tableMask;
  let entry = load<u32>(table + (slot << 3) + 4);
  while (entry != 0) {
    if (load<i32>(table + (slot << 3)) == hash && isSame(entry - 1, start, length)) return <i32>(entry - 1);
    slot = (slot + 1) & tableMask;
    entry = load<u32>(table + (slot << 3) + 4);
  }
  return -1;
}

/** Finds, among the records from `first` to `last`, those whose name stands in an earlier one. */
export function resolveSame(first: u32, last: u32, tableAt: u32, tableSize: u32): void {
  table = tableAt;
  tableMask = tableSize - 1;
  memory.fill(table, 0, tableSize << 3);
  for (let record = first; record < last; record++) {
    const start = load<u32>(recordStart + (record << 2));
    const hash = load<i32>(recordHash + (record << 2));
    const same = find(hash, start, load<u32>(recordEnd + (record << 2)) - start);
    if (same >= 0) {
      store<i32>(recordBy + (record << 2), same);
      if ((load<u8>(recordFlags + record) & <u8>RECORD_WIDENED) == 0)
        store<u8>(recordFlags + same, load<u8>(recordFlags + same) & <u8>~RECORD_WIDENED);
      continue;
    }
    let slot = <u32>hash & tableMask;
    while (load<u32>(table + (slot << 3) + 4) != 0) slot = (slot + 1) & tableMask;
    store<i32>(table + (slot << 3), hash);
    store<u32>(table + (slot << 3) + 4, record + 1);
  }
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
 * Finds, for every record that is first of its name, the widest parent in the table that is not barred, marks that
 * parent as used (once in the list at `used`), and writes `~parent − 1` into `recordBy` (below −1, to tell it from a record of the same name).
 * Call after `resolveSame` on the same records.
 */
export function resolveCovered(first: u32, last: u32, separatesWidened: bool, used: u32): u32 {
  let usedCount: u32 = 0;
  for (let record = first; record < last; record++) {
    const by = load<i32>(recordBy + (record << 2));
    if (by >= 0) continue;
    const flags = <u32>load<u8>(recordFlags + record);
    store<i32>(recordBy + (record << 2), -1);
    // Two plain labels: the only parent is a top-level domain, which the caller looks after.
    if ((flags & (RECORD_PLAIN | RECORD_DEEP)) == RECORD_PLAIN) continue;
    const start = load<u32>(recordStart + (record << 2));
    const end = load<u32>(recordEnd + (record << 2));
    const last8 = <u32>load<u8>(end - 1);
    if (last8 >= 48 && last8 <= 57 && isIpv4(start, end)) continue;
    let state = HASH_SEED;
    for (let at = end; at > start; ) {
      at--;
      const byte = <u32>load<u8>(at);
      if (byte == 46 && at + 1 < end) {
        const parent = find(hashEnd(state), at + 1, end - at - 1);
        if (parent >= 0) {
          const parentFlags = <u32>load<u8>(recordFlags + parent);
          const mayCover = !separatesWidened || (flags & RECORD_WIDENED) != 0 || (parentFlags & RECORD_WIDENED) == 0;
          if (mayCover && (parentFlags & RECORD_BARRED) == 0) {
            if ((parentFlags & RECORD_USED) == 0) {
              store<u8>(recordFlags + parent, <u8>(parentFlags | RECORD_USED));
              store<u32>(used + (usedCount++ << 2), parent);
            }
            store<i32>(recordBy + (record << 2), -2 - parent);
            break;
          }
        }
      }
      state = hashByte(state, byte);
    }
  }
  return usedCount;
}
