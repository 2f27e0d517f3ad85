import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { ChangedRules } from "../../explain/changed-rules.ts";

const SHOWN = 10;

/** Shows the first rules and counts the rest. */
export function changedRulesText({ added, removed }: ChangedRules, style: Style): string {
  return [
    ...firstOf(added, "+").map((line) => style.good(line)),
    ...firstOf(removed, "−").map((line) => style.error(line)),
  ].join("\n");
}

function firstOf(rules: readonly string[], sign: string): string[] {
  return [
    ...rules.slice(0, SHOWN).map((rule) => `  ${sign} ${printable(rule, 120)}`),
    ...(rules.length > SHOWN ? [`  ${sign} and ${rules.length - SHOWN} more`] : []),
  ];
}
