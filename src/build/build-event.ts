import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ProgressEvent } from "../engine/progress-event.ts";
import type { ListOutcome } from "./build-outcome.ts";

export type { ProgressEvent } from "../engine/progress-event.ts";

/** What happens during a build, in the order in which it happens. */
export type BuildEvent =
  /** There is something to compile. A build for which nothing has changed ends without it. */
  | { readonly kind: "started" }
  /** A warning or note, about one list or about the whole configuration. */
  | { readonly kind: "diagnostic"; readonly diagnostic: Diagnostic }
  /** Sources are being read: those of one list, or ahead of several. */
  | { readonly kind: "reading"; readonly sources: number; readonly lists: number }
  | { readonly kind: "progress"; readonly event: ProgressEvent }
  /** Ends what `reading` began. */
  | { readonly kind: "read" }
  /** A part of the work has ended; for people who want to see everything. */
  | { readonly kind: "phase"; readonly name: string; readonly text: string; readonly ms: number }
  /** Files are being replaced from now on. */
  | { readonly kind: "publishing"; readonly list: string }
  /** The files of a list are in place. The record of the build follows. */
  | { readonly kind: "published"; readonly list: string; readonly path: string | undefined }
  /** A list is done, one way or another; one of so many. */
  | { readonly kind: "list-done"; readonly outcome: ListOutcome; readonly lists: number };
