import type { Host } from "../../src/host/host.ts";
import { TrafficReader } from "../../src/traffic/traffic-reader.ts";
import type { LoggedQuery } from "./query-logs.ts";

/** The counts of a log, its format, and how many batches they came in. */
export async function readLog(
  path: string,
  host: Host,
  mostNames = 1_000_000,
): Promise<{ counts: Map<string, number>; format: string; batches: number }> {
  const reader = new TrafficReader([path], host, { mostNames });
  const counts = new Map<string, number>();
  let batches = 0;
  for await (const batch of reader.batches()) {
    batches++;
    for (const [name, count] of batch) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return { counts, format: reader.files[0]!.format, batches };
}

/** Queries for three names. */
export const QUERIES: readonly LoggedQuery[] = [
  "a.example",
  "B.example",
  "a.example",
  "c.d.example",
  "a.example",
].map((name) => ({
  name,
  client: "192.168.1.2",
}));
export const COUNTS: ReadonlyMap<string, number> = new Map([
  ["a.example", 3],
  ["b.example", 1],
  ["c.d.example", 1],
]);
