import { ByteBuffer, DOT, eachLine } from "../bytes/text.ts";
import type { Scratch } from "../host/host.ts";

/** The names of lines such as `+ads.example.org`, as records of one list. */
export class CdbRecords {
  private readonly writer: CdbWriter;
  private readonly key = new Uint8Array(512);

  constructor(writer: CdbWriter) {
    this.writer = writer;
  }

  /** Adds complete lines. */
  add(lines: Uint8Array): void {
    const { key, writer } = this;
    eachLine(lines, (start, end) => {
      const kind = lines[start]!;
      const isAlone = kind === ALONE || kind === OPEN_ALONE;
      const length = isAlone
        ? textKey(lines, start + 1, end, key)
        : wireKey(lines, start + 1, end, key);
      writer.add(key, length, kind === ALONE || kind === SUBTREE ? BLOCKED : FREE);
    });
  }
}

const SUBTREE = 43; // +
const ALONE = 61; // =
const OPEN_ALONE = 33; // !
/** The digit of the first list. */
const BLOCKED = Uint8Array.of(49);
const FREE = Uint8Array.of(48);

/** A name as in a DNS message, as `KeyValueLookupKeySuffix(1, true)` gives it: the key of a name with everything below it. */
export function wireKey(name: Uint8Array, start: number, end: number, key: Uint8Array): number {
  let label = 0;
  let to = 1;
  for (let at = start; at < end; at++, to++) {
    const byte = name[at]!;
    key[to] = byte;
    if (byte !== DOT) continue;
    key[label] = to - label - 1;
    label = to;
  }
  key[label] = to - label - 1;
  key[to] = 0;
  return to + 1;
}

/** A name as text, as `KeyValueLookupKeyQName(false)` gives it: the key of a name alone. */
export function textKey(name: Uint8Array, start: number, end: number, key: Uint8Array): number {
  for (let at = start; at < end; at++) key[at - start] = name[at]!;
  return end - start;
}

/** Number of hash tables; the header has the position and the number of slots of each. */
const TABLES = 256;
const CDB_HEADER_BYTES: number = TABLES * 8;
/** Positions have 32 bits. */
const LARGEST_FILE = 2 ** 32 - 1;
/** A record has two slots, so that half of each table is empty. */
const SLOTS_PER_RECORD = 2;
const SLOT_BYTES = 8;
const RECORD_HEAD_BYTES = 8;
/** Slots of one table that are kept in memory; the others go to a scratch file. */
const MOST_WAITING = 1024;
const BLOCK = 1024 * 1024;

/** Where a database is written to. */
interface CdbTarget {
  write(bytes: Uint8Array): void;
  /** Replaces bytes that were written before. */
  rewrite(position: number, bytes: Uint8Array): void;
}

/** Hashes and positions of the records of one table. */
interface WaitingTable {
  /** Allocated with the first record. */
  slots: Uint32Array;
  count: number;
  /** Positions of full blocks in the scratch file. */
  readonly blocks: number[];
}

/**
 * Writes a constant database (D. J. Bernstein's cdb): header, records, hash tables. Memory does not grow with the number of
 * records, except for one of 256 tables. The numbers in typed arrays are little-endian, as on every supported processor.
 */
export class CdbWriter {
  /** The number of records. */
  count = 0;
  /** Whether a record did not fit into 4 GiB. The file is then invalid. */
  isFull = false;
  private readonly target: CdbTarget;
  private readonly openScratch: () => Scratch;
  private readonly largest: number;
  private scratch: Scratch | undefined;
  private readonly tables: readonly WaitingTable[];
  private readonly out = new ByteBuffer();
  private position = CDB_HEADER_BYTES;

  constructor(target: CdbTarget, openScratch: () => Scratch, largest: number = LARGEST_FILE) {
    this.target = target;
    this.openScratch = openScratch;
    this.largest = largest;
    this.tables = Array.from({ length: TABLES }, () => ({
      slots: new Uint32Array(0),
      count: 0,
      blocks: [],
    }));
    target.write(new Uint8Array(CDB_HEADER_BYTES));
  }

