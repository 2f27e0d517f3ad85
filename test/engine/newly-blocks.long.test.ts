import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { Compilation } from "../../src/engine/compile.ts";
import type { CompiledList } from "../../src/engine/report.ts";
import { planOf } from "../../src/engine/plan.ts";
import { listFeatures } from "../../src/features/registry.ts";
import { randomList } from "../support/agreement/random-list.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { type Config, memoryHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { popularNames } from "../support/popularity/popular-names.ts";

const CASES = isNightly ? 5000 : 120;
const CHAINS = [[], ["Compress"], ["RemoveComments", "Validate", "Compress", "Deduplicate"]];
/** What devices ask for before they connect, and clients: two that some rules name, and one that none does. */
const TYPES = ["A", "AAAA", "HTTPS"];
const CLIENTS = ["10.0.0.1", "device_pc", "10.0.0.9"];

interface Published {
  readonly text: string;
  readonly list: CompiledList;
}

async function compiled(
  config: Config,
  files: Readonly<Record<string, string>>,
  path?: string,
): Promise<Published> {
  let text = "";
  const host = memoryHost({ files });
  const sink = (bytes: Uint8Array): void => void (text += new TextDecoder().decode(bytes));
  const compilation = new Compilation(planOf(config, { features: listFeatures }), host, sink, {});
  await compilation.fetch();
  const list = await compilation.compile({ path });
  list.close();
  return { text, list };
}

function blocks(
  matcher: ListMatcher,
  name: string,
  types = TYPES,
  quantor: "some" | "every" = "some",
): boolean {
  return types[quantor]((type) =>
    CLIENTS[quantor]((client) =>
      ["blocked", "rewritten"].includes(matcher.answer(name, type, client)),
    ),
  );
}

/** What the published list blocks for some only is new if another rule blocks it. */
function isNewlyBlocked(name: string, old: ListMatcher, next: ListMatcher): boolean {
  if (!blocks(next, name) || blocks(old, name, ["A", "AAAA"], "every")) return false;
  if (!blocks(old, name)) return true;
  const known = new Set(old.matching(name).map(({ text }) => text));
  return next.matching(name).some((rule) => {
    if (rule.isAllow || known.has(rule.text)) return false;
    return TYPES.some((type) => CLIENTS.some((client) => rule.isFor(type, client)));
  });
}

function hasClientException(matcher: ListMatcher, name: string): boolean {
  return matcher.matching(name).some(({ isAllow, isForClients }) => isAllow && isForClients);
}

test(`${CASES} random pairs of lists: newly_blocks keeps reachable what was not blocked before`, async () => {
  const first = seedFrom(process.env["FUZZ_SEED"]);
  let found = 0;
  let kept = 0;
  for (let seed = first; seed < first + CASES; seed++) {
    const random = new Random(seed);
    const before = randomList(seed, { names: 40 });
    const now = randomList(seed + 7_000_000, { names: 40 });
    const lines = [...before.lines.filter(() => random.chance(0.8)), ...now.lines];
    const popular = popularNames([...before.names, ...now.names], random);
    const top = 1 + random.below(popular.length);
    const acknowledged = popular.filter(() => random.chance(0.1));
    const config: Config = {
      name: "N",
      sources: [{ source: "list.txt", type: "adblock", trust: "standard" }],
      ranks: [{ source: "top.csv" }],
      transformations: random.pick(CHAINS),
      guards: { newly_blocks: top, may_block: acknowledged },
    };
    const unguarded: Config = { ...config, ranks: [], guards: {} };
    const published = await compiled(unguarded, { "list.txt": before.lines.join("\n") });
    const files = {
      "list.txt": lines.join("\n"),
      "top.csv": popular.map((name, index) => `${index + 1},${name}`).join("\n"),
      "out.txt": published.text,
    };
    const { text } = await compiled(unguarded, files, "/project/out.txt");
    const dropping = await compiled(config, files, "/project/out.txt");
    const [old, next] = [ListMatcher.of(published.text), ListMatcher.of(text)];
    const rest = ListMatcher.of(dropping.text);
    const ranks = new Map([...new Set(popular)].map((name) => [name, popular.indexOf(name) + 1]));
    const isPermitted = (name: string): boolean =>
      acknowledged.some((one) => name === one || name.endsWith(`.${one}`));
    const watched = Array.from(ranks, ([name, rank]) => ({ name, rank })).filter(
      ({ name, rank }) => rank <= top && !isPermitted(name),
    );
    // Which clients a rule is for is not known: a block for some counts, whatever exceptions they have.
    for (const { name } of watched)
      if (!hasClientException(old, name))
        assert.ok(!isNewlyBlocked(name, old, rest), `FUZZ_SEED=${seed}: ${name} is blocked`);
    const expected = watched.filter(({ name }) => isNewlyBlocked(name, old, next));
    found += expected.length;
    const said = dropping.list.diagnostics.filter(({ code }) => code === "popular-kept");
    const exact = expected.filter(
      ({ name }) =>
        ![old, next].some((one) => one.matching(name).some(({ isForClients }) => isForClients)),
    );
    assert.ok(exact.length === 0 || said.length === 1, `FUZZ_SEED=${seed}: nothing is said`);
    const names = new Set(watched.map(({ name }) => name));
    const stayed = new Set(dropping.text.split("\n"));
    const missing = text.split("\n").filter((line) => !stayed.has(line));
    const gone = new ListMatcher(missing);
    for (const name of [...before.names, ...now.names]) {
      if (!names.has(name) && gone.matching(name).length === 0 && !ranks.has(name)) {
        assert.equal(rest.meaning(name), next.meaning(name), `FUZZ_SEED=${seed}: ${name}`);
        kept++;
      }
    }
  }
  assert.ok(found > CASES, `${found} names found`);
  assert.ok(kept > CASES * 10, `${kept} names kept`);
});
