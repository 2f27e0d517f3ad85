import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { type TestContext, after, test } from "node:test";

/** The task of a clone that npm never touched: Deno fetches what the program imports, and nothing else. */
// Deno keeps programs without all permissions out of /dev, where temporary files may be in memory.
const folder = mkdtempSync(join(tmpdir().startsWith("/dev/") ? "/tmp" : tmpdir(), "deno-task-"));
const clone = join(folder, "clone of it");
execFileSync("git", ["clone", "--quiet", join(import.meta.dirname, "../.."), clone]);
after(() => rmSync(folder, { recursive: true }));

const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
const denos = (process.env["TEST_RUNTIMES"] ?? process.env["DENO"] ?? "")
  .split("\n")
  .map((runtime) => runtime.split(" ")[0]!)
  .filter((program) => program.endsWith("/deno"));

function environment(program: string): NodeJS.ProcessEnv {
  const DENO_DIR = join(folder, "cache", String(denos.indexOf(program)));
  // The folder that Deno's task was called in; npm sets it, too, for its own scripts.
  const { INIT_CWD: _, ...own } = process.env;
  return {
    ...own,
    DENO_DIR,
    DENO_TLS_CA_STORE: "system",
    NPM_CONFIG_REGISTRY: registry,
    NO_COLOR: "1",
  };
}

test("TEST_RUNTIMES or DENO names Deno", () => assert.notEqual(denos.length, 0));

for (const program of denos) {
  const version = execFileSync(program, ["--version"], { encoding: "utf8" }).split(" ")[1]!;

  test(`Deno ${version}: the task compiles in the folder where it is called`, () => {
    const place = join(clone, "docs/my lists");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "a.txt"), "||ads.example^\n");
    const source = { name: "a", source: "a.txt", type: "adblock" };
    writeFileSync(join(place, "one.json"), JSON.stringify({ name: "One", sources: [source] }));
    const words = ["task", "compile", "--", "-c", "one.json", "-d"];
    const { status, stderr } = spawnSync(program, words, {
      cwd: place,
      encoding: "utf8",
      env: environment(program),
    });
    assert.equal(status, 0, stderr);
    assert.match(readFileSync(join(place, "rules/one.txt"), "utf8"), /^\|\|ads\.example\^$/m);
    assert.doesNotMatch(stderr, /typescript|oxlint/);
    rmSync(place, { recursive: true });
  });

  test(`Deno ${version}: without arguments, the task compiles the example of the clone`, () => {
    const env = environment(program);
    const { status, stderr } = spawnSync(program, ["task", "compile"], {
      cwd: clone,
      encoding: "utf8",
      env,
    });
    assert.equal(status, 0, stderr);
    assert.match(readFileSync(join(clone, "rules/my-list.txt"), "utf8"), /^\|\|ads\.example/m);
  });

  test(`Deno ${version}: the task serves, and its children compile`, async (context) => {
    const place = join(folder, "served");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "a.txt"), "||ads.example^\n");
    const source = { name: "a", source: "a.txt", type: "adblock" };
    writeFileSync(join(place, "one.json"), JSON.stringify({ name: "One", sources: [source] }));
    const server = startedBy(context, program, place);
    const { port } = await server.event("listening");
    const { outcome } = await server.event("run-ended");
    assert.equal(outcome, "published", server.lines.join("\n"));
    const { status } = await fetch(`http://127.0.0.1:${String(port)}/health`);
    assert.equal(status, 200);
    rmSync(place, { recursive: true });
  });
}

interface Started {
  readonly lines: string[];
  event(name: string): Promise<Record<string, unknown>>;
}

function startedBy(context: TestContext, program: string, place: string): Started {
  const words = [
    "task",
    "--config",
    join(clone, "deno.json"),
    "compile",
    "serve",
    "-c",
    "one.json",
  ];
  const child: ChildProcess = spawn(program, [...words, "--port", "0"], {
    cwd: place,
    stdio: ["ignore", "ignore", "pipe"],
    env: environment(program),
    // The task is a process of its own below Deno's.
    detached: true,
  });
  context.after(() => process.kill(-child.pid!, "SIGKILL"));
  const lines: string[] = [];
  const read = createInterface({ input: child.stderr! });
  const ended = new Promise<never>((_, reject) => {
    read.on("close", () => reject(new Error(lines.join("\n"))));
  });
  read.on("line", (line) => lines.push(line));
  function found(name: string): Record<string, unknown> | undefined {
    const line = lines.find((one) => one.includes(`"event":"${name}"`));
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
  }
  const event: Started["event"] = async (name) => {
    for (;;) {
      const one = found(name);
      if (one !== undefined) return one;
      await Promise.race([ended, new Promise((woken) => read.once("line", woken))]);
    }
  };
  return { lines, event };
}
