import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";

const SRC = join(import.meta.dirname, "../../src");

/** Where more than five things may be joined: what a setting can be, figures, progress, debug lines, and answers to questions. */
const WHOLE: Readonly<Record<string, number>> = {
  "cli/flags/options.ts": 3,
  "cli/output/stats-text.ts": 2,
  "cli/output/change-text.ts": 5,
  "cli/commands/help.ts": 1,
  "builder/plan/list-plan.ts": 1,
  "cli/output/explanation-text.ts": 2,
  "cli/flags/flags.ts": 1,
  "builder/plan/project.ts": 1,
  "cli/commands/validate.ts": 1,
  "cli/commands/prove.ts": 1,
  "cli/output/build-screen.ts": 2,
  "builder/draft/prepare.ts": 1,
  "publish/output-plan.ts": 1,
  "publish/format-outputs.ts": 2,
  "builder/guards/suffixes.ts": 1,
  "engine/plugins.ts": 1,
  "config/validate.ts": 5,
  // The words of a setting.
  "config/outputs.ts": 1,
  "diagnostics/render.ts": 1,
  "diagnostics/text.ts": 2,
  "dns-api/account-limits.ts": 1,
  // All addresses of an answer.
  "meaning/answer.ts": 1,
  // A table in a program.
  "formats/cdb.ts": 1,
  // Lines of a configuration.
  "import/config-text.ts": 2,
  // Cut to the width of the screen.
  "cli/output/reporter.ts": 1,
  "host/node-fetch.ts": 1,
  "report/report-page.ts": 1,
  "report/page-search.ts": 1,
  "server/status-page.ts": 2,
};

test("messages list names with someOf, which shows at most five", () => {
  for (const file of globSync("**/*.ts", { cwd: SRC })) {
    const path = relative(SRC, join(SRC, file)).replaceAll("\\", "/");
    const count = readFileSync(join(SRC, file), "utf8").split('.join(", ")').length - 1;
    assert.equal(count, WHOLE[path] ?? 0, `${path}: use someOf, or say here why not`);
  }
});
