import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { blocksOf } from "../support/markdown.ts";

const root = join(import.meta.dirname, "../..");

test("the commands of the README make the program from a clone, with git and Node only", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [block] = blocksOf(readFileSync(join(root, "README.md"), "utf8"));
  assert.equal(block!.language, "sh");
  const script = block!.text.replace(/(?<=git clone )\S+/, `"file://${root}" rules-compiler`);
  assert.notEqual(script, block!.text);
  const prefix = join(folder, "prefix");
  mkdirSync(prefix);
  const env = {
    ...process.env,
    // Links that need no administrator.
    npm_config_prefix: prefix,
    PATH: [join(prefix, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
  };
  const said = execFileSync("sh", ["-ec", `${script}\nrules-compiler 2>&1`], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  assert.match(said, /written rules\/my-list\.txt: /);
  const list = readFileSync(join(folder, "rules-compiler/rules/my-list.txt"), "utf8");
  assert.match(list, /^\|\|ads\.example\.com\^$/m);
});
