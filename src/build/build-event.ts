import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ProgressEvent } from "../engine/progress-event.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { ListOutcome } from "./build-outcome.ts";
import type { WrittenOutput } from "./list-outputs.ts";

export type { ProgressEvent } from "../engine/progress-event.ts";
export type { OutputFile } from "../publish/output-file.ts";

/** The events of a build, in the order in which they occur. */
export type BuildEvent =
  /** There is something to compile. A build without changes ends without this event. */
  | { readonly kind: "started" }
  /** A warning or note about one list or about the whole configuration. */
  | { readonly kind: "diagnostic"; readonly diagnostic: Diagnostic }
  /** The build reads sources: those of one list, or those of several lists in advance. */
  | { readonly kind: "reading"; readonly sources: number; readonly lists: number }
  | { readonly kind: "progress"; readonly event: ProgressEvent }
  /** The end of `reading`. */
  | { readonly kind: "read" }
  /** A phase of the build has ended. Shown in verbose output. */
  | { readonly kind: "phase"; readonly name: string; readonly text: string; readonly ms: number }
  /** The build starts to replace files. */
  | { readonly kind: "publishing"; readonly list: string }
  /** The files of a list are published. The build record follows. */
  | { readonly kind: "published"; readonly list: string; readonly file: OutputFile | undefined }
  /** The build of a list has ended, with any outcome. `lists` is the total. */
  | { readonly kind: "list-done"; readonly outcome: ListOutcome; readonly lists: number }
  /** A file over several lists was written, or need not be. */
  | { readonly kind: "combined"; readonly output: WrittenOutput };
