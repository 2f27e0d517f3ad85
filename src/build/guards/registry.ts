import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Guard, GuardContext } from "./guard.ts";
import { listSize } from "./list-size.ts";
import { protectedNames } from "./protected.ts";
import { sourceSize } from "./source-size.ts";
import { suffixes } from "./suffixes.ts";

const guards: readonly Guard[] = [protectedNames, suffixes, listSize, sourceSize];

/** What the guards say of a list, but for what was accepted. The list may not be published if there is an error. */
export function guardList(context: GuardContext, accept: readonly string[]): Diagnostic[] {
  const all = guards.flatMap((guard) => guard.check(context));
  return all.filter(({ code }) => !accept.includes(code));
}
