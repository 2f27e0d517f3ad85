import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { blocksOf } from "../support/markdown.ts";

const root = join(import.meta.dirname, "../..");

test("CONTRIBUTING: the example transformation works as written", () => {
  const folder = mkdtempSync(join(tmpdir(), "first-"));
  try {
    cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
    cpSync(join(root, "package.json"), join(folder, "package.json"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
    const [file, line] = blocksOf(page).filter(({ language }) => language === "ts");
    writeFileSync(join(folder, file!.title!), file!.text);
    const path = join(folder, "src/transformations/registry.ts");
    const [importLine] = /import \{ removeWww \} from [^;]+;/.exec(page)!;
    const registry = readFileSync(path, "utf8");
    const before = '  ["Compress", compress],';
    assert.ok(registry.includes(before));
    writeFileSync(path, `${importLine}\n${registry.replace(before, `${line!.text}${before}`)}`);
    const [, , config, list] = /(echo '(\{.*\})' > t\.json\n)echo '(.*)' > t\.txt/.exec(page)!;
    writeFileSync(join(folder, "t.json"), config!);
    writeFileSync(join(folder, "t.txt"), `${list!}\n0.0.0.0 www.other.example\n||www.com^\n`);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["src/cli/bin.ts", "-c", "t.json", "-o", "-", "-q"],
      { cwd: folder, encoding: "utf8" },
    );
    assert.match(stdout, /\|\|example\.com\^\n\|\|other\.example\^\n\|\|www\.com\^$/, stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
