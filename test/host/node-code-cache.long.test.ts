import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { codeFolder } from "../../src/host/node-code-cache.ts";
import { PROGRAM, runProgram } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "../..");
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
      assert.equal((await runProgram(["--help"], { env })).exit, 0);
    assert.deepEqual(readdirSync(temporary), []);
    if (process.platform === "linux") assert.ok(existsSync(`${cache}-code`));
  },
);

/** Runs the program in a home of its own, and tells which code it has stored. */
async function storedBy(
  { home, cache }: { home: string; cache: string },
  ...words: string[]
): Promise<{ exit: number | string; stored: string[] }> {
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: home };
  delete env["XDG_CACHE_HOME"];
  const { exit } = await runProgram(words, { env });
  const stored = readdirSync(`${cache}-code`).filter((name) => name.includes(".cjs."));
  return { exit, stored: stored.toSorted() };
}

test(
  "the code of each command is stored once, after a run that succeeds",
  { skip: isWindows },
  async (context) => {
    const at = place(context);
    const list = join(at.home, "list.txt");
    writeFileSync(list, "||ads.example^\n");
    assert.deepEqual((await storedBy(at, "lint", "--no-such-option")).stored, []);
    const linted = await storedBy(at, "lint", list);
    assert.equal(linted.exit, 0);
    assert.ok(linted.stored.some((name) => /^program-\S+\.cjs\.start\./.test(name)));
    assert.ok(linted.stored.some((name) => /^lint-\S+\.cjs\.lint\./.test(name)));
    const places = linted.stored.map((name) => join(`${at.cache}-code`, name));
    const before = places.map((path) => statSync(path).mtimeMs);
    assert.deepEqual((await storedBy(at, "lint", list)).stored, linted.stored);
    assert.deepEqual(
      places.map((path) => statSync(path).mtimeMs),
      before,
    );
    const helped = await storedBy(at, "--help");
    assert.ok(helped.stored.length >= linted.stored.length);
  },
);

test(
  "damaged code is not run, and code of other versions is removed",
  { skip: isWindows },
  async (context) => {
    const at = place(context);
    const list = join(at.home, "list.txt");
    writeFileSync(list, "||ads.example^\n");
    const { stored } = await storedBy(at, "lint", list);
    for (const name of stored) {
      const path = join(`${at.cache}-code`, name);
      const code = readFileSync(path);
      for (let byte = 64; byte < code.length; byte += 7) code[byte]! ^= 0x55;
      writeFileSync(path, code);
      writeFileSync(path.replace(/-[\w-]{8}\.cjs/, "-00000000.cjs"), "old");
    }
    assert.deepEqual(await storedBy(at, "lint", list), { exit: 0, stored });
    for (const name of stored)
      assert.notEqual(readFileSync(join(`${at.cache}-code`, name), "utf8"), "old");
  },
);

test(
  "the code of another text of the same length is not run",
  { skip: isWindows },
  async (context) => {
    const { home } = place(context);
    const dist = join(home, "package/dist");
    cpSync(join(PROGRAM, "../.."), dist, { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(home, "package/node_modules"));
    writeFileSync(join(home, "package/package.json"), '{"type":"module"}');
    const list = join(home, "list.txt");
    writeFileSync(list, "||ads.example^\n");
    const env: NodeJS.ProcessEnv = { ...process.env, HOME: home };
    delete env["XDG_CACHE_HOME"];
    const lint = (): string => {
      const words = [join(dist, "cli/bin.js"), "lint", list];
      const { stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
      return stdout + stderr;
    };
    const before = lint();
    assert.match(before, /0 errors, /);
    for (const name of readdirSync(join(dist, "chunks"))) {
      const path = join(dist, "chunks", name);
      if (name.endsWith(".cjs"))
        writeFileSync(
          path,
          readFileSync(path, "latin1").replaceAll('errors, "error"', 'errors, "ERROR"'),
        );
    }
    assert.equal(lint(), before.replace("errors", "ERRORs"));
  },
);
