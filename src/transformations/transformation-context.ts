import type { Chunk } from "../rules/chunk.ts";
import type { ValidatorOptions } from "../syntax/validate-rule.ts";
import type { StageContext } from "./stage-context.ts";

/**
 * What a transformation works with, and what it may know of the stages after it. Compress needs that: a parent domain
 * may only cover its children if it will still be there at the end.
 */
export interface TransformationContext extends StageContext {
  /** The validator that will see this list, at this level or the one above. */
  readonly validator?: ValidatorOptions;
  /** Whether RemoveModifiers works on this list too: what it widened covers only what it widened. */
  readonly removesModifiers?: boolean;
  /** Whether Compress worked on this list: rules for one name are unique then. */
  readonly compresses?: boolean;
  /** Whether names with an underscore are left as they are written, as the reference does. */
  readonly leavesUnderscores?: boolean;
  /** Whether a later filter of the list above (exclusions, inclusions) takes a row with this text. */
  readonly willBeFiltered?: (text: string) => boolean;
  /** Names whose rules other sources of the list above cancel. */
  readonly cancelledLater?: ReadonlySet<string>;
  /** Warns the user. Equal warnings are counted, not repeated. */
  warn(code: WarningCode, chunk: Chunk, row: number, detail?: string): void;
}

export type WarningCode =
  | "real-address"
  | "no-name"
  | "not-converted"
  | "bad-regex"
  | "exclusion-splits-label"
  | "private-suffix"
  | "modifiers-removed";
