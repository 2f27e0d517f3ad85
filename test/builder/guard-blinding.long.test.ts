import assert from "node:assert/strict";
import { test } from "node:test";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";

const NAME = "captive.apple.com";
const BLOCKS = [
  `||${NAME}^`,
  `||${NAME}^$important`,
  `|${NAME}^`,
  "||apple.com^",
  "||*.apple.com^$important",
  `0.0.0.0 ${NAME}`,
  "||captive.*.com^",
  "/^captive\\.apple\\./",
  `||${NAME}/`,
  `http://${NAME}`,
  "/captive.",
  "http*",
  "||*/",
];
/** What stands beside the block so that a guard takes the name for reachable, or the block for cancelled. */
const BLINDS = [
  "",
  `@@||${NAME}^$`,
  `@@||${NAME}^$,`,
  `@@${NAME}$`,
  `@@||${NAME}^$important,`,
  `@@||${NAME}^$ important`,
  `@@||${NAME}^$IMPORTANT`,
  `@@||${NAME}^$important\\,client=1.2.3.4`,
  `@@||${NAME}^$client=10.0.0.1`,
  `@@||${NAME}^$dnstype=TXT`,
  `@@||${NAME}^$dnsrewrite`,
  `@@||${NAME}^$third-party`,
  `@@||${NAME}.^`,
  `@@||${NAME}^ # note`,
  `@@||${NAME}^$denyallow=${NAME}`,
  `||${NAME}^$badfilter`,
  `||${NAME}^$ badfilter`,
  `||${NAME}^$\tbadfilter`,
  `||${NAME}^$important,badfilter`,
  `||${NAME}^$BADFILTER`,
  `0.0.0.0 ${NAME}$badfilter`,
  `! @@||${NAME}^`,
];
const CHAINS = [
  [],
  ["Validate"],
  ["RemoveModifiers"],
  ["RemoveComments", "Compress", "Validate", "Deduplicate"],
  ["TrimLines", "RemoveModifiers", "Compress", "Deduplicate"],
];

/** The list, if it was published. */
async function publish(lines: readonly string[], transformations: string[]): Promise<string> {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "N",
      sources: [
        { source: "own.txt", name: "Own" },
        { source: "other.txt", name: "Other", trust: "standard" },
      ],
      transformations,
    }),
    "own.txt": "||ads.example^\n",
    "other.txt": `${lines.join("\n")}\n`,
  });
  await project.run("compile", "-q", "-c", "c.json", "--no-cache");
  return project.memory.files.has("/project/rules/n.txt") ? project.text("rules/n.txt") : "";
}

test(
  "no other line can hide from the guards that a protected name is blocked",
  { skip: missingEngine },
  async (context) => {
    const engineOf = await adguardEngine();
    const blocked: string[] = [];
    let pairs = 0;
    let cases = 0;
    for (const block of BLOCKS)
      for (const blind of BLINDS) {
        pairs++;
        for (const [index, chain] of CHAINS.entries()) {
          // One chain after the other where there is little time.
          if (!isNightly && index !== pairs % CHAINS.length) continue;
          cases++;
          const lines = cases % 2 === 0 ? [block, blind] : [blind, block];
          const text = await publish(lines, chain);
          const byJudge = ListMatcher.of(text).isBlocked(NAME);
          if (byJudge || engineOf(text)(NAME) === "blocked")
            blocked.push(`${byJudge ? "both" : "engine"}: ${block} and ${blind} (${chain.join()})`);
        }
      }
    context.diagnostic(`${cases} spellings`);
    assert.deepEqual(blocked, []);
  },
);
