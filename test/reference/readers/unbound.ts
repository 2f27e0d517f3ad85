import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

const ANSWERING = new Set(["always_nxdomain", "always_null", "always_nodata", "always_refuse"]);

/** unbound.conf(5): of all `local-zone`s above a name the closest one answers. */
export function readUnbound({ block }: FormatFiles): BlockTest {
  const zones = new Map<string, boolean>();
  for (const line of linesOf(block, "#")) {
    if (line === "server:") continue;
    const { name, type } =
      /^local-zone: "(?<name>[a-z0-9_.-]+)\." (?<type>\w+)$/.exec(line)?.groups ?? {};
    if (name === undefined || type === undefined) throw new RefusedFile(line);
    if (!ANSWERING.has(type) && type !== "always_transparent") throw new RefusedFile(line);
    if (zones.has(name)) throw new RefusedFile(`twice: ${line}`);
    zones.set(name, type !== "always_transparent");
  }
  return (name) => {
    const zone = withAncestors(name).find((parent) => zones.has(parent));
    return zone !== undefined && zones.get(zone) === true;
  };
}
