import assert from "node:assert/strict";
import { test } from "node:test";
import { Served } from "../support/served.ts";

const LEVEL = "RULESCOMPILER_Logging__LogLevel__Default";

for (const [title, words, env] of [
  ["-d", ["-d"], {}],
  ["DEBUG=true", [], { DEBUG: "true" }],
  [`${LEVEL}=Debug`, [], { [LEVEL]: "Debug" }],
] as const)
  test(`with ${title}, the log of a server has the settings and the steps of each run`, async (context) => {
    const served = new Served(context, ["||a.example^"]);
    served.env = env;
    await served.start(...words);
    assert.equal((await served.event("run-ended"))["outcome"], "published");
    const events = served.events.filter(({ level }) => level === "debug");
    const settings = events.find(({ event }) => event === "settings");
    assert.match(String(settings?.["configuration"]), /compiler-config\.json$/);
    assert.equal(settings?.["cache"], "off");
    const steps = events.filter(({ event }) => event === "step").map(({ message }) => message);
    for (const step of [/^compile: 1 rule, .*s$/, /^guards: passed, .*s$/, /^publish: .*s$/])
      assert.ok(
        steps.some((message) => step.test(String(message))),
        `${step}: ${steps.join("\n")}`,
      );
    // A step is no problem.
    const health = (await (await fetch(served.url("/health"))).json()) as { problems: unknown };
    assert.deepEqual(health.problems, []);
    assert.equal(await served.stop(), 0);
  });

test("without debug output, the log has no steps", async (context) => {
  const served = new Served(context, ["||a.example^"]);
  await served.start();
  await served.event("run-ended");
  assert.deepEqual(
    served.events.filter(({ level }) => level === "debug"),
    [],
  );
  assert.equal(await served.stop(), 0);
});
