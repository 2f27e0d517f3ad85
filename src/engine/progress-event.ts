import type { SourceState } from "../sources/acquire.ts";

/** What happens while a list is compiled. */
export type ProgressEvent =
  | { readonly kind: "source-started"; readonly source: number; readonly label: string }
  /** More of it has come over the network. */
  | { readonly kind: "source-arriving"; readonly source: number; readonly bytes: number }
  /** A request failed, and is made again after a pause. */
  | {
      readonly kind: "source-retried";
      readonly source: number;
      readonly label: string;
      readonly retry: number;
      readonly pauseMs: number;
      readonly cause: string;
    }
  /** All of it is here, or what is used instead. */
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
    }
  | { readonly kind: "source-failed"; readonly source: number; readonly label: string }
  /** Not everything will fit into memory: about so many bytes go to this folder for the time being. */
  | {
      readonly kind: "needs-scratch";
      readonly bytes: number;
      readonly folder: string;
      readonly free: number;
    }
  | { readonly kind: "compiling"; readonly lines: number }
  /** Time that a transformation took, for one source or (without a label) for the whole list. */
  | { readonly kind: "step"; readonly name: string; readonly label?: string; readonly ms: number };
