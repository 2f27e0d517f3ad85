import { Buffer } from "node:buffer";
import { type Host, HostError } from "../host/host.ts";

/** A database begins with this text. */
export const SQLITE = "SQLite format 3\0";
/** Rows that are counted at a time. */
const ROWS = 1_000_000;

type Row = Readonly<Record<string, unknown>>;

/**
 * The names in Pi-hole's long-term database (`pihole-FTL.db`), one character per byte, with the number of their queries, by client if
 * that is asked for. The same name may come again. Undefined if the file is another database. Rejects with a `HostError`.
 */
export async function piholeCounts(
  path: string,
  host: Host,
  byClient: boolean,
): Promise<AsyncGenerator<readonly [name: string, count: number, client: string]> | undefined> {
  const ask = async (query: string): Promise<readonly Row[]> => {
    if (host.queryDatabase === undefined)
      throw new HostError("ENOTSUP", "this runtime cannot read SQLite; use Node");
    return await host.queryDatabase(path, query);
  };
  const columns = await ask("SELECT name FROM pragma_table_info('queries')");
  const known = new Set(columns.map(({ name }) => name));
  if (!known.has("id") || !known.has("domain")) return undefined;
  return counts(ask, byClient && known.has("client") ? "client" : "''");
}

async function* counts(
  ask: (query: string) => Promise<readonly Row[]>,
  client: string,
): AsyncGenerator<readonly [string, number, string]> {
  const [range] = await ask("SELECT min(id) AS first, max(id) AS last FROM queries");
  const first = Number(range?.["first"] ?? 0);
  const last = Number(range?.["last"] ?? -1);
  for (let from = first; from <= last; from += ROWS) {
    const rows = await ask(
      `SELECT domain, ${client} AS asker, count(*) AS queries FROM queries WHERE id >= ${from} AND id < ${from + ROWS} GROUP BY domain, asker`,
    );
    for (const { domain, asker, queries } of rows)
      if (typeof domain === "string")
        yield [latin1(domain), Number(queries), typeof asker === "string" ? latin1(asker) : ""];
  }
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}
