import { dirname, join } from "node:path";

/** The folder for what is known of the lists in a folder: beside them. */
export function recordFolder(list: string): string {
  return join(dirname(list), ".rules-compiler");
}
