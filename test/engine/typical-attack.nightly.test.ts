import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { getDomain } from "tldts";
import { compile, nodeHost } from "../support/internals.ts";
import { PROTECTED_NAMES } from "../../src/engine/protected-names.ts";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { corpusConfigInPlace, missingCorpus } from "../support/corpus.ts";
import { Random } from "../support/random.ts";

const SAMPLE = 20_000;
const CHAIN = ["RemoveComments", "Compress", "Validate", "Deduplicate", "InsertFinalNewLine"];

/** Ends that make a rule dead in AdGuard's engines; the first stands for most of the rules. */
const ENDS = ["$", "$", "$", "$", "$,", "$,,", "$$", "$,$"];

type Sources = ReturnType<typeof corpusConfigInPlace>["sources"];
type Source = Sources[number] & { trust?: "block-only" };

async function listOf(sources: readonly Source[]): Promise<string> {
  const config = { name: "Typical", sources: [...sources], transformations: CHAIN };
  const result = await compile(config, { host: nodeHost() });
  result.close();
  return new TextDecoder().decode(result.bytes);
}

/** Whether a rule for the name would block a protected name. */
function isProtected(host: string): boolean {
  return PROTECTED_NAMES.some((name) => name === host || name.endsWith(`.${host}`));
}

function hostsOf(list: string): string[] {
  return list.split("\n").flatMap((line) => /^\|\|([a-z0-9_.-]+)\^$/.exec(line)?.[1] ?? []);
}

test(
  "a source of dead rules does not change what AdGuard's engine blocks with the typical lists",
  { timeout: 1_500_000, skip: missingCorpus || missingEngine },
  async (context) => {
    const engineOf = await adguardEngine();
    const { sources } = corpusConfigInPlace();
    const before = await listOf(sources);
    const hosts = hostsOf(before);
    const isBlocked = engineOf(before);
    const random = new Random(20_261_116);
    const names = random
      .times(SAMPLE, () => random.pick(hosts))
      .filter((name) => isBlocked(name) === "blocked");
    assert.ok(names.length > SAMPLE * 0.99, `${names.length} of ${SAMPLE} are blocked at first`);
    // A source with rules for many protected names is refused as a whole; this one is more careful.
    const careful = hosts.filter((host) => !isProtected(host));
    const domains = new Set(hosts.flatMap((host) => getDomain(host) ?? []));
    const folder = mkdtempSync(join(tmpdir(), "typical-attack-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "evil.txt");
    const evil: Source = { name: "Evil", source: path, type: "adblock", trust: "block-only" };
    for (const [what, lines, order] of [
      [
        "last, a dead rule for every domain",
        [...domains].filter((host) => !isProtected(host)),
        [...sources, evil],
      ],
      ["first, a dead rule for every rule", careful, [evil, ...sources]],
    ] as const) {
      writeFileSync(
        path,
        lines.map((host, index) => `||${host}^${ENDS[index % ENDS.length]}\n`).join(""),
      );
      const verdict = engineOf(await listOf(order));
      const lost = names.filter((name) => verdict(name) !== "blocked");
      context.diagnostic(`${what}: ${lost.length} of ${names.length} names lost`);
      assert.deepEqual(lost.slice(0, 10), [], `${what}: ${lost.length} lost`);
    }
  },
);
