import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";

const { bun, deno } = process.versions as Record<string, string | undefined>;
/** The test also runs on other runtimes, beside which Node is installed. */
const NODE = bun === undefined && deno === undefined ? process.execPath : "node";

/** Runs `--version` on a Node that claims to be another version. */
function onNode(version: string): { status: number | null; stderr: string } {
  const versions = `{ ...process.versions, node: "${version}" }`;
  const claim = `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
  return spawnSync(NODE, ["--import", claim, PROGRAM, "--version"], {
    encoding: "utf8",
  });
}

test("an old Node gets one message that says what to install", () => {
  for (const version of ["20.20.2", "22.18.9"]) {
    const { status, stderr } = onNode(version);
    assert.equal(status, 2);
    assert.equal(
      stderr,
      `error[runtime-too-old]: Node 22.19 or higher is required; this is Node ${version}\n` +
        "  = hint: Install a newer version: https://nodejs.org/en/download\n",
    );
  }
  assert.deepEqual([onNode("22.19.0").status, onNode("26.0.0").status], [0, 0]);
});
