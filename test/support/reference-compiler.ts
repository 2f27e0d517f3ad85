import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The reference compiler as a black box; `npm run oracle` installs it. It runs on Node only. */
const ORACLE = join(import.meta.dirname, "../oracle");
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const isThere = existsSync(join(ORACLE, "node_modules/@adguard/hostlist-compiler"));

export const missingReference: string | false = !isNode
  ? "the reference runs on Node"
  : !isThere && "NOT INSTALLED: run `npm run oracle` first";

/** Compiles a configuration of the reference to the lines of its list. Relative paths are those of the working directory. */
export type Reference = (config: object) => Promise<string[]>;

export function loadReference(): Reference {
  const require = createRequire(join(ORACLE, "x.js"));
  const consola = require("consola") as { level: number };
  consola.level = -1;
  return require("@adguard/hostlist-compiler") as Reference;
}

/** A line without what must differ: the time, and the name of the program. */
export function plainLine(line: string): string {
  return line
    .replace(/^! Last modified: .*/, "! Last modified")
    .replace(/^! Compiled by .*/, "! Compiled by");
}
