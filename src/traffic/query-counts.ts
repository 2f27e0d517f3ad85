import { Buffer } from "node:buffer";

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
    if (client !== this.last.client)
      this.last = { client, counts: this.clients.get(client) ?? this.enter(client) };
    if (this.last.counts.add(name, count)) this.known++;
  }

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

/** The map has positions instead of counts, so that a known name takes one search, not two. */
class Counts {
  private readonly positions = new Map<string, number>();
  private readonly sums: number[] = [];

  /** Whether the name is new. */
  add(name: string, count: number): boolean {
    const before = this.sums.length;
    const position = this.positions.get(name) ?? this.enter(ownName(name));
    this.sums[position]! += count;
    return this.sums.length > before;
  }

  private enter(name: string): number {
    const known = this.positions.get(name);
    if (known !== undefined) return known;
    this.positions.set(name, this.sums.length);
    return this.sums.push(0) - 1;
  }

  *entries(): Generator<readonly [string, number]> {
    for (const [name, position] of this.positions) yield [name, this.sums[position]!];
  }
}

/** In lower case. A copy: a part of a string would keep the whole block in memory. */
function ownName(name: string): string {
  const bytes = Buffer.from(name, "latin1");
  const text = bytes.toString("utf8").toLowerCase();
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
