import { GUARD_CODES } from "../../diagnostics/codes.ts";
import { CompilerError, warningOf } from "../../diagnostics/render.ts";
import { countText, numberText } from "../../diagnostics/text.ts";
import type { AskedNames } from "../../engine/compile-options.ts";
import { asciiName } from "../../explain/traffic.ts";
import type { TrafficReader } from "../../traffic/traffic-reader.ts";
import type { ListPlan } from "../plan/list-plan.ts";
import type { BuildSession } from "../session.ts";
import type { Guard, TrafficLimits } from "./guard.ts";

/** Tells if a list newly blocks too many of the queries in a log, although lines of sources were dropped. The names stay in the log. */
export const breaksTraffic: Guard = ({ limits, traffic }) => {
  const limit = limits.breaksTraffic;
  if (limit === undefined || traffic === undefined) return [];
  const { hint } = GUARD_CODES["traffic-unchecked"];
  if ("code" in traffic) {
    const message = "Cannot tell which queries the list newly blocks";
    const cause = [traffic.message, traffic.cause].filter((text) => text !== undefined).join(": ");
    return [warningOf("traffic-unchecked", message, { cause, hint })];
  }
  const { queries, blocked } = traffic;
  if (queries === 0) {
    const message = "The log has no queries, so guards.breaks_traffic did not check the list";
    return [warningOf("traffic-unchecked", message, { hint })];
  }
  const cause = excessOf(blocked, queries, limit);
  if (cause === undefined) return [];
  const message = `The list newly blocks ${numberText(blocked)} of ${countText(queries, "query", "queries")} in the log`;
  return [
    warningOf("traffic-blocked", message, { cause, hint: GUARD_CODES["traffic-blocked"].hint }),
  ];
};

/** Why so many of the queries must not be newly blocked; undefined if they may. */
function excessOf(blocked: number, queries: number, limit: TrafficLimits): string | undefined {
  if (blocked > limit.queries) return `at most ${numberText(limit.queries)} are allowed`;
  if (blocked * 100 > limit.percent * queries) return `at most ${limit.percent} % are allowed`;
  return undefined;
}

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
