import type { Host } from "../host/host.ts";
import { StateFile } from "../host/state-file.ts";

/** The folder for the records of lists, next to the lists. */
export function recordFolder(list: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(list), ".rules-compiler");
}

/** A state of the list at a path, in the folder of records: `my-list.txt.hold.json`. */
export function stateOf<T extends object>(
  list: string,
  ending: string,
  isValid: (value: unknown) => value is T,
  host: Host,
): StateFile<T> {
  const name = `${host.path.basename(list)}.${ending}`;
  return new StateFile(host.path.join(recordFolder(list, host), name), isValid, host);
}

/** The journal of a set of files that are published together; `home` is the first of them. */
export function journalPath(home: string, host: Pick<Host, "path">): string {
  return host.path.join(recordFolder(home, host), `${host.path.basename(home)}.journal`);
}

/** Whether a file in the folder of records is a journal. */
export function isJournal(name: string): boolean {
  return name.endsWith(".journal");
}
