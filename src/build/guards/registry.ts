import { type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { breaksTraffic } from "./breaks-traffic.ts";
import type { Guard, GuardContext } from "./guard.ts";
import { protectedNames } from "./protected.ts";
import { suffixes } from "./suffixes.ts";

/** Refuses a list without rules, or with fewer than the configuration demands. */
const minRules: Guard = ({ report: { rules }, limits }) => {
  if (rules >= limits.minRules) return [];
  const message = `The list would have ${countText(rules, "rule")}; at least ${numberText(limits.minRules)} are expected`;
  return [errorOf("too-few-rules", message)];
};

const guards: readonly Guard[] = [protectedNames, suffixes, minRules, breaksTraffic];

/** The findings of all guards, except accepted ones. An error prevents publishing. */
export function guardList(context: GuardContext, accept: readonly string[]): Diagnostic[] {
  const all = guards.flatMap((guard) => guard(context));
  return all.filter(({ code }) => !accept.includes(code));
}
