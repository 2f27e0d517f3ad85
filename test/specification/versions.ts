import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Specified, SpecifiedSection } from "../support/specified.ts";

const { engines } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
) as { engines: Record<string, string> };

/** A runtime that only another implementation needs. */
function elsewhere(item: string, door: string): Specified {
  return {
    item,
    meaning: `Oldest version for the implementation on ${door}.`,
    door,
    met: "not needed: the one program runs on Node, Deno or Bun, or as an executable without either",
  };
}

export const versions: SpecifiedSection = {
  title: "Version",
  items: [
    {
      item: "2.0 or newer",
      meaning: "Oldest version of the TypeScript runtime.",
      door: "TypeScript runtime",
      met: "Deno 2.0; also Node and Bun",
      check: () => assert.equal(engines["deno"], ">=2.0.0"),
    },
    elsewhere(".NET 10 (net10.0)", ".NET"),
    elsewhere("3.9", "Python"),
    elsewhere("1.70", "Rust"),
    elsewhere("7", "PowerShell"),
  ],
};
