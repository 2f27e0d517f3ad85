import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** smartdns: `address /name/#` answers for a name and all below it, `/-` leaves them alone; the closest one counts. */
export function readSmartdns({ block }: FormatFiles): BlockTest {
  const rules = new Map<string, boolean>();
  for (const line of linesOf(block, "#")) {
    const { name, action } = /^address \/(?<name>[^/]+)\/(?<action>[#-])$/.exec(line)?.groups ?? {};
    if (name === undefined) throw new RefusedFile(line);
    if (rules.has(name)) throw new RefusedFile(`twice: ${line}`);
    rules.set(name, action === "#");
  }
  return (name) => {
    const closest = withAncestors(name).find((parent) => rules.has(parent));
    return closest !== undefined && rules.get(closest) === true;
  };
}
