import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { type Config, compile, nodeHost } from "../support/internals.ts";
import { checkAccount } from "../support/account.ts";
import { Random, seedFrom } from "../support/random.ts";
import { type Case, randomCase } from "./random-config.ts";

/** The reference compiler as a black box; `npm run oracle` installs it. It runs on Node only. */
const ORACLE = join(import.meta.dirname, "../oracle");
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const isThere = existsSync(join(ORACLE, "node_modules/@adguard/hostlist-compiler"));
const skip = !isNode
  ? "the reference runs on Node"
  : !isThere && "NOT INSTALLED: run `npm run oracle` first";

test(
  "random configurations compile to the same list as with the reference",
  { skip },
  async (context) => {
    const seed = seedFrom(process.env["FUZZ_SEED"]);
    const count = Number(process.env["FUZZ_CONFIGS"] ?? 300);
    const reference = loadReference();
    const random = new Random(seed);
    let lines = 0;
    for (let index = 0; index < count; index++) {
      const sample = randomCase(random);
      const { expected, actual } = await compileBoth(reference, sample);
      lines += actual.length;
      const at = firstDifference(actual, expected);
      if (at === -1) continue;
      await writeFile(join(tmpdir(), "difference.json"), JSON.stringify(sample, undefined, 2));
      assert.deepEqual(
        actual.slice(at, at + 3),
        expected.slice(at, at + 3),
        `seed ${seed}, configuration ${index}, line ${at}: ${JSON.stringify(sample.config)}`,
      );
    }
    context.diagnostic(
      `seed ${seed}: ${count} configurations, ${lines} lines of output, 0 differences`,
    );
    assert.ok(lines > count * 5, "the comparison saw real lists");
  },
);

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) if (a[at] !== b[at]) return at;
  return -1;
}

type Reference = (config: Config) => Promise<string[]>;

function loadReference(): Reference {
  const require = createRequire(join(ORACLE, "x.js"));
  const consola = require("consola") as { level: number };
  consola.level = -1;
  return require("@adguard/hostlist-compiler") as Reference;
}

async function compileBoth(
  reference: Reference,
  { config, files }: Case,
): Promise<{ expected: string[]; actual: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "differential-"));
  const before = process.cwd();
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    process.chdir(folder);
    const expected = await reference(config);
    const result = await compile(config, { host: { ...nodeHost(), cwd: folder }, compat: true });
    checkAccount(result);
    return {
      expected: expected.map(plain),
      actual: new TextDecoder("utf-8", { ignoreBOM: true })
        .decode(result.bytes)
        .split("\n")
        .map(plain),
    };
  } finally {
    process.chdir(before);
    await rm(folder, { recursive: true });
  }
}

function plain(line: string): string {
  return line
    .replace(/^! Last modified: .*/, "! Last modified")
    .replace(/^! Compiled by .*/, "! Compiled by");
}
