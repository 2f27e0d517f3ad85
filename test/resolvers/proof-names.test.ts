import assert from "node:assert/strict";
import { test } from "node:test";
import { proofNames } from "../../src/resolvers/proof-names.ts";
import { MemoryProject } from "../support/memory-project.ts";

test("a name with another answer is neither asked as blocked nor as reachable", async () => {
  const config = {
    name: "L",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    outputs: [{ format: "rpz", file: "l.rpz" }],
    allow: ["intranet.example.org"],
    resolvers: [{ name: "r", address: "127.0.0.1:5353" }],
  } as const;
  const others = "||ads.example.org^\n||banner.example.org^\n";
  const project = new MemoryProject({
    "c.json": JSON.stringify(config),
    "own.txt": `${others}||old.example.org^\n||freed.example.org^\n`,
  });
  const build = async (): Promise<void> => {
    const { exit, stderr } = await project.run("compile", "-c", "c.json", "--no-cache");
    assert.equal(exit, 0, stderr);
  };
  await build();
  project.now = "2026-11-20T00:00:00Z";
  const rewrites = [
    "old.example.org^$dnsrewrite=NXDOMAIN;;",
    "new.example.org^$dnsrewrite=192.0.2.7",
  ];
  project.write("own.txt", `${others}${rewrites.map((one) => `||${one}\n`).join("")}`);
  await build();
  const names = await proofNames("/project/rules/l.txt", config, project.memory);
  assert.deepEqual(names.freed, ["freed.example.org"]);
  assert.deepEqual(names.fresh, []);
  assert.deepEqual([...names.listed].toSorted(), ["ads.example.org", "banner.example.org"]);
});
