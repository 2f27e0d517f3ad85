import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { inParallel, runProgram } from "../support/command.ts";
import { isNightly } from "../support/nightly.ts";

const { EACCES, EDQUOT, EIO, ENOSPC, EROFS } = constants.errno;
const ERRORS = { EIO, ENOSPC, EDQUOT, EACCES, EROFS };

const root = mkdtempSync(join(tmpdir(), "publish-faults-"));
const injector = join(root, "injector.so");

function text(version: string): string {
  const lines = Array.from({ length: 20_000 }, (_, index) => `||${version}${index}.example^`);
  return `${lines.join("\n")}\n`;
}

/** A folder with a published list and sources that have changed since. */
interface Place {
  readonly folder: string;
  readonly out: string;
  /** The same list is written to two places. */
  readonly lists: readonly string[];
}

let places = 0;
function newPlace(): Place {
  const folder = join(root, `p${places++}`);
  const out = join(folder, "out");
  spawnSync("mkdir", ["-p", join(out, "rules")]);
  writeFileSync(join(folder, "a.txt"), text("new"));
  const config = { name: "L", sources: [{ source: "a.txt", name: "a", type: "adblock" }] };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const lists = [join(out, "l.txt"), join(out, "rules", "l.txt")];
  for (const list of lists) writeFileSync(list, OLD);
  return { folder, out, lists };
}

const OLD = `! old\n${text("old")}`;

function environment(place: Place, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    ...process.env,
    SOURCE_DATE_EPOCH: "0",
    RULES_DIR: "out/rules",
    LD_PRELOAD: injector,
    FAULT_DIR: place.out,
    // One thread, so that calls have the same numbers every time.
    UV_THREADPOOL_SIZE: "1",
    ...more,
  };
}

function compileIn(place: Place, env: NodeJS.ProcessEnv): ReturnType<typeof runProgram> {
  const args = ["-q", "-c", "c.json", "-o", "out/l.txt", "-r", "--no-cache"];
  return runProgram(args, { cwd: place.folder, env });
}

interface Fault {
  readonly at: number;
  readonly mode: string;
  readonly error: string;
}

test("faults and kills at every system call of the publish path never leave a partial list", async (context: TestContext) => {
  const made = spawnSync("gcc", [
    "-shared",
    "-fPIC",
    "-O1",
    "-w",
    "-o",
    injector,
    join(import.meta.dirname, "../support/fault-injector.c"),
    "-ldl",
  ]);
  assert.equal(made.status, 0, String(made.stderr));
  try {
    const counted = newPlace();
    const countFile = join(root, "count");
    const first = await compileIn(counted, environment(counted, { FAULT_COUNT_FILE: countFile }));
    assert.equal(first.exit, 0, first.stderr);
    const NEW = readFileSync(counted.lists[0]!, "utf8");
    const calls = Number(readFileSync(countFile, "utf8"));
    assert.ok(calls > 15, `${calls} calls`);
    const faults: Fault[] = [];
    for (let at = 1; at <= calls + 2; at++) {
      for (const error of Object.keys(ERRORS))
        for (const mode of ["once", "always"]) faults.push({ at, mode, error });
      for (const mode of ["kill-before", "kill-after"]) faults.push({ at, mode, error: "EIO" });
    }
    // The gate tries a quarter of them at each call, another quarter at the next.
    const chosen = faults.filter(({ at }, index) => isNightly || (index + at) % 10 === 0);
    const count: Record<string, number> = {};
    await inParallel(chosen, 3, async ({ at, mode, error }) => {
      const place = newPlace();
      const number = String(ERRORS[error as keyof typeof ERRORS]);
      const env = environment(place, {
        FAULT_AT: String(at),
        FAULT_MODE: mode,
        FAULT_ERRNO: number,
      });
      const { exit, stderr } = await compileIn(place, env);
      const what = `call ${at}, ${error}, ${mode}: exit ${exit}, ${stderr}`;
      const states = place.lists.map((list) => {
        const found = existsSync(list) ? readFileSync(list, "utf8") : "nothing";
        return found === OLD ? "old" : found === NEW ? "new" : "PARTIAL";
      });
      assert.ok(!states.includes("PARTIAL"), what);
      if (exit === 0) assert.deepEqual(states, ["new", "new"], what);
      else if (typeof exit === "number") assert.equal(exit, 6, what);
      const state = states.join("/");
      assert.doesNotMatch(stderr, /at .*\.js:\d+/, what);
      count[`${state}, exit ${exit}`] = (count[`${state}, exit ${exit}`] ?? 0) + 1;
      // The next run is none the worse for it, and nothing is left behind.
      if (mode.startsWith("kill") || error === "ENOSPC") {
        const calm = { ...process.env, SOURCE_DATE_EPOCH: "0", RULES_DIR: "out/rules" };
        const next = await compileIn(place, calm);
        assert.equal(next.exit, 0, `${what}\nthen: ${next.stderr}`);
        for (const list of place.lists) assert.equal(readFileSync(list, "utf8"), NEW, what);
        const ends = ["json", "log.jsonl"];
        const kept = ends.map((end) => `.rules-compiler/l.txt.${end}`);
        const out = [".rules-compiler", ".rules-compiler/.gitignore", ...kept, "l.txt"];
        const rules = ["rules", ...out.map((name) => `rules/${name}`)];
        const left = readdirSync(place.out, { recursive: true, encoding: "utf8" });
        // A failure may be a condition, which ends with this run.
        const expected = left
          .filter(
            (name) => !/\.(?:(?:record|draft|list-\d+)\.(?:zst|gz)|conditions\.json)$/.test(name),
          )
          .toSorted();
        assert.deepEqual(expected, [...out, ...rules], what);
      }
      rmSync(place.folder, { recursive: true });
    });
    context.diagnostic(`${chosen.length} faults at ${calls} calls: ${JSON.stringify(count)}`);
    assert.ok(chosen.length >= (isNightly ? 500 : 100), `${chosen.length} faults`);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
});
