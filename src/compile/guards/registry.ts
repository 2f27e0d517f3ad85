import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Guard, GuardContext } from "./guard.ts";
import { listSize } from "./list-size.ts";
import { sourceSize } from "./source-size.ts";

const guards: readonly Guard[] = [listSize, sourceSize];

/** Why a list may not be published, but for what was accepted. `found` is what was seen in its rules. */
export function refusals(
  found: readonly Diagnostic[],
  context: GuardContext,
  accepted: readonly string[],
): Diagnostic[] {
  const all = [...found, ...guards.flatMap((guard) => guard.check(context))];
  return all.filter(({ code }) => !accepted.includes(code));
}
