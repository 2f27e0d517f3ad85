/** Publishes one of two builds after the other, for ever: to be killed. Its arguments are the folder of the project, and the first build. */
import { writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { run } from "../../src/cli/main.ts";
import type { Host } from "../../src/host/host.ts";
import { nodeHost } from "../../src/host/node.ts";
import { RELEASE, linesOf } from "./killed-publish.ts";

const [folder = "", first = "0"] = process.argv.slice(2);
const real = nodeHost();
let isSaid = false;
const host: Host = {
  ...real,
  cwd: folder,
  env: {},
  link: async (from, to) => {
    // The set of files is complete and about to be published.
    if (!isSaid && to.endsWith(".tmp")) writeSync(1, "publishing\n");
    isSaid ||= to.endsWith(".tmp");
    await real.link(from, to);
  },
};
writeFileSync(join(folder, "c.json"), JSON.stringify(RELEASE));
for (let round = Number(first); ; round++) {
  const [build, names] = round % 2 === 0 ? (["one", 9] as const) : (["two", 5] as const);
  writeFileSync(join(folder, "a.txt"), linesOf(build, names));
  const words = ["-q", "-c", "c.json", "--no-cache"];
  const exit = await run(words, host, new AbortController().signal);
  if (exit !== 0) process.exit(1);
}
