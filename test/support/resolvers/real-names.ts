import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfigInPlace } from "../corpus.ts";

/** Resolvers have answers of their own for these. */
const SPECIAL = /\.(?:onion|test|invalid|local|localhost|arpa|internal)$/;
const BIN = join(import.meta.dirname, "../../../dist/cli/bin.js");

/** Names of real lists: so many that are to be listed, and others that have nothing to do with those. */
export function realNames(
  listed: number,
  controls: number,
): { listed: string[]; controls: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "names-"));
  writeFileSync(join(folder, "c.json"), JSON.stringify(corpusConfigInPlace()));
  const words = ["-q", "-c", "c.json", "-o", "l.txt", "--no-cache", "--no-record"];
  execFileSync(process.execPath, [BIN, ...words, "--accept", "blocks-protected"], { cwd: folder });
  const lines = readFileSync(join(folder, "l.txt"), "latin1").split("\n");
  rmSync(folder, { recursive: true });
  const names = lines
    .flatMap((line) => /^\|\|([a-z0-9.-]*[a-z])\^$/.exec(line)?.[1] ?? [])
    .filter((name) => !SPECIAL.test(name));
  // Every second one, so that the others, of the same lists and looks, are what must not be blocked.
  const every = Math.floor(names.length / listed);
  const chosen = names.filter((_, index) => index % every === 0).slice(0, listed);
  const others = names.filter((_, index) => index % every === 1).slice(0, controls);
  return { listed: chosen, controls: others };
}
