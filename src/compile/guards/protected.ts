import { type Diagnostic, errorOf, warningOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import { type BlockedProtected } from "../list-findings.ts";
import type { Guard } from "./guard.ts";

/** A hint that has to be scrolled is not read. */
const MOST_NAMED = 2;

/**
 * Names that devices need, blocked by the word of a fully trusted source. A rule for such a name was meant; a rule for more
 * that newly blocks a lifeline was not.
 */
export const protectedNames: Guard = {
  check({ findings, last }) {
    const byRule = new Map<string, BlockedProtected[]>();
    const wide = new Set(findings.wide.map(({ text }) => text));
    // A rule for a whole suffix has a guard of its own.
    for (const one of findings.blocked.filter(({ text }) => !wide.has(text)))
      byRule.set(one.text, [...(byRule.get(one.text) ?? []), one]);
    const isNew = ({ name, isLifeline, isForName }: BlockedProtected): boolean =>
      isLifeline && !isForName && last !== undefined && !(last.blocked ?? []).includes(name);
    return [...byRule.values()].map((blocked): Diagnostic => {
      const [first] = blocked;
      const names = blocked.map(({ name }) => name);
      const what =
        names.length === 1
          ? `${names[0]}, which devices need`
          : `${names.length} names that devices need: ${someOf(names)}`;
      const message = `${printable(first!.text, 80)} blocks ${what}`;
      const hint =
        names.length <= MOST_NAMED
          ? `Keep reachable: allow: [${names.join(", ")}]. Accept for good: guards: { may_block: [${names.join(", ")}] }`
          : "Remove the rule, or keep the names reachable with `allow`";
      const at = first!.at === undefined ? {} : { at: first!.at };
      return blocked.some(isNew)
        ? errorOf("blocks-protected", message, { ...at, hint })
        : warningOf("protected-blocked", message, { ...at, hint });
    });
  },
};
