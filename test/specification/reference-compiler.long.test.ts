import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { compile, nodeHost } from "../support/internals.ts";
import { checkAccount } from "../support/account.ts";
import { Random, seedFrom } from "../support/random.ts";
import {
  type Reference,
  loadReference,
  missingReference,
  plainLine,
} from "../support/reference-compiler.ts";
import { type Case, randomCase } from "../support/differential/random-config.ts";

test(
  "random configurations compile to the same list as with the reference",
  { skip: missingReference },
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
      expected: expected.map(plainLine),
      actual: new TextDecoder("utf-8", { ignoreBOM: true })
        .decode(result.bytes)
        .split("\n")
        .map(plainLine),
    };
  } finally {
    process.chdir(before);
    await rm(folder, { recursive: true });
  }
}
