import type { Keeping } from "./keeping.ts";
import type { PlannedSource } from "./plan.ts";
import type { SharedSources } from "./shared-sources.ts";
import type { SourceReader } from "./source-reader.ts";
import type { SourceSink } from "./source-sink.ts";

export interface RowReading {
  readonly reader: SourceReader;
  readonly shared: SharedSources | undefined;
  readonly keeping: Keeping | undefined;
}

/**
 * Reads the lines of a source into its sink, with those that it keeps, or reuses the rows that another list of this run read. Returns the
 * bytes of its text, or undefined if it failed.
 */
export async function readRows(
  source: PlannedSource,
  sink: SourceSink,
  { reader, shared, keeping }: RowReading,
): Promise<number | undefined> {
  const known = shared?.find(source);
  try {
    if (known !== undefined) {
      await sink.again(known.origins, known.chunks);
      return reader.readAgain(source, known);
    }
    const rows = shared?.isWanted(source) === true ? sink.keepRows() : undefined;
    const notes = reader.notesOf(source);
    const bytes = await reader.read(source, sink);
    if (bytes === undefined) return undefined;
    if (keeping !== undefined) {
      await sink.end();
      reader.noteKept(source, await keeping.end(sink, reader.states[source.index]!));
    }
    await sink.end();
    if (rows !== undefined) shared!.keep(source, { ...notes(bytes), ...rows });
    return bytes;
  } finally {
    keeping?.close();
    shared?.used(source);
  }
}
