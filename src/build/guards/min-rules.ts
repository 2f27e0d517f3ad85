import { errorOf } from "../../diagnostics/diagnostic.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import type { Guard } from "./guard.ts";

/** Refuses a list without rules, or with fewer than the configuration demands. */
export const minRules: Guard = {
  check({ report: { rules }, limits }) {
    if (rules >= limits.minRules) return [];
    const message = `The list would have ${countText(rules, "rule")}; at least ${numberText(limits.minRules)} are expected`;
    return [errorOf("too-few-rules", message)];
  },
};
