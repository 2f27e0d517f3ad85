import type { FileEntries } from "../formats/format-writer.ts";
import type { Host } from "../host/host.ts";
import { CdbFile } from "./cdb-file.ts";
import type { OutputPlan } from "./output-plan.ts";
import { type PartHeader, type PartLayout, SplitFile } from "./split-file.ts";
import { StableFiles } from "./stable-files.ts";

/** The header is measured with this count, so that it fits whatever the final count is. */
export const MOST_ENTRIES = 9_999_999_999;

/** The files of what an output blocks: in parts, in parts that keep their names, or as a database. */
export type BlockFiles = SplitFile | StableFiles | CdbFile;

export function blockFilesOf(plan: OutputPlan, layout: PartLayout, host: Host): BlockFiles {
  const { format, list, path, isStable } = plan;
  if (format.isDatabase === true) return new CdbFile(path, list, host);
  return isStable ? new StableFiles(path, layout, host) : new SplitFile(path, layout, host);
}

/** Begins the files with a header. A database has none. */
export function startBlock(
  block: BlockFiles,
  header: (entries: number) => PartHeader,
  entries: FileEntries,
): void {
  if (block instanceof StableFiles) block.start(header, MOST_ENTRIES);
  else if (block instanceof SplitFile) block.start(header(entries.block));
}

export function finishBlock(block: BlockFiles, plan: OutputPlan): void {
  if (block instanceof StableFiles) block.finish(plan.mostFiles);
  if (block instanceof CdbFile) block.finish();
}
