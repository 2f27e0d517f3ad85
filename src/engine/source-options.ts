import type { PlannedSource } from "./plan.ts";

/** The options for obtaining a source. */
export type SourceOptions = Pick<
  PlannedSource,
  | "source"
  | "shown"
  | "isSecret"
  | "type"
  | "mirrors"
  | "isOptional"
  | "maxStaleMs"
  | "timeoutMs"
  | "allowPrivate"
  | "bounds"
  | "mayBlock"
>;
