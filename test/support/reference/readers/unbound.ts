import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

const ANSWERING = new Set(["always_nxdomain", "always_null", "always_nodata", "always_refuse"]);

/**
 * unbound.conf(5): of all `local-zone`s above a name the closest one answers. `local-data` without a zone of its own makes a
 * transparent one for that name: the name is answered, others are resolved. A closer or equal zone of a type that begins with
 * `always_` ignores data.
 */
export function readUnbound({ block }: FormatFiles): BlockTest {
  const zones = new Map<string, boolean>();
  const data = new Set<string>();
  for (const line of linesOf(block, "#")) {
    if (line === "server:") continue;
    const own = /^local-data: "(?<name>[a-z0-9_.-]+)\. (?:A 0\.0\.0\.0|AAAA ::)"$/.exec(line)
      ?.groups?.["name"];
    if (own !== undefined) {
      data.add(own);
      continue;
    }
    const { name, type } =
      /^local-zone: "(?<name>[a-z0-9_.-]+)\." (?<type>\w+)$/.exec(line)?.groups ?? {};
    if (name === undefined || type === undefined) throw new RefusedFile(line);
    if (!ANSWERING.has(type) && type !== "always_transparent") throw new RefusedFile(line);
    if (zones.has(name)) throw new RefusedFile(`twice: ${line}`);
    zones.set(name, type !== "always_transparent");
  }
  return (name) => {
    const zone = withAncestors(name).find((parent) => zones.has(parent));
    if (zone === undefined) return data.has(name);
    return zone !== undefined && zones.get(zone) === true;
  };
}
