import type { FormatLines, ScopeLines } from "./name-format.ts";

/** Selects the lines of a format for a scope and an action. */
export type ScopeKey =
  | keyof ScopeLines
  | keyof Pick<FormatLines, "openSubtree" | "openExact" | "openBelow">;

const SCOPE_KEYS = {
  block: ["subtree", "exact", "below"],
  allow: ["allowSubtree", "allowExact", "allowBelow"],
  open: ["openSubtree", "openExact", "openBelow"],
} as const;

/** The lines for the name, for the names below it, or for both; undefined for neither. */
export function scopeKey(
  action: keyof typeof SCOPE_KEYS,
  self: boolean,
  below: boolean,
): ScopeKey | undefined {
  const [subtree, exact, children] = SCOPE_KEYS[action];
  if (self) return below ? subtree : exact;
  return below ? children : undefined;
}

export function isBlockKey(key: ScopeKey): boolean {
  return key === "subtree" || key === "exact" || key === "below";
}