  /** The size of the file. */
  get bytes(): number {
    return this.position + this.count * SLOTS_PER_RECORD * SLOT_BYTES;
  }

  /** Adds a record. Of several records with one key, readers find the first. */
  add(key: Uint8Array, keyLength: number, value: Uint8Array): void {
    const length = RECORD_HEAD_BYTES + keyLength + value.length;
    this.isFull ||= this.bytes + length + SLOTS_PER_RECORD * SLOT_BYTES > this.largest;
    if (this.isFull) return;
    const { out } = this;
    const at = out.reserve(length);
    const { bytes } = out;
    bytes[at] = keyLength;
    bytes[at + 1] = keyLength >>> 8;
    bytes[at + 2] = bytes[at + 3] = 0;
    bytes[at + 4] = value.length;
    bytes[at + 5] = bytes[at + 6] = bytes[at + 7] = 0;
    let to = at + RECORD_HEAD_BYTES;
    for (let from = 0; from < keyLength; from++) bytes[to++] = key[from]!;
    for (let from = 0; from < value.length; from++) bytes[to++] = value[from]!;
    out.length = to;
    this.enter(cdbHash(key, keyLength));
    this.position += length;
    this.count++;
    if (to >= BLOCK) this.flush();
  }

  private enter(hash: number): void {
    const table = this.tables[hash & (TABLES - 1)]!;
    if (table.slots.length === 0) table.slots = new Uint32Array(2 * MOST_WAITING);
    const { slots } = table;
    slots[2 * table.count] = hash;
    slots[2 * table.count + 1] = this.position;
    if (++table.count < MOST_WAITING) return;
    this.scratch ??= this.openScratch();
    table.blocks.push(this.scratch.append(bytesOf(slots)));
    table.count = 0;
  }

  /** Writes the tables and the header. */
  finish(): void {
    this.flush();
    const header = new Uint32Array(2 * TABLES);
    let { position } = this;
    for (const [index, table] of this.tables.entries()) {
      const slots = tableOf(this.waiting(table));
      header[2 * index] = position;
      header[2 * index + 1] = slots.length / 2;
      this.target.write(bytesOf(slots));
      position += slots.length * 4;
    }
    this.target.rewrite(0, bytesOf(header));
    this.close();
  }

  /** Releases the scratch file. */
  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }

  private waiting({ slots, count, blocks }: WaitingTable): Uint32Array {
    const all = new Uint32Array(2 * (blocks.length * MOST_WAITING + count));
    for (const [index, position] of blocks.entries()) {
      const from = 2 * index * MOST_WAITING;
      this.scratch!.read(position, bytesOf(all.subarray(from, from + 2 * MOST_WAITING)));
    }
    all.set(slots.subarray(0, 2 * count), 2 * blocks.length * MOST_WAITING);
    return all;
  }

  private flush(): void {
    this.target.write(this.out.view());
    this.out.length = 0;
  }
}

/**
 * A hash table of records, each in the first free slot from the one that its hash selects. They are placed in the order of
 * these slots: then chosen names with the same hash cannot make it slow.
 */
function tableOf(records: Uint32Array): Uint32Array {
  const count = records.length / 2;
  const slots = count * SLOTS_PER_RECORD;
  const table = new Uint32Array(2 * slots);
  const starts = new Uint32Array(slots + 1);
  const slotOf = (record: number): number => (records[2 * record]! >>> 8) % slots;
  for (let record = 0; record < count; record++) starts[slotOf(record) + 1]!++;
  for (let slot = 0; slot < slots; slot++) starts[slot + 1]! += starts[slot]!;
  const ordered = new Uint32Array(count);
  for (let record = 0; record < count; record++) ordered[starts[slotOf(record)]!++] = record;
  let free = 0;
  let wrapped = 0;
  for (const record of ordered) {
    free = Math.max(free, slotOf(record));
    // After the last slot, the first free ones follow. No record has position 0.
    if (free >= slots) while (table[2 * wrapped + 1] !== 0) wrapped++;
    const slot = free < slots ? free++ : wrapped;
    table[2 * slot] = records[2 * record]!;
    table[2 * slot + 1] = records[2 * record + 1]!;
  }
  return table;
}

