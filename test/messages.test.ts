import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";

const SRC = join(import.meta.dirname, "../src");

/** Where more than five things may be joined: what a setting can be, figures, progress, debug lines, and answers to questions. */
const WHOLE: Readonly<Record<string, number>> = {
  "cli/flags/args.ts": 1,
  "cli/output/audit-text.ts": 1,
  "cli/output/change-text.ts": 1,
  "cli/output/changelog-text.ts": 3,
  "cli/commands/completions.ts": 1,
  "cli/commands/lint.ts": 1,
  "build/covered-lists.ts": 1,
  "cli/output/explanation-text.ts": 1,
  "cli/flags/format-option.ts": 1,
  "cli/flags/log-level.ts": 1,
  "cli/flags/options.ts": 1,
  "cli/output/plan-text.ts": 1,
  "cli/output/progress-lines.ts": 2,
  "build/prepare.ts": 1,
  "cli/output/stats-text.ts": 1,
  "cli/output/written-text.ts": 1,
  "publish/output-plan.ts": 1,
  "publish/format-outputs.ts": 2,
  "build/guards/suffixes.ts": 1,
  "engine/plugins.ts": 1,
  "config/validate.ts": 4,
  "diagnostics/render.ts": 1,
  "diagnostics/some-of.ts": 2,
  "dns-api/account-limits.ts": 1,
  // A table in a program.
  "formats/dnsdist-lua.ts": 1,
  // Cut to the width of the screen.
  "cli/output/text-width.ts": 1,
  "host/node-fetch-once.ts": 1,
  "report/fate-flow.ts": 1,
  "report/page-script.ts": 1,
  "server/status-page.ts": 2,
};

test("messages list names with someOf, which shows at most five", () => {
  for (const file of globSync("**/*.ts", { cwd: SRC })) {
    const path = relative(SRC, join(SRC, file)).replaceAll("\\", "/");
    const count = readFileSync(join(SRC, file), "utf8").split('.join(", ")').length - 1;
    assert.equal(count, WHOLE[path] ?? 0, `${path}: use someOf, or say here why not`);
  }
});
