import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";

/** The crate, built by cargo and run: it starts the program with the arguments it gets, and ends with its exit code. */
const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "crate-"));
after(() => rmSync(folder, { recursive: true }));

const hasCargo = spawnSync("cargo", ["--version"]).status === 0;
const skip = !hasCargo && "cargo is not installed";

function built(crate: string): string {
  const target = join(folder, `target-${crate.length}`);
  // Debian's cargo may be older than what the crate promises to work with.
  const words = ["build", "--release", "--offline", "--quiet", "--ignore-rust-version"];
  execFileSync("cargo", [...words, "--target-dir", target], { cwd: crate, stdio: "inherit" });
  rmSync(join(crate, "Cargo.lock"), { force: true });
  return join(target, "release/rules-compiler");
}

test(
  "in a clone, the release binary compiles, validates and hands on the exit code",
  { skip },
  () => {
    const program = built(join(root, "packaging/cargo"));
    writeFileSync(join(folder, "a.txt"), "||ads.example^\n");
    const source = { name: "a", source: "a.txt", type: "adblock" };
    writeFileSync(join(folder, "one.json"), JSON.stringify({ name: "One", sources: [source] }));
    const run = (...words: string[]): ReturnType<typeof spawnSync> =>
      spawnSync(program, words, { cwd: folder, encoding: "utf8" });
    const compiled = run("-c", "one.json", "--no-cache");
    assert.equal(compiled.status, 0, String(compiled.stderr));
    assert.match(readFileSync(join(folder, "rules/one.txt"), "utf8"), /^\|\|ads\.example\^$/m);
    const missing = run("-c", "none.json");
    assert.equal(missing.status, 2);
    assert.match(String(missing.stderr), /Configuration file not found: none\.json/);
  },
);

test(
  "elsewhere, it starts the executable in PATH, never itself, and says what is missing",
  { skip },
  () => {
    const crate = join(folder, "away/one/two");
    mkdirSync(dirname(crate), { recursive: true });
    cpSync(join(root, "packaging/cargo"), crate, { recursive: true });
    const program = built(crate);
    const own = join(folder, "own");
    const other = join(folder, "other");
    for (const place of [own, other]) mkdirSync(place);
    symlinkSync(program, join(own, "rules-compiler"));
    const run = (PATH: string): ReturnType<typeof spawnSync> =>
      spawnSync(join(own, "rules-compiler"), ["--version", "a b"], {
        encoding: "utf8",
        env: { ...process.env, PATH },
      });
    const none = run(own);
    assert.equal(none.status, 127);
    assert.match(String(none.stderr), /not found\n.*Install Node 22 or newer, Deno 2 or Bun/);
    writeFileSync(join(other, "rules-compiler"), '#!/bin/sh\necho "$#:$2"\nexit 7\n', {
      mode: 0o755,
    });
    const found = run(`${own}:${other}`);
    assert.deepEqual([found.status, found.stdout], [7, "2:a b\n"]);
    rmSync(join(other, "rules-compiler"));
    // Without an executable, the npm package of the same version.
    writeFileSync(join(other, "npx"), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    assert.equal(run(`${own}:${other}`).stdout, "--yes rules-compiler@0.0.0 --version a b\n");
  },
);
