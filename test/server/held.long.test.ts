import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, runProgram } from "../support/command.ts";
import { Served } from "../support/served.ts";

const LINES = Array.from({ length: 200 }, (_, index) => `||d${index}.example^`);

async function textOf(served: Served, path: string): Promise<string> {
  return await (await fetch(served.url(path))).text();
}

/** Asks until the answer fits; the limit of the test ends it otherwise. */
async function until(ask: () => Promise<string>, wanted: RegExp): Promise<string> {
  for (;;) {
    const text = await ask();
    if (wanted.test(text)) return text;
    await new Promise((woken) => setTimeout(woken, 100));
  }
}

test("serve leaves a held list alone and says so", { timeout: 300_000 }, async (context) => {
  const served = new Served(context, LINES);
  const command = async (...words: string[]): Promise<Ended> =>
    await runProgram(words, { cwd: served.folder });
  await served.start("--schedule", "0 0 1 1 *");
  await served.event("run-ended");
  assert.match(await textOf(served, "/metrics"), /^rules_compiler_lists_held 0$/m);
  served.write([...LINES, "||bad.example^"]);
  served.child.kill("SIGHUP");
  assert.equal((await served.event("run-ended", 2))["outcome"], "published");
  const listed = await command("log");
  assert.match(listed.stdout, /^ {2}@0 .* \+1 +serve/m, listed.stderr);

  const rolledBack = await command("hold", "@1", "--by", "<b>ops</b>");
  assert.equal(rolledBack.exit, 0, rolledBack.stderr);
  const health = JSON.parse(
    await until(() => textOf(served, "/health"), /"held": \[\s*\{/),
  ) as Record<string, unknown>;
  assert.equal(health["status"], "healthy");
  assert.match(String(health["reason"]), /; held: My list$/);
  const [held] = health["held"] as Record<string, string>[];
  assert.deepEqual([held?.["list"], held?.["by"]], ["My list", "<b>ops</b>"]);
  const metrics = await until(() => textOf(served, "/metrics"), /^rules_compiler_lists_held 1$/m);
  assert.match(metrics, /^rules_compiler_list_held_timestamp_seconds\{list="My list"\} \d{10}/m);
  const page = await until(() => textOf(served, "/"), /My list is held at an earlier build/);
  assert.match(page, /&lt;b&gt;ops&lt;/);
  assert.doesNotMatch(page, /<b>ops/);

  served.write([...LINES, "||worse.example^"]);
  served.child.kill("SIGHUP");
  assert.equal((await served.event("run-ended", 3))["outcome"], "unchanged");
  const problems = served.events.filter(({ event }) => event === "problem");
  assert.equal(problems.at(-1)?.["code"], "list-held");
  const list = await textOf(served, "/rules/my-list.txt");
  assert.doesNotMatch(list, /bad|worse/);
  assert.equal(list, readFileSync(join(served.folder, "rules/my-list.txt"), "utf8"));

  assert.equal((await command("hold", "--end")).exit, 0);
  await until(() => textOf(served, "/health"), /"held": \[\]/);
  served.child.kill("SIGHUP");
  assert.equal((await served.event("run-ended", 4))["outcome"], "published");
  assert.match(await textOf(served, "/rules/my-list.txt"), /worse/);
  await served.stop();
});
