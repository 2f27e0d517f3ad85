import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import type { Host } from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";
import { assertScreen } from "../support/screen.ts";

const NAMES = ["fast", "slow", "late"] as const;

/** What stands on the screen after everything that was written. */
function screenOf(written: string): string {
  const lines: string[] = [];
  for (const part of written.split(/(\u001b\[\d+A\u001b\[J)/)) {
    const up = /^\u001b\[(\d+)A/.exec(part);
    if (up !== null) lines.splice(Math.max(0, lines.length - Number(up[1])));
    else lines.push(...part.split("\n").slice(0, -1));
  }
  return `${lines.join("\n")}\n`;
}

test("progress shows what has arrived, bytes, seconds and retries", async () => {
  const config = {
    name: "x",
    sources: NAMES.map((name) => ({
      name: `The ${name} list of a maintainer whose names are rather longer than they need to be`,
      source: `https://lists.example/${name}.txt`,
      type: "hosts",
    })),
  };
  const web = new ScriptedWeb({ "compiler-config.json": JSON.stringify(config) });
  let written = "";
  const write = (text: string): void => void (written += text);
  const host: Host = {
    ...web.host,
    stderr: { ...web.host.stderr, isTerminal: true, columns: 80, write },
  };
  const gate = Promise.withResolvers<string>();
  web.answers["https://lists.example/fast.txt"] = "0.0.0.0 a.example\n";
  web.answers["https://lists.example/late.txt"] = async () => await gate.promise;
  let tries = 0;
  let seen = "";
  web.answers["https://lists.example/slow.txt"] = async (request) => {
    tries++;
    if (tries === 1) return { status: 503 };
    web.time = new Date(web.time.getTime() + 12_300);
    request.expect?.(2_520_000);
    request.take(new TextEncoder().encode("0.0.0.0 b.example\n".repeat(70_000)));
    gate.resolve("0.0.0.0 c.example\n");
    for (let turn = 0; turn < 10_000 && !screenOf(written).includes("2/3"); turn++)
      await new Promise((turned) => setTimeout(turned, 0));
    seen = screenOf(written);
    return "";
  };
  const exit = await run(["--cache-dir", "cache"], host, new AbortController().signal);
  assert.equal(exit, Exit.Done, written);
  assertScreen("progress", seen);
  const phases = [...written.matchAll(/reading sources|compiling [\d,]+ lines|writing x/g)];
  const order = [...new Set(phases.map(([phase]) => phase))];
  assert.deepEqual(order, ["reading sources", "compiling 70,014 lines", "writing x"]);
  assert.doesNotMatch(screenOf(written), /reading|compiling|writing/, "taken away at the end");
});

test("a line for each source says which is read from its cached copy", async () => {
  const source = "https://lists.example/l.txt";
  const config = { name: "x", sources: [{ name: "Web", source, type: "hosts" }] };
  const web = new ScriptedWeb({ "compiler-config.json": JSON.stringify(config) });
  let written = "";
  const write = (text: string): void => void (written += text);
  const host: Host = { ...web.host, stderr: { ...web.host.stderr, write } };
  const { signal } = new AbortController();
  web.answers[source] = "0.0.0.0 a.example\n";
  assert.equal(await run(["--cache-dir", "cache"], host, signal), Exit.Done, written);
  assert.match(written, /^read Web: 18 B$/m);
  delete web.answers[source];
  assert.equal(await run(["--cache-dir", "cache"], host, signal), Exit.Done, written);
  assert.match(written, /^read the cached copy of Web: 18 B$/m);
});
