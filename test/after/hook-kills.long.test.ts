import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { HookProject } from "../support/hook-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";

const ROUNDS = isNightly ? 1000 : 32;

test("after kills at random moments, the next whole run brings the copy of a hook up to date", async (t) => {
  const copy = ["cp", "rules/my-list.txt", "loaded.txt"];
  const project = new HookProject(t, [{ run: copy }]);
  const random = new Random(23);
  const { folder } = project;
  const list = join(folder, "rules/my-list.txt");
  const isLoaded = (): boolean =>
    readFileSync(list, "utf8") === readFileSync(join(folder, "loaded.txt"), "utf8");
  let caughtUp = 0;
  let typical = 600;
  for (let round = 0; round < ROUNDS; round++) {
    const isWhole = round % 4 === 3 || round === 0;
    const before = isWhole && existsSync(join(folder, "loaded.txt")) && !isLoaded();
    // The next whole run often finds nothing new, and must reload what a killed run published.
    if (!isWhole) project.lines([`||n${round}.example^`, "||two.example^", "||three.example^"]);
    const began = Date.now();
    const child = spawn(process.execPath, [PROGRAM, "-c", "c.json", "--permit", "hooks"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache") },
    });
    let stderr = "";
    child.stderr.on("data", (piece: Uint8Array) => {
      stderr += String(piece);
      // Every other time, at the worst moment: the list is published, its hook has not run.
      if (round % 4 === 2 && stderr.includes("written ")) child.kill("SIGKILL");
    });
    const delay = typical * (0.4 + random.next() * 0.8);
    const timer = isWhole ? undefined : setTimeout(() => child.kill("SIGKILL"), delay);
    const code = await new Promise((ended) => child.on("close", ended));
    clearTimeout(timer);
    if (!isWhole) continue;
    typical = Date.now() - began;
    assert.equal(code, 0, stderr);
    assert.ok(isLoaded(), `round ${round}\n${stderr}`);
    if (before) caughtUp++;
  }
  t.diagnostic(`${caughtUp} times a run reloaded what a killed run had published`);
  assert.ok(caughtUp > ROUNDS / 24);
});
