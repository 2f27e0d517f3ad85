import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { DiskProject } from "../support/disk-project.ts";
import { Random } from "../support/random.ts";
import { listIn } from "../support/documents.ts";

const WORDS = ["-c", "c.json", "--by", "test"] as const;
const CONFIG = JSON.stringify({
  name: "Home",
  sources: [{ source: "ads.txt", type: "adblock" }],
  outputs: [{ format: "rpz" }, { format: "hosts" }],
  manifest: {},
});
const LOG = "rules/.rules-compiler/home.txt.log.jsonl";

/** Runs the program, and kills it after some milliseconds unless it has ended. */
async function runAndKill(folder: string, words: readonly string[], ms: number): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...words, ...WORDS], {
    cwd: folder,
    stdio: "ignore",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  return await new Promise((ended) =>
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      ended(String(signal ?? code));
    }),
  );
}

test("runs that are killed or compete leave a log and whole files", async (context) => {
  const project = new DiskProject(context);
  project.write("c.json", CONFIG);
  const random = new Random(5);
  const ends = new Map<string, number>();
  let builds = 0;
  project.write("ads.txt", "||first.example^\n");
  const began = performance.now();
  const first = ["compile", "--no-cache"];
  const both = [0, 1].map(() => runAndKill(project.folder, first, 60_000));
  assert.ok((await Promise.all(both)).includes("0"));
  const usual = performance.now() - began;
  for (let round = 0; round < 16; round++) {
    const runs = [0, 1].map(async () => {
      project.write("ads.txt", `||n${builds++}.example^\n||a.example^\n`);
      const words = random.chance(0.3) ? ["rollback"] : ["compile", "--no-cache"];
      return await runAndKill(project.folder, words, usual * (0.3 + random.next()));
    });
    for (const end of await Promise.all(runs)) ends.set(end, (ends.get(end) ?? 0) + 1);
    const { exit, stderr } = await project.run("log", "-c", "c.json");
    assert.equal(exit, 0, `round ${round}: ${stderr}`);
    const zone = project.text("rules/home.rpz");
    const names = zone.match(/^[a-z0-9][a-z0-9.]* CNAME \.$/gm) ?? [];
    assert.ok(zone.includes(`Number of entries: ${names.length}\n`), "the zone is whole");
  }
  project.write("ads.txt", "||last.example^\n");
  const last = await project.run("compile", "--no-cache", ...WORDS);
  assert.equal(last.exit, 0, last.stderr);
  const { stdout } = await project.run("log", "--json", "-c", "c.json");
  const { events } = listIn(stdout) as { events: { build?: string; to?: string }[] };
  const list = readFileSync(join(project.folder, "rules/home.txt"));
  const digest = createHash("sha256").update(list).digest("hex");
  assert.deepEqual([events[0]?.build, events[0]?.to], ["@0", digest], "the log and the list agree");
  const entries = readFileSync(join(project.folder, LOG), "utf8").trim().split("\n");
  assert.ok((ends.get("SIGKILL") ?? 0) > 3, JSON.stringify([...ends]));
  assert.ok((ends.get("0") ?? 0) > 3, JSON.stringify([...ends]));
  assert.ok(entries.length > 5, `${entries.length} entries`);
  context.diagnostic(`${JSON.stringify([...ends])}, ${entries.length} entries`);
});
