import { Buffer } from "node:buffer";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { hashSlice } from "../bytes/hash.ts";
import { bufferOf } from "../bytes/search.ts";
import { SliceTable } from "../bytes/slice-table.ts";

/** Names in lower case with the number of their queries, and the client if it was asked for; empty if the log has none. */
export type NameCounts = Iterable<readonly [name: string, count: number, client: string]>;

/** Counts queries by name and client. Texts have one character per byte. */
export class QueryCounts {
  private readonly clients = new Map<string, Counts>();
  /** The client of the last query, which mostly asks again. */
  private last = { client: "", counts: new Counts() };
  private known = 0;

  constructor() {
    this.clients.set("", this.last.counts);
  }

  /** The number of different pairs of name and client. */
  get size(): number {
    return this.known;
  }

  add(name: string, count: number, client: string): void {
    const bytes = Buffer.from(name, "latin1");
    if (this.countsOf(client).add(bytes, 0, bytes.length, count)) this.known++;
  }

  /** Adds a query without client. The name is a part of the bytes. */
  addBytes(bytes: Uint8Array, start: number, end: number): void {
    if (this.countsOf("").add(bytes, start, end, 1)) this.known++;
  }

  private countsOf(client: string): Counts {
    if (client !== this.last.client)
      this.last = { client, counts: this.clients.get(client) ?? this.enter(client) };
    return this.last.counts;
  }

  /** A copy of the client: a part of a string would keep the whole line in memory. */
  private enter(client: string): Counts {
    const counts = new Counts();
    this.clients.set(Buffer.from(client, "latin1").toString("latin1"), counts);
    return counts;
  }

  *entries(): Generator<readonly [string, number, string]> {
    for (const [client, counts] of this.clients)
      for (const [name, count] of counts.entries()) yield [name, count, client];
  }
}

/** The sums of one client. Names are held as bytes: a string per name would take three times the memory, one per query twice the time. */
class Counts {
  private readonly names = new ByteBuffer();
  private readonly table = new SliceTable(this.names.bytes);
  private readonly sums: number[] = [];

  /** Whether the name is new. */
  add(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    if (!isCanonical(bytes, start, end)) {
      const name = canonical(bytes, start, end);
      return this.addCanonical(name, 0, name.length, count);
    }
    return this.addCanonical(bytes, start, end, count);
  }

  private addCanonical(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    const { names, table, sums } = this;
    const hash = hashSlice(bytes, start, end);
    const known = table.find(bytes, start, end, hash);
    if (known !== -1) {
      sums[known]! += count;
      return false;
    }
    const at = names.append(bytes, start, end);
    table.bytes = names.bytes;
    table.enter(at, names.length, hash);
    sums.push(count);
    return true;
  }

  *entries(): Generator<readonly [string, number]> {
    const { table, sums } = this;
    const names = bufferOf(this.names.bytes);
    for (const [number, count] of sums.entries())
      yield [names.toString("utf8", table.startOf(number), table.endOf(number)), count];
  }
}

/** Whether a name is in ASCII without upper-case letters, and does not end with a dot. */
function isCanonical(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a)) return false;
  }
  return end === start || bytes[end - 1] !== 0x2e;
}

/** The name in lower case, without the final dot. */
function canonical(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = bufferOf(bytes).toString("utf8", start, end).toLowerCase();
  return Buffer.from(text.endsWith(".") ? text.slice(0, -1) : text);
}
