import type { Chunk } from "../rules/chunk.ts";
import type { TransformationContext } from "./transformation-context.ts";
import type { Stage } from "./stage.ts";

export interface Transformation {
  /** One line, shown by `--help` and in docs/reference/transformations.md. */
  readonly summary: string;
  /** What it does, in a paragraph, for the reference page. */
  readonly details: string;
  /** Loads a library that only some lists need. Asked of each chunk when it was read. */
  prepare?(chunk: Chunk): Promise<void> | undefined;
  /** The stages that a list's chunks go through. Rows are dropped with a reason, never removed. */
  stages(context: TransformationContext): readonly Stage[];
}
