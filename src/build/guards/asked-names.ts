import { CompilerError } from "../../diagnostics/diagnostic.ts";
import type { AskedNames } from "../../engine/compile-options.ts";
import { asciiName } from "../../explain/asked-name.ts";
import type { TrafficReader } from "../../traffic/traffic-reader.ts";
import type { ListPlan } from "../list-plan.ts";
import type { BuildSession } from "../session.ts";
import { excessOf } from "./breaks-traffic.ts";

/** As many names as `guards.newly_blocks` can protect. */
const MOST_NAMES = 100_000;

/** The query logs of the guard, if it checks the list in this run. */
export function guardLogs(
  { guards, list }: ListPlan,
  session: BuildSession,
): TrafficReader | undefined {
  const { options, host } = session;
  if (guards.breaksTraffic === undefined || options.compat) return undefined;
  if (options.accept.includes("breaks-traffic")) return undefined;
  return session.logs(
    guards.breaksTraffic.logs.map((log) => host.path.resolve(list.project.folder, log)),
  );
}

/** The names in the logs of the guard; those with the most queries, if there are very many. Undefined if the logs cannot be read. */
export async function askedNames(
  plan: ListPlan,
  session: BuildSession,
): Promise<AskedNames | undefined> {
  const limit = plan.guards.breaksTraffic;
  const logs = guardLogs(plan, session);
  if (limit === undefined || logs === undefined) return undefined;
  let names = new Map<string, number>();
  let queries = 0;
  try {
    for await (const batch of logs.batches()) {
      for (const [logged, count] of batch) {
        const name = asciiName(logged);
        names.set(name, (names.get(name) ?? 0) + count);
        queries += count;
      }
      if (names.size > MOST_NAMES)
        names = new Map([...names].toSorted((a, b) => b[1] - a[1]).slice(0, MOST_NAMES));
    }
  } catch (error) {
    // The guard of the finished list tells it.
    if (error instanceof CompilerError) return undefined;
    throw error;
  }
  return { names, queries, excess: (blocked) => excessOf(blocked, queries, limit) };
}
