import type { ComparisonSlot } from "../kernel/name-comparison.ts";
import type { Chunk } from "../rules/chunk.ts";
import type { ValidatorOptions } from "../syntax/validate-rule.ts";
import type { StageContext } from "./stage-context.ts";

/**
 * What a transformation works with, and what it knows about later stages. Compress needs that: a parent domain may only cover
 * its children if it is still present at the end.
 */
export interface TransformationContext extends StageContext {
  /** The validator for this list, at this level or the one above. */
  readonly validator?: ValidatorOptions;
  /** Whether RemoveModifiers runs too: rules that it widened cover only each other. */
  readonly removesModifiers?: boolean;
  /** Whether Compress ran on this list: rules for one name are then unique. */
  readonly compresses?: boolean;
  /** Whether names with an underscore stay as written, like in the reference. */
  readonly leavesUnderscores?: boolean;
  /** Whether a later filter of the list above (exclusions, inclusions) drops a row with this text. */
  readonly willBeFiltered?: (text: string) => boolean;
  /** What Compress found in the last compile of the same list, if it is compiled repeatedly. */
  readonly comparison?: ComparisonSlot;
  /** Names whose rules other sources of the list above cancel. */
  readonly cancelledLater?: ReadonlySet<string>;
  /** How trusted each source is, by its index: rules of less trusted ones (a greater number) do not replace others. */
  readonly tiers?: readonly number[];
  /** Warns the user. Equal warnings are counted, not repeated. */
  warn(code: WarningCode, chunk: Chunk, row: number, detail?: string): void;
}

export type WarningCode =
  | "real-address"
  | "no-name"
  | "not-converted"
  | "bad-regex"
  | "exclusion-splits-label"
  | "modifiers-removed";
