import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Served } from "../support/served.ts";

const CONFIG = {
  name: "My list",
  sources: [{ name: "a", source: "a.txt", type: "adblock" }],
  after: [{ run: ["tee", "said.json"] }, { run: ["false"] }],
};

test("serve runs hooks only with --permit hooks, and its log has their output", async (t) => {
  const served = new Served(t, ["||one.example^", "||two.example^"]);
  writeFileSync(join(served.folder, "compiler-config.json"), JSON.stringify(CONFIG));
  await served.start();
  await served.event("run-ended");
  assert.ok(served.events.some(({ code }) => code === "hooks-skipped"));
  assert.ok(!existsSync(join(served.folder, "said.json")));
  served.child.kill("SIGTERM");
  await served.event("stopped");
  served.write(["||one.example^", "||two.example^", "||three.example^"]);
  await served.start("--permit", "hooks");
  await served.post("/compile");
  const ended = await served.event("run-ended");
  assert.equal(ended["outcome"], "published");
  const said = JSON.parse(readFileSync(join(served.folder, "said.json"), "utf8")) as object;
  assert.equal((said as { event: string }).event, "published");
  const ran = served.events.find(({ code }) => code === "hook-ran");
  assert.match(String(ran?.["message"]), /Hook ran: run tee, published, My list.*"rules":3/);
  const failed = served.events.find(({ code }) => code === "hook-failed");
  assert.equal(failed?.["level"], "warning");
});
