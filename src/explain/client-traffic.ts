/** Queries of a client. */
export interface ClientTraffic {
  /** Its address; empty if the log has none. */
  readonly client: string;
  readonly queries: number;
  /** Queries that the list blocks; in a comparison of two lists, those that only the new one blocks. */
  readonly blocked: number;
  /** In a comparison of two lists, queries that only the old one blocks. */
  readonly freed?: number;
}

/** Clients that are counted. The queries of others are summed up as those of a client without address. */
const MOST_CLIENTS = 100_000;

/** Sums of queries by client. */
export class ClientSums {
  private readonly sums = new Map<string, { queries: number; blocked: number; freed: number }>();

  add(client: string, count: number, change: "blocked" | "freed" | undefined): void {
    const sums = this.sums.get(client) ?? this.enter(client);
    sums.queries += count;
    if (change !== undefined) sums[change] += count;
  }

  private enter(client: string): { queries: number; blocked: number; freed: number } {
    const key = this.sums.size < MOST_CLIENTS ? client : "";
    const sums = this.sums.get(key) ?? { queries: 0, blocked: 0, freed: 0 };
    this.sums.set(key, sums);
    return sums;
  }

  /** The clients whose queries are blocked or freed most, first. */
  sorted(): (ClientTraffic & { readonly freed: number })[] {
    return [...this.sums]
      .map(([client, sums]) => ({ client, ...sums }))
      .toSorted(
        (a, b) =>
          b.blocked + b.freed - a.blocked - a.freed ||
          b.queries - a.queries ||
          (a.client < b.client ? -1 : 1),
      );
  }
}