function bytesOf(numbers: Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** The hash function of constant databases. */
function cdbHash(key: Uint8Array, length: number): number {
  let hash = 5381;
  for (let at = 0; at < length; at++) hash = (Math.imul(hash, 33) ^ key[at]!) | 0;
  return hash >>> 0;
}

/** How often dnsdist looks for a new file, in seconds. */
const REFRESH_SECONDS = 1;

/**
 * The Lua file beside a constant database, for `dofile` in the configuration of dnsdist. It defines rules once; queries run no Lua,
 * which would take four times as long, unless there are more than four lists and the name is in the database.
 */
export function dnsdistLua(lists: readonly (string | undefined)[]): string {
  const named = lists.map((name) => (name === undefined ? "false" : luaText(name)));
  return `-- Written by rules-compiler. In the configuration of dnsdist:
--   local lists = dofile('/path/of/this/file')
--   addAction(lists.blocks(${named.find((name) => name !== "false") ?? ""}), RCodeAction(DNSRCode.NXDOMAIN))
-- lists.blocks() without names matches what any list blocks; lists.allows() matches exceptions, for AllowAction().
local LISTS = { ${named.join(", ")} }
local file = debug.getinfo(1, 'S').source:match('^@(.*)%.lua$')
local store = newCDBKVStore(file, ${REFRESH_SECONDS})

-- Sets a tag to the lists that block a name: the closest parent decides, unless there is an entry for the name alone.
local tag = file
local parents = KeyValueLookupKeySuffix(1, true)
local alone = KeyValueLookupKeyQName(false)
addAction(AllRule(), KeyValueStoreLookupAction(store, parents, tag))
addAction(KeyValueStoreLookupRule(store, alone), KeyValueStoreLookupAction(store, alone, tag))

-- The tag has a hexadecimal digit for every four lists.
local function has(value, list)
  local digit = tonumber(value:sub(math.ceil(list / 4), math.ceil(list / 4)), 16) or 0
  return math.floor(digit / 2 ^ ((list - 1) % 4)) % 2 == 1
end

local function hasOne(value, wanted)
  for _, list in ipairs(wanted) do
    if has(value, list) then return true end
  end
  return false
end

local function numberOf(name)
  for list, known in ipairs(LISTS) do
    if known == name then return list end
  end
  error('no list ' .. name .. ' in ' .. file)
end

local lists = {}

-- A rule that matches the names that one of these lists blocks.
function lists.blocks(...)
  local wanted = {}
  for _, name in ipairs({ ... }) do wanted[#wanted + 1] = numberOf(name) end
  if #wanted == 0 then
    for list in ipairs(LISTS) do wanted[#wanted + 1] = list end
  end
  local isListed = NotRule(TagRule(tag, ''))
  if #LISTS > 4 then
    local known = {}
    return AndRule({ isListed, LuaRule(function(query)
      local value = query:getTag(tag)
      if known[value] == nil then known[value] = hasOne(value, wanted) end
      return known[value]
    end) })
  end
  local values = {}
  for number = 1, 15 do
    local value = string.format('%x', number)
    if hasOne(value, wanted) then values[#values + 1] = TagRule(tag, value) end
  end
  return AndRule({ isListed, OrRule(values) })
end

-- A rule that matches the names that an exception keeps reachable, before a database with other lists is asked.
function lists.allows()
  return TagRule(tag, '0')
end

return lists
`;
}

/** A text in quotes; all bytes that could end it are escaped. */
function luaText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const parts = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return /[\w .:,()+&-]/.test(char) ? char : `\\${String(byte).padStart(3, "0")}`;
  });
  return `'${parts.join("")}'`;
}
