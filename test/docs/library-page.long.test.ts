import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const site = join(import.meta.dirname, "../../site");

test("the page of the library is generated from the code, and every type is documented", () => {
  const folder = mkdtempSync(join(tmpdir(), "library-"));
  const made = spawnSync("npx", ["typedoc", "--out", folder], { cwd: site, encoding: "utf8" });
  assert.equal(made.status, 0, made.stdout + made.stderr);
  const [fresh, kept] = [folder, join(site, "../docs/reference")].map((one) =>
    readFileSync(join(one, "library.md"), "utf8"),
  );
  rmSync(folder, { recursive: true });
  assert.equal(kept, fresh, "outdated: run npm run generate:api");
});
