import type { PlannedSource } from "./plan.ts";

/** What the configuration says about how to obtain a source. */
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
