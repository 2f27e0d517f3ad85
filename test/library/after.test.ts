import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import {
  type BuildRequest,
  CompilerError,
  type HoldRequest,
  type RollbackRequest,
  build,
  hold,
  prove,
  rollback,
} from "../../src/index.ts";

/** What a rollback would ignore; the types do not accept it. */
type Ignored = keyof (RollbackRequest | HoldRequest) &
  keyof Pick<BuildRequest, "lock" | "offline" | "memory" | "accept" | "record" | "waitMs">;
const hasNone: [Ignored] extends [never] ? true : false = true;

test("the library runs hooks, asks resolvers, rolls back and holds as the commands do", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "library-after-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const code = `require("fs").appendFileSync("said", process.env.RULES_COMPILER_EVENT + " ")`;
  const config = {
    name: "L",
    sources: [{ source: "a.txt", type: "adblock" }],
    after: [{ run: [process.execPath, "-e", code], on: ["published", "degraded"] }],
    resolvers: [{ name: "nobody", address: "127.0.0.1:9" }],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const lines = (...names: string[]): void =>
    writeFileSync(join(folder, "a.txt"), names.map((name) => `||${name}.example^\n`).join(""));
  const list = (): string => readFileSync(join(folder, "rules/l.txt"), "utf8");
  const said = (): string => readFileSync(join(folder, "said"), "utf8");
  const codes: string[] = [];
  const request = {
    config: join(folder, "c.json"),
    rulesDir: join(folder, "rules"),
    cacheDir: false,
    waitMs: 0,
    onEvent: (event: { kind: string; diagnostic?: { code: string } }) => {
      if (event.diagnostic !== undefined) codes.push(event.diagnostic.code);
    },
  } as const;
  const permit = ["hooks"] as const;

  lines("a", "b");
  const plain = await build(request);
  assert.deepEqual([plain.status, plain.proofs, codes], ["published", [], ["hooks-skipped"]]);
  assert.ok(!existsSync(join(folder, "said")));

  codes.length = 0;
  const built = await build({ ...request, permit });
  assert.deepEqual([built.status, built.proofs[0]?.outcome], ["unchanged", "unreachable"]);
  assert.deepEqual([plain.isProved, built.isProved], [true, false]);
  assert.equal(said(), "published degraded ");
  assert.deepEqual(codes, ["hook-ran", "resolver-unreachable", "hook-ran"]);

  lines("a", "b", "c");
  assert.equal((await build(request)).status, "published");
  const back = await rollback({ ...request, permit });
  assert.deepEqual([back.status, back.lists[0]!.report!.rules, back.proofs], ["published", 3, []]);
  assert.doesNotMatch(list(), /c\.example/);
  assert.equal(said(), "published degraded published ");

  const held = await hold({ ...request, permit });
  assert.deepEqual([held.list, held.isHeld], ["L", true]);
  assert.equal((await build(request)).status, "held");
  assert.doesNotMatch(list(), /c\.example/);
  assert.deepEqual(await hold({ ...request, end: true }), { list: "L", isHeld: false });
  assert.equal((await build(request)).status, "published");
  assert.match(list(), /c\.example/);
  assert.equal((await hold({ ...request, build: "@1" })).isHeld, true);
  assert.doesNotMatch(list(), /c\.example/);

  const [proof] = await prove(request);
  assert.deepEqual([proof!.resolver, proof!.outcome], ["nobody", "unreachable"]);
  assert.ok(hasNone);
  const none = { ...request, config: { name: "L", sources: [] } };
  await assert.rejects(prove(none), CompilerError);
});
