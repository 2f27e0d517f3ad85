import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { breaksTraffic } from "./breaks-traffic.ts";
import type { Guard, GuardContext } from "./guard.ts";
import { minRules } from "./min-rules.ts";
import { protectedNames } from "./protected.ts";
import { suffixes } from "./suffixes.ts";

const guards: readonly Guard[] = [protectedNames, suffixes, minRules, breaksTraffic];

/** The findings of all guards, except accepted ones. An error prevents publishing. */
export function guardList(context: GuardContext, accept: readonly string[]): Diagnostic[] {
  const all = guards.flatMap((guard) => guard.check(context));
  return all.filter(({ code }) => !accept.includes(code));
}
