import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { breaksTraffic } from "./breaks-traffic.ts";
import type { Guard, GuardContext } from "./guard.ts";
import { listSize } from "./list-size.ts";
import { newlyBlocks } from "./newly-blocks.ts";
import { protectedNames } from "./protected.ts";
import { sourceSize } from "./source-size.ts";
import { suffixes } from "./suffixes.ts";

const guards: readonly Guard[] = [
  protectedNames,
  newlyBlocks,
  suffixes,
  listSize,
  sourceSize,
  breaksTraffic,
];

/** The findings of all guards, except accepted ones. An error prevents publishing. */
export function guardList(context: GuardContext, accept: readonly string[]): Diagnostic[] {
  const all = guards.flatMap((guard) => guard.check(context));
  return all.filter(({ code }) => !accept.includes(code));
}
