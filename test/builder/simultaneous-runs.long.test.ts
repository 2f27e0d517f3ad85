import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM, runProgram } from "../support/command.ts";
import { isNightly } from "../support/nightly.ts";

const PAIRS = isNightly ? 200 : 12;
/** A list, its log, and what is remembered of it; stored builds are left out. */
const PUBLISHED = [
  ".rules-compiler",
  ".rules-compiler/.gitignore",
  ".rules-compiler/l.txt.conditions.json",
  ".rules-compiler/l.txt.json",
  ".rules-compiler/l.txt.log.jsonl",
  "l.txt",
];

function prepare(folder: string, name: string): void {
  const lines = Array.from({ length: 30_000 }, (_, index) => `||${name}${index}.example^`);
  writeFileSync(join(folder, `${name}.txt`), `${lines.join("\n")}\n`);
  const config = { name, sources: [{ source: `${name}.txt`, name, type: "adblock" }] };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));
}

function argsFor(name: string): string[] {
  return ["-q", "-c", `${name}.json`, "-o", "out/l.txt", "--no-cache"];
}

test(`${PAIRS} pairs of concurrent runs leave one complete list`, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "simultaneous-"));
  const env = { ...process.env, SOURCE_DATE_EPOCH: "0" };
  try {
    const whole = new Set<string>();
    for (const name of ["one", "two"]) {
      prepare(folder, name);
      assert.equal((await runProgram(argsFor(name), { cwd: folder, env })).exit, 0);
      whole.add(readFileSync(join(folder, "out/l.txt"), "utf8"));
    }
    const exits: Record<string, number> = {};
    for (let pair = 0; pair < PAIRS; pair++) {
      const ended = await Promise.all(
        ["one", "two"].map((name) => runProgram(argsFor(name), { cwd: folder, env })),
      );
      const list = readFileSync(join(folder, "out/l.txt"), "utf8");
      assert.ok(whole.has(list), `pair ${pair}: a mixed list`);
      for (const { exit, stderr } of ended) {
        assert.ok(exit === 0 || exit === 7, stderr);
        if (exit === 7) assert.match(stderr, /error\[locked\]: .*l\.txt is being built by/);
      }
      const both = ended.map(({ exit }) => String(exit)).toSorted();
      exits[both.join()] = (exits[both.join()] ?? 0) + 1;
      assert.ok(both.includes("0"), "one of them works");
      assert.deepEqual(everythingIn(join(folder, "out")), PUBLISHED);
    }
    context.diagnostic(`exits of ${PAIRS} pairs: ${JSON.stringify(exits)}`);
    assert.ok((exits["0,7"] ?? 0) > PAIRS / 10, "they did meet");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the lock of a killed run does not block the next run", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "killed-holder-"));
  try {
    prepare(folder, "one");
    // A server that never answers keeps the run, and its lock, for as long as we like.
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    context.after(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const source = `http://127.0.0.1:${port}/l.txt`;
    const config = { name: "hang", sources: [{ source, allow_private: true }] };
    writeFileSync(join(folder, "hang.json"), JSON.stringify(config));
    const args = ["-c", "hang.json", "-o", "out/l.txt", "--no-cache"];
    const holder = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, stdio: "ignore" });
    context.after(() => holder.kill("SIGKILL"));
    while (!everythingIn(join(folder, "out")).includes(".l.txt.lock"))
      await new Promise((waited) => setTimeout(waited, 20));
    const run = (): ReturnType<typeof runProgram> =>
      runProgram(["-q", "-c", "one.json", "-o", "out/l.txt", "--no-cache"], { cwd: folder });
    const refused = await run();
    assert.equal(refused.exit, 7, refused.stderr);
    assert.match(refused.stderr, new RegExp(`process ${holder.pid} `));
    const ended = new Promise((closed) => holder.once("close", closed));
    holder.kill("SIGKILL");
    await ended;
    const next = await run();
    assert.equal(next.exit, 0, next.stderr);
    assert.deepEqual(everythingIn(join(folder, "out")), PUBLISHED);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function everythingIn(folder: string): string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names
      .filter((name) => !/\.(?:record|draft|list-\d+)\.(?:zst|gz)$/.test(name))
      .toSorted();
  } catch {
    return [];
  }
}
