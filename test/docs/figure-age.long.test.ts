import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MOST_COMMITS, oldFigures } from "../../scripts/figure-age.ts";

test("a release has no figure that was measured more than 50 commits ago", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "figures-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...words], {
      cwd: folder,
      encoding: "utf8",
    }).trim();
  const commit = (): string => {
    git("commit", "--quiet", "--allow-empty", "--message", "one");
    return git("rev-parse", "HEAD");
  };
  git("init", "--quiet");
  mkdirSync(join(folder, "bench/results"), { recursive: true });
  const measured = (at: string): void =>
    writeFileSync(
      join(folder, "bench/results/a.json"),
      JSON.stringify({ measured: { commit: at } }),
    );
  const first = commit();
  const second = commit();
  for (let more = 0; more < MOST_COMMITS; more++) commit();
  measured(second);
  assert.deepEqual(oldFigures(folder), []);
  measured(first);
  assert.deepEqual(oldFigures(folder), [`a.json: measured 51 commits ago, at ${first}`]);
  measured("uncommitted");
  assert.match(oldFigures(folder).join(), /which is no commit here/);
});
