import type { Room } from "../kernel/room.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import type { Outlook } from "./outlook.ts";
import type { Stage } from "./stage.ts";

/** Where the work is done: it decides where things lie, never what comes out. */
export interface Workshop {
  readonly pool: ChunkPool;
  readonly room: Room;
  readonly finder: RowFinder;
}

export interface Transformation {
  /** One line, shown by `--help` and in docs/reference/transformations.md. */
  readonly summary: string;
  /** What it does, in a paragraph, for the reference page. */
  readonly details: string;
  /** Loads a library that only some lists need. Asked of each chunk when it was read. */
  prepare?(chunk: Chunk): Promise<void> | undefined;
  /** The stations that a list's chunks go through. Rows are dropped with a reason, never removed. */
  stages(outlook: Outlook, workshop: Workshop): readonly Stage[];
}
