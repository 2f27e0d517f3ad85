import type { SourceState } from "../sources/source-state.ts";

/** Events during a compile. */
export type ProgressEvent =
  | { readonly kind: "source-started"; readonly source: number; readonly label: string }
  /** More bytes were received. */
  | { readonly kind: "source-arriving"; readonly source: number; readonly bytes: number }
  /** A request failed. It is retried after a pause. */
  | {
      readonly kind: "source-retried";
      readonly source: number;
      readonly label: string;
      readonly retry: number;
      readonly pauseMs: number;
      readonly cause: string;
    }
  /** The source, or its replacement, is complete. */
  | {
      readonly kind: "source-fetched";
      readonly source: number;
      readonly label: string;
      readonly state: SourceState["kind"];
      readonly bytes: number;
      readonly ms: number;
    }
  | {
      readonly kind: "source-read";
      readonly source: number;
      readonly label: string;
      readonly bytes: number;
      /** Whether its last good copy was read. */
      readonly isCopy: boolean;
    }
  | { readonly kind: "source-failed"; readonly source: number; readonly label: string }
  /** Memory is too small: about this many bytes go to this folder temporarily. */
  | {
      readonly kind: "needs-scratch";
      readonly bytes: number;
      readonly folder: string;
      readonly free: number;
    }
  | { readonly kind: "compiling"; readonly lines: number }
  /** Time of a transformation, for one source or (without a label) for the whole list. */
  | { readonly kind: "step"; readonly name: string; readonly label?: string; readonly ms: number };
