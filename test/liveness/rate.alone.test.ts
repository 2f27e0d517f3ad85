import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import type { AliveDocument } from "../../src/documents/documents.ts";
import { World } from "../support/liveness/world.ts";
import { Unbound, realSetting } from "../support/liveness/real-world.ts";

const BIN = join(import.meta.dirname, "../../src/cli/bin.ts");

/** Runs the command, and returns what it says and its CPU time in seconds. */
async function cost(
  words: readonly string[],
): Promise<{ readonly said: AliveDocument; readonly cpu: number; readonly seconds: number }> {
  // The test runner watches every promise of its own process, which costs more than the questions.
  const script = '"$@"; times';
  const began = performance.now();
  const child = spawn("bash", ["-c", script, "bash", process.execPath, BIN, ...words, "--json"]);
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  await new Promise((ended) => child.on("close", ended));
  const lines = out.trim().split("\n");
  const times = [...lines.at(-1)!.matchAll(/(\d+)m([\d.]+)s/g)];
  const cpu = times.reduce(
    (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
    0,
  );
  const said = JSON.parse(lines[0]!) as AliveDocument;
  return { said, cpu, seconds: (performance.now() - began) / 1000 };
}

test("two cores can ask about 2,000 names a second", async (context) => {
  const world = new World(30_000, ["lives", "gone"]);
  const { folder, authority, broken } = await realSetting(context, world);
  const upstream = { authority: authority.port, broken };
  const resolver = await Unbound.start(context, join(folder, "unbound"), upstream);
  const words = ["alive", "-c", join(folder, "c.json"), "-o", join(folder, "list.txt")];
  // The start of the program, and reading the list.
  const nothing = await cost(words);
  const at = ["--resolver", `127.0.0.1:${resolver.port}`, "--rate", "100000"];
  const { said, cpu, seconds } = await cost([...words, ...at]);
  const { asked, names } = said;
  assert.equal(said.refusal, undefined);
  // The servers have the other core. Other work on the machine changes the time, and hardly what it costs.
  const perCore = Math.round(asked.names / (cpu - nothing.cpu));
  const bytes = statSync(join(folder, "observations.txt")).size / names;
  context.diagnostic(
    `${asked.names} names, ${asked.questions} questions, ${asked.tests} tests: ${Math.round(asked.names / seconds)} names a second, ${perCore} in a second of one core, ${bytes.toFixed(1)} bytes a name`,
  );
  assert.ok(perCore >= 2000, `${perCore}`);
});
