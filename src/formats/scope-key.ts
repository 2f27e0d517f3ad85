import type { Lines, ScopeLines } from "./name-format.ts";

/** Which lines of a format say something of a name. */
export type ScopeKey =
  | keyof ScopeLines
  | keyof Pick<Lines, "openSubtree" | "openExact" | "openBelow">;

const SCOPE_KEYS = {
  block: ["subtree", "exact", "below"],
  allow: ["allowSubtree", "allowExact", "allowBelow"],
  open: ["openSubtree", "openExact", "openBelow"],
} as const;

/** The lines for the name, for what is below it, or for both; undefined for neither. */
export function scopeKey(
  action: keyof typeof SCOPE_KEYS,
  self: boolean,
  below: boolean,
): ScopeKey | undefined {
  const [both, own, rest] = SCOPE_KEYS[action];
  if (self) return below ? both : own;
  return below ? rest : undefined;
}

export function isBlockKey(key: ScopeKey): boolean {
  return key === "subtree" || key === "exact" || key === "below";
}
