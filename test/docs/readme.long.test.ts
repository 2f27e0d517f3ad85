import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { blocksOf, follow } from "../support/markdown.ts";

const root = join(import.meta.dirname, "../..");

test("the README can be followed with git and Node only, and shows what the program prints", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const prefix = join(folder, "prefix");
  mkdirSync(prefix);
  const env = {
    ...process.env,
    // Links that need no administrator.
    npm_config_prefix: prefix,
    PATH: [join(prefix, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
  };
  const clone = "rules-compiler";
  const shown = await follow(blocksOf(readFileSync(join(root, "README.md"), "utf8")), {
    write: (title) => assert.fail(title),
    run: async (script) => {
      const here = script.replace(/(?<=git clone )\S+/, `"file://${root}" ${clone}`);
      const cwd = here === script ? join(folder, clone) : folder;
      const { status, stdout, stderr } = spawnSync("sh", ["-ec", here], {
        cwd,
        env,
        encoding: "utf8",
      });
      return { code: status, said: stdout + stderr };
    },
  });
  assert.ok(shown >= 10, String(shown));
});

test("the third line leads to what the workflow publishes", () => {
  const [, , line = ""] = readFileSync(join(root, "README.md"), "utf8").split("\n");
  const workflow = readFileSync(join(root, ".github/workflows/site.yml"), "utf8");
  const base = / SITE_BASE: (\S+) /.exec(workflow)![1]!;
  const site = `https://rules-compiler.github.io${base}`;
  assert.equal(line, `[Docs](${site}) | [Playground](${site}playground/)`);
  assert.match(
    readFileSync(join(root, "site/.vitepress/config.ts"), "utf8"),
    new RegExp(`"${site}"`),
  );
});
