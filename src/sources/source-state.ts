import type { Diagnostic } from "../diagnostics/diagnostic.ts";

/** How a source was obtained. */
export type SourceState =
  | { readonly kind: "local" | "unchanged" | "locked" }
  /** `mirrorSince`: since when mirrors answer instead of it, if that is to be reported. */
  | { readonly kind: "fetched"; readonly mirrorSince?: number | undefined }
  /** The user asked for copies. */
  | { readonly kind: "offline"; readonly goodAt: number }
  /** It failed, or differs too much from its last good copy; the copy is used until the given moment. */
  | {
      readonly kind: "stale" | "held";
      readonly goodAt: number;
      readonly until: number;
      readonly causes: readonly Diagnostic[];
    }
  /** It failed, and there is no copy, or the copy was used until the given moment. */
  | {
      readonly kind: "dropped";
      readonly until?: number | undefined;
      readonly causes: readonly Diagnostic[];
    };

/** Whether a source was replaced by a copy or left out, although the user did not ask for it. */
export function isDegraded(kind: string): kind is "stale" | "held" | "dropped" {
  return kind === "stale" || kind === "held" || kind === "dropped";
}

/** Whether the last good copy of a source is used. */
export function isCopy(kind: SourceState["kind"]): kind is "offline" | "stale" | "held" {
  return kind === "offline" || kind === "stale" || kind === "held";
}
