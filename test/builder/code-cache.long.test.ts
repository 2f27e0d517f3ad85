import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { codeFolder } from "../../src/host/node-code-folder.ts";
import { runProgram } from "../support/command.ts";

const isWindows = process.platform === "win32";

/** A folder of our own, and a cache in it that is not there yet. */
function place(context: TestContext): { home: string; cache: string } {
  const home = mkdtempSync(join(tmpdir(), "code-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  return { home, cache: join(home, ".cache", "rules-compiler") };
}

test(
  "the code cache is in a folder that only this user can write to",
  { skip: isWindows },
  (context) => {
    const { cache } = place(context);
    const folder = codeFolder(cache);
    assert.equal(folder, `${cache}-code`);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(codeFolder(cache), folder);
  },
);

test(
  "the code cache does not use a folder that other users created or can write to",
  { skip: isWindows },
  (context) => {
    const { home, cache } = place(context);
    mkdirSync(`${cache}-code`, { recursive: true });
    const code = `${cache}-code`;
    for (const mode of [0o777, 0o770, 0o702, 0o755]) {
      chmodSync(code, mode);
      assert.equal(codeFolder(cache), undefined, mode.toString(8));
    }
    chmodSync(code, 0o700);
    assert.equal(codeFolder(cache), code);
    for (const parent of [join(home, ".cache"), home]) {
      chmodSync(parent, 0o777);
      assert.equal(codeFolder(cache), undefined, parent);
      // As in /tmp: others may add, but not replace.
      chmodSync(parent, 0o1777);
      assert.equal(codeFolder(cache), code, parent);
      chmodSync(parent, 0o755);
    }
  },
);

test("the code cache does not follow a symbolic link", { skip: isWindows }, (context) => {
  const { home, cache } = place(context);
  mkdirSync(cache, { recursive: true });
  mkdirSync(join(home, "elsewhere"), 0o700);
  symlinkSync(join(home, "elsewhere"), `${cache}-code`);
  assert.equal(codeFolder(cache), undefined);
});

test(
  "the code cache does not use folders of another user",
  { skip: process.getuid?.() !== 0 && "only root can give files away" },
  (context) => {
    const { home, cache } = place(context);
    const code = codeFolder(cache)!;
    for (const path of [code, join(home, ".cache"), home]) {
      chownSync(path, 12_345, 12_345);
      assert.equal(codeFolder(cache), undefined, path);
      chownSync(path, 0, 0);
    }
    assert.equal(codeFolder(cache), code);
  },
);

test("the code cache works without a folder", () => {
  assert.equal(codeFolder(undefined), undefined);
  assert.equal(codeFolder("/proc/nothing/at/all"), undefined);
});

test(
  "the program writes no code cache to the temporary folder",
  { skip: isWindows },
  async (context) => {
    const { home, cache } = place(context);
    const temporary = join(home, "tmp");
    mkdirSync(temporary);
    const env: NodeJS.ProcessEnv = { ...process.env, HOME: home, TMPDIR: temporary };
    delete env["XDG_CACHE_HOME"];
    delete env["NODE_COMPILE_CACHE"];
    for (let round = 0; round < 2; round++)
      assert.equal((await runProgram(["--version"], { env })).exit, 0);
    assert.deepEqual(readdirSync(temporary), []);
    if (process.platform === "linux") assert.ok(existsSync(`${cache}-code`));
  },
);
