import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { Served } from "../support/served.ts";

const runtimes = (process.env["TEST_RUNTIMES"] ?? process.execPath).split("\n");

for (const runtime of runtimes)
  test(
    `${runtime.split("/").slice(-3).join("/")}: serves, compiles on schedule and on SIGHUP, stops`,
    { timeout: 900_000 },
    async (context) => {
      const served = new Served(context, ["||a.example^", "||b.example^"]);
      served.runtime = runtime;
      await served.start("--schedule", "* * * * * *");
      await served.event("run-ended", 2);
      served.write(["||a.example^", "||b.example^", "||c.example^"]);
      served.child.kill("SIGHUP");
      const ends = (): number => served.events.filter(({ event }) => event === "run-ended").length;
      await served.event("run-ended", ends() + 2);
      const started = served.events.filter(({ event }) => event === "run-started");
      const triggers = new Set(started.map((one) => one["trigger"]));
      for (const trigger of ["start", "schedule", "signal"])
        assert.ok(triggers.has(trigger), trigger);
      const list = await (await fetch(served.url("/rules/my-list.txt"))).text();
      assert.equal(list, readFileSync(join(served.folder, "rules/my-list.txt"), "utf8"));
      assert.match(list, /c\.example/);
      assert.equal((await fetch(served.url("/health"))).status, 200);
      assert.equal(await served.stop(), 0);
    },
  );
