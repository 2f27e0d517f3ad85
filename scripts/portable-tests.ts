/**
 * Prints the test files that also run on Deno, Bun and other versions of Node: of the rooms whose code can differ between runtimes.
 * The fast ones, and the long ones with NIGHTLY=1.
 */
import { globSync } from "node:fs";
import process from "node:process";

const ROOMS =
  "builder,cli,conformance,engine,explain,feeds,formats,publish,record,sources,syntax,traffic";
const SINGLE = "server/{schedule,lists,server,dns-api},config/config-bombs";

const files = globSync([`test/{${ROOMS}}/*.test.ts`, `test/{${SINGLE}}*.test.ts`]);
const isWanted = (file: string): boolean =>
  !/\.(?:alone|nightly)\./.test(file) && (process.env["NIGHTLY"] === "1" || !/\.long\./.test(file));
process.stdout.write(
  files
    .filter(isWanted)
    .toSorted()
    .map((file) => `./${file}\n`)
    .join(""),
);
