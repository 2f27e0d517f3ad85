import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";

const SRC = join(import.meta.dirname, "../src");

/** Where more than five things may be joined: what a setting can be, figures, progress, debug lines, and answers to questions. */
const WHOLE: Readonly<Record<string, number>> = {
  "cli/args.ts": 1,
  "cli/artifact-text.ts": 1,
  "cli/audit-text.ts": 1,
  "cli/change-text.ts": 1,
  "cli/changelog-text.ts": 3,
  "cli/commands/completions.ts": 1,
  "cli/commands/lint.ts": 1,
  "cli/covered-lists.ts": 1,
  "cli/explanation-text.ts": 1,
  "cli/format-option.ts": 1,
  "cli/help.ts": 1,
  "cli/log-level.ts": 1,
  "cli/options.ts": 1,
  "cli/plan-text.ts": 1,
  "cli/progress-lines.ts": 2,
  "cli/run-compile.ts": 1,
  "cli/stats-text.ts": 1,
  "compile/artifact-plan.ts": 1,
  "compile/artifacts.ts": 2,
  "compile/guards/suffixes.ts": 1,
  "compile/plugins.ts": 1,
  "config/validate.ts": 6,
  "diagnostics/render.ts": 1,
  "diagnostics/some-of.ts": 2,
  "dns-api/account-limits.ts": 1,
  "host/node-fetch-once.ts": 1,
  "report/fate-flow.ts": 1,
  "report/page-script.ts": 1,
  "server/status-page.ts": 2,
};

test("names in messages are joined by someOf, which has five of them at the most", () => {
  for (const file of globSync("**/*.ts", { cwd: SRC })) {
    const path = relative(SRC, join(SRC, file)).replaceAll("\\", "/");
    const count = readFileSync(join(SRC, file), "utf8").split('.join(", ")').length - 1;
    assert.equal(count, WHOLE[path] ?? 0, `${path}: use someOf, or say here why not`);
  }
});
