import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { NEWCOMER_MS } from "../support/newcomer.ts";

/** What test/support/container/image-test.sh found. */
interface Found {
  readonly size: number;
  readonly health: string;
  readonly metrics: number;
  readonly list: number;
  readonly healthcheck: number;
  readonly uid: number;
  readonly writes: string;
  readonly secret: number;
  readonly shells: number;
  readonly sbom: number;
  readonly stopped: number;
  readonly exit: number;
  readonly runs: number;
  readonly leaks: number;
  readonly once: number;
  readonly rules: number;
  /** Milliseconds from nothing to a compiled list, by the commands of the README. */
  readonly byPackage: number;
  readonly byExecutable: number;
  readonly byImage: number;
  /** How many of the three have the list that the README promises. */
  readonly newcomers: number;
}

/** How many packages a user installs with ours. */
function dependencyCount(): number {
  const path = join(import.meta.dirname, "../../package-lock.json");
  const { packages } = JSON.parse(readFileSync(path, "utf8")) as {
    packages: Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>;
  };
  return Object.entries(packages).filter(
    ([name, { dev, devOptional }]) => name !== "" && dev !== true && devOptional !== true,
  ).length;
}

test("the Dockerfile builds, and the image runs hardened, compiles on schedule and stops on SIGTERM", (context) => {
  const script = join(import.meta.dirname, "../support/container/image-test.sh");
  const { status, stdout, stderr } = spawnSync("bash", [script, process.execPath], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(status, 0, stderr.slice(-4000));
  const found = JSON.parse(stdout) as Found;
  context.diagnostic(JSON.stringify(found));
  const { size, stopped, runs, sbom, metrics, byPackage, byExecutable, byImage, ...rest } = found;
  assert.ok(size <= 160e6, `${size} bytes`);
  assert.ok(stopped <= 5000, `${stopped} ms from SIGTERM to the end`);
  assert.ok(runs >= 2, "scheduled compiles were seen");
  assert.ok(metrics > 20);
  for (const took of [byPackage, byExecutable, byImage])
    assert.ok(took <= NEWCOMER_MS, `${took} ms`);
  assert.equal(sbom, dependencyCount(), "the parts list has every dependency");
  assert.deepEqual(rest, {
    health: "healthy",
    list: 2,
    healthcheck: 0,
    uid: 65_532,
    writes: "/=EROFS /app=EROFS /config=EROFS /rules=writable /cache=writable /tmp=writable ",
    secret: "container-key-5512\n".length,
    shells: 0,
    newcomers: 3,
    exit: 0,
    leaks: 0,
    once: 0,
    rules: 2,
  });
});
