import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { isJournal, journalPath, recordFolder } from "../record/record-folder.ts";

/** A warning for commands that only read, if the files of a list may be of two builds. */
export async function unfinishedPublish(
  { name, path }: OutputFile,
  host: Host,
): Promise<Diagnostic[]> {
  return (await host.exists(journalPath(path, host))) ? [unfinished(name)] : [];
}

/** The same for all lists in the folder of a file. */
export async function unfinishedBeside(path: string, host: Host): Promise<Diagnostic[]> {
  const names = await host.listFolder(recordFolder(path, host));
  return names.filter(isJournal).map((name) => unfinished(name.replace(/\.journal$/, "")));
}

function unfinished(name: string): Diagnostic {
  const message = `The last publish of ${printable(name)} is not finished; its files may be of two builds`;
  return warningOf("publish-unfinished", message, { hint: "The next compile finishes it" });
}
