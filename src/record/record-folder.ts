import type { Host } from "../host/host.ts";

/** The folder for the records of lists, next to the lists. */
export function recordFolder(list: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(list), ".rules-compiler");
}

/** The journal of a set of files that are published together; `home` is the first of them. */
export function journalPath(home: string, host: Pick<Host, "path">): string {
  return host.path.join(recordFolder(home, host), `${host.path.basename(home)}.journal`);
}

/** Whether a file in the folder of records is a journal. */
export function isJournal(name: string): boolean {
  return name.endsWith(".journal");
}
