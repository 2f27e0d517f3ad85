#!/usr/bin/env node
import process from "node:process";
import { OLDEST_NODE } from "../diagnostics/version.ts";
import { versionText } from "./version.ts";

const TOO_OLD = "runtime-too-old";

const words = process.argv.slice(2);
if (isTooOld()) {
  process.stderr.write(
    `error[${TOO_OLD}]: Node ${OLDEST_NODE} or higher is required; this is Node ${process.versions.node}\n` +
      "  = hint: Install a newer version: https://nodejs.org/en/download\n",
  );
  process.exitCode = 2;
} else if (words.length === 1 && words[0] === "--version") {
  process.stdout.write(`${versionText()}\n`);
} else {
  // The build puts `startCached` in its place.
  const { start } = await import("./program.ts");
  process.exitCode = await start(words);
}

/** Other runtimes claim to be some version of Node. */
function isTooOld(): boolean {
  const { node = "", bun, deno } = process.versions as Record<string, string | undefined>;
  if (bun !== undefined || deno !== undefined) return false;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [oldest = 0, least = 0] = OLDEST_NODE.split(".").map(Number);
  return major < oldest || (major === oldest && minor < least);
}
