import { isIP } from "node:net";
import type { BlockTest, FormatFiles } from "../format-files.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** hosts(5): an address, then names, each for itself alone. */
export function readHosts({ block }: FormatFiles): BlockTest {
  const names = new Set<string>();
  for (const line of linesOf(block, "#")) {
    const [address = "", ...others] = line.split(/\s+/);
    if (isIP(address) === 0 || others.length === 0) throw new RefusedFile(line);
    for (const name of others) names.add(name.toLowerCase());
  }
  return (name) => names.has(name);
}

/** A name a line, each for itself alone. */
export function readNames({ block }: FormatFiles): BlockTest {
  const names = new Set(linesOf(block, "#"));
  for (const name of names) if (!/^[a-z0-9_.-]+$/.test(name)) throw new RefusedFile(name);
  return (name) => names.has(name);
}
