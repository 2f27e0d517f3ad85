import { type Diagnostic, errorOf, warningOf } from "../../diagnostics/render.ts";
import { MOST_NAMED, countText, printable, someOf } from "../../diagnostics/text.ts";
import type { BlockedProtected } from "../../engine/report.ts";
import { type Guard, byFile, placesOf } from "./guard.ts";

/** Users do not read hints with more names than this. */
const MOST_REPEATED = 2;

/** A rule and the protected names that it blocks. */
interface BlockingRule extends Pick<BlockedProtected, "text" | "at"> {
  readonly names: readonly BlockedProtected[];
}

/**
 * Finds protected names that rules of fully trusted sources block. A rule for exactly such a name is deliberate and yields a
 * warning. A broader rule that newly blocks a lifeline is a mistake and refuses the list.
 */
export const protectedNames: Guard = ({ findings, last }) => {
  const wide = new Set(findings.wide.map(({ text }) => text));
  // The suffix guard checks rules for whole suffixes.
  const others = findings.blocked.filter(({ text }) => !wide.has(text));
  const isNew = ({ name, isLifeline, isForName }: BlockedProtected): boolean =>
    isLifeline && !isForName && last !== undefined && !(last.blocked ?? []).includes(name);
  const byRule = Map.groupBy(others, ({ text }) => text);
  const rules = Array.from(byRule, ([text, names]) => ({ text, names, at: names[0]!.at }));
  const refused = rules.filter(({ names }) => names.some(isNew));
  return [
    ...byFile(refused).map((some) => errorOf("blocks-protected", ...said(some))),
    ...byFile(rules.filter((rule) => !refused.includes(rule))).map((some) =>
      warningOf("protected-blocked", ...said(some)),
    ),
  ];
};

/** Message, location and hint for the rules of one file. */
function said(rules: readonly BlockingRule[]): [string, Partial<Diagnostic>] {
  const [first] = rules;
  const names = rules.flatMap((rule) => rule.names.map(({ name }) => name));
  const who =
    rules.length === 1
      ? `${printable(first!.text, 80)} blocks`
      : `${countText(rules.length, "rule")} block`;
  const what =
    names.length === 1
      ? `${names[0]}, which devices need`
      : `${countText(names.length, "name")} that devices need: ${someOf(names)}`;
  const more = {
    hint: hintFor(names, rules.length === 1 ? "rule" : "rules"),
    ...placesOf(rules),
    all: names,
  };
  return [`${who} ${what}`, more];
}

function hintFor(names: readonly string[], noun: string): string {
  const list = `[${someOf(names)}]`;
  if (names.length <= MOST_REPEATED)
    return `Keep reachable: allow: ${list}. Accept for good: guards: { may_block: ${list} }`;
  if (names.length <= MOST_NAMED)
    return `Keep reachable: allow: ${list}. Accept for good: the same in guards: { may_block: […] }`;
  return `Remove the ${noun}, or put the names, which --verbose shows, into allow to keep them reachable, or into guards.may_block to accept it for good`;
}
