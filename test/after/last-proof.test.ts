import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  type ResolverProof,
  readProof,
  rememberProofs,
  rememberUndone,
} from "../../src/builder/state/list-state.ts";
import { HookState } from "../../src/after/hooks.ts";
import { NO_NAMES } from "../../src/resolvers/resolver-check.ts";
import { nodeHost } from "../../src/host/node.ts";

const AT = "2026-01-01T00:00:00.000Z";
const PROOF: Omit<ResolverProof, "since" | "lastProved"> = {
  outcome: "proved",
  detail: "",
  build: "0123456789ab",
  at: AT,
  latencyMs: 1,
};

function project(): { list: string; state: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "last-proof-"));
  const state = join(folder, ".rules-compiler");
  mkdirSync(state);
  return {
    list: join(folder, "list.txt"),
    state,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

test("temporary files of killed runs are removed, those of other lists are not", async () => {
  using one = project();
  const host = nodeHost();
  for (const name of ["list.txt.proof.json.nk3987va.tmp", "list.txt.hooks.json.a1.tmp"])
    writeFileSync(join(one.state, name), "{");
  writeFileSync(join(one.state, "list.txt.proof.json.proof.json.a1.tmp"), "{");
  const proofs = new Map([["it", PROOF]]);
  await rememberProofs(one.list, { proofs, known: new Set(["it"]), names: NO_NAMES }, host);
  const state = await HookState.open(one.list, host);
  await state.set("key", { health: "good" });
  assert.deepEqual(readdirSync(one.state).toSorted(), [
    "list.txt.hooks.json",
    "list.txt.proof.json",
    "list.txt.proof.json.proof.json.a1.tmp",
  ]);
});

test("a run whose temporary file another run removes writes again", async () => {
  using one = project();
  const real = nodeHost();
  let removals = 2;
  const rename = async (from: string, to: string): Promise<void> => {
    if (removals-- > 0) rmSync(from);
    await real.rename(from, to);
  };
  const now = (): Date => new Date(AT);
  await rememberUndone(one.list, "0123456789ab", "why", { ...real, rename, now });
  const undone = { build: "0123456789ab", times: [AT], reason: "why" };
  assert.deepEqual((await readProof(one.list, real)).undone, [undone]);
  assert.deepEqual(readdirSync(one.state), ["list.txt.proof.json"]);
});
