import type { Chunk } from "../rules/chunk.ts";
import type { TransformationContext } from "./transformation-context.ts";
import type { Stage } from "./stage.ts";

export interface Transformation {
  /** One line, shown by `--help` and in docs/reference/transformations.md. */
  readonly summary: string;
  /** A paragraph for the reference page. */
  readonly details: string;
  /** Loads a library that only some lists need. Called for each chunk after it was read. */
  prepare?(chunk: Chunk): Promise<void> | undefined;
  /** The stages for a list's chunks. They drop rows with a reason, and never remove them. */
  stages(context: TransformationContext): readonly Stage[];
}
