import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ListRules, SearchedNames, partsOf } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/why.ts";
import { memoryHost } from "../support/internals.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";
import { Random } from "../support/random.ts";
import { compileRecorded } from "../support/recorded.ts";
import { isNightly } from "../support/nightly.ts";

const SETS = isNightly ? 2000 : 100;
const NAMES = 520;

/** As much of AdGuard's engine as is used: a black box. */
interface Engine {
  match(name: string): { basicRule: { isAllowlist(): boolean } | null; hostRules: unknown[] };
}
interface EngineModule {
  readonly DnsEngine: new (storage: unknown) => Engine;
  readonly RuleStorage: new (lists: unknown[]) => unknown;
  readonly StringRuleList: new (
    id: number,
    text: string,
    ignoreCosmetic: boolean,
    ignoreJs: boolean,
  ) => unknown;
}

async function engineModule(): Promise<EngineModule> {
  const path = join(
    import.meta.dirname,
    "../oracle/node_modules/@adguard/tsurlfilter/dist/es/index.js",
  );
  return (await import(pathToFileURL(path).href)) as EngineModule;
}

/** Names close to each other, so that parents, siblings and lookalikes meet. */
function name(random: Random): string {
  const labels = ["a", "b", "ads", "x1", "www", "cdn"];
  const domains = ["one.com", "two.net", "ads.com", "three.co.uk"];
  const depth = random.below(4);
  return [...Array.from({ length: depth }, () => random.pick(labels)), random.pick(domains)].join(
    ".",
  );
}

/** Rules of the kinds that both engines know; see the notes on the oracle for what is left out. */
function rule(random: Random, known: readonly string[]): string {
  const host = name(random);
  const kinds: (() => string)[] = [
    () => `||${host}^`,
    () => `||${host}^`,
    () => `0.0.0.0 ${host}`,
    () => `@@||${host}^`,
    () => `||${host}^$important`,
    () => `@@||${host}^$important`,
    () => `||*.${host}^`,
    () => `|${host}^`,
    () => `||${host}^$denyallow=${name(random)}|${name(random)}`,
    () => `/^${random.pick(["ads", "a", "x1"])}\\./`,
    () => `||${random.pick(["a", "ads", "b"])}.*.com^`,
  ];
  const rules = known.filter((text) => text.startsWith("||") && !/denyallow|badfilter/.test(text));
  if (rules.length > 0 && random.chance(0.06)) {
    const text = random.pick(rules);
    return text.includes("$") ? `${text},badfilter` : `${text}$badfilter`;
  }
  return random.pick(kinds)();
}

test(
  `our answers for ${SETS} lists with ${NAMES} names each agree with a naive matcher and AdGuard's engine`,
  { timeout: 600_000 },
  async (context) => {
    const { DnsEngine, RuleStorage, StringRuleList } = await engineModule();
    let pairs = 0;
    let blocked = 0;
    for (let seed = 1; seed <= SETS; seed++) {
      const random = new Random(seed);
      const rules: string[] = [];
      for (let count = 6 + random.below(18); count > 0; count--) rules.push(rule(random, rules));
      const text = `${rules.join("\n")}\n`;
      const host = memoryHost({ files: { "a.txt": text } });
      const config = {
        name: "N",
        sources: [{ source: "a.txt", name: "A", type: "adblock" as const }],
      };
      const { result, record } = await compileRecorded(config, { host, compat: true });
      const mapped = await ListRules.of(record, new MappedNames(result.bytes, record));
      const searched = await ListRules.of(
        record,
        new SearchedNames(record, partsOf(result.bytes, record)),
      );
      const naive = naiveRules(rules);
      const engine = new DnsEngine(new RuleStorage([new StringRuleList(0, text, true, true)]));
      for (let count = 0; count < NAMES; count++) {
        const asked = name(random);
        const { basicRule, hostRules } = engine.match(asked);
        const theirs = basicRule === null ? hostRules.length > 0 : !basicRule.isAllowlist();
        const answer = mapped.answer(asked);
        const ours = answer.verdict === "blocked";
        const what = `seed ${seed}, ${asked}, ${answer.by?.text}:\n${text}`;
        assert.equal(ours, theirs, `AdGuard's engine, ${what}`);
        assert.equal(isBlocked(naive, asked), ours, `naive, ${what}`);
        if (count < 20) assert.deepEqual(searched.answer(asked).verdict, answer.verdict, what);
        pairs++;
        if (ours) blocked++;
      }
    }
    context.diagnostic(`${pairs} pairs of list and name, ${blocked} blocked: 0 differences`);
    assert.ok(blocked > pairs / 5, "the names are close to the rules");
  },
);
