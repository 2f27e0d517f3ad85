import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import type { Host } from "../../src/host/host.ts";
import { memoryHost } from "../support/internals.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";
import { packingHost } from "../support/packing-host.ts";
import { Random } from "../support/random.ts";

interface Limits {
  readonly max_queries?: number;
  readonly max_percent?: number;
}

/** A database of Pi-hole without queries. */
const queryDatabase: Host["queryDatabase"] = async (_path, query) =>
  query.includes("pragma_table_info")
    ? [{ name: "id" }, { name: "domain" }]
    : [{ first: null, last: null }];

/** Two lists of one source each, the second with the same rules. */
function project(limits: Limits): {
  memory: ReturnType<typeof memoryHost>;
  write: (file: string, lines: readonly string[]) => void;
  say: (...words: string[]) => Promise<{ exit: number; said: string }>;
  logsOpened: () => number;
} {
  const memory = memoryHost({
    files: {
      "c.json": JSON.stringify({
        name: "All",
        sources: [{ source: "own.txt", type: "adblock" }],
        lists: [{ name: "One" }, { name: "Two" }],
        guards: {
          min_rules: 0,
          max_shrink: 100,
          max_growth: 1e6,
          breaks_traffic: { logs: ["logs/queries.log"], ...limits },
        },
      }),
    },
  });
  let count = 0;
  const packing = packingHost(memory);
  const openFile: Host["openFile"] = async (path) => {
    if (path.endsWith("queries.log")) count++;
    return await packing.openFile(path);
  };
  const host = Object.assign(Object.create(packing) as Host, { openFile, queryDatabase });
  return {
    memory,
    logsOpened: () => count,
    write: (file, lines) =>
      void memory.files.set(`/project/${file}`, Buffer.from(`${lines.join("\n")}\n`)),
    async say(...words) {
      memory.output.stdout = memory.output.stderr = "";
      const exit = await run([...words, "-c", "c.json"], host, new AbortController().signal);
      return { exit, said: memory.output.stdout + memory.output.stderr };
    },
  };
}

const DOMAINS = ["one.com", "two.com", "six.co.uk", "x.one.com"];

function rules(random: Random): string[] {
  const all = DOMAINS.map((name) => `||${name}^`).concat(DOMAINS.map((name) => `@@||b.${name}^`));
  return ["||always.example^", ...all.filter(() => random.chance(0.4))];
}

test("a list is refused exactly if it newly blocks too many queries of the log", async () => {
  const random = new Random(3);
  let [refused, passed] = [0, 0];
  for (let round = 0; round < 25; round++) {
    const limits: Limits = random.pick([
      {},
      { max_queries: random.below(6) },
      { max_percent: random.below(50) },
      { max_queries: random.below(6), max_percent: random.below(50) },
    ]);
    const { say, write, memory, logsOpened } = project(limits);
    const [before, now] = [rules(random), rules(random)];
    const asked = Array.from(
      { length: 1 + random.below(20) },
      (_, at) => `q${at}.${random.pick(["a.", "b.", ""])}${random.pick(DOMAINS)}`,
    );
    write("logs/queries.log", asked);
    write("own.txt", before);
    assert.equal((await say()).exit, 0, "the first list is not checked");
    write("own.txt", now);
    const [old, fresh] = [naiveRules(before), naiveRules(now)];
    const broken = asked.filter((name) => !isBlocked(old, name) && isBlocked(fresh, name)).length;
    const { max_queries = Infinity } = limits;
    const max_percent = limits.max_percent ?? (limits.max_queries === undefined ? 1 : Infinity);
    const isTooMuch = broken > max_queries || broken / asked.length > max_percent / 100;
    const opened = logsOpened();
    const { exit, said } = await say("--json");
    assert.equal(
      exit,
      isTooMuch ? 5 : 0,
      `${broken} of ${asked.length} ${JSON.stringify(limits)}\n${said}`,
    );
    if (before.join("\n") !== now.join("\n")) assert.equal(logsOpened(), opened + 1);
    if (!isTooMuch) {
      passed++;
      continue;
    }
    refused++;
    assert.match(said, new RegExp(`would newly block ${broken} of `));
    assert.doesNotMatch((await say("-v")).said + said, /\bq\d+\./, "no name is shown");
    for (const [path, bytes] of memory.files)
      if (!path.endsWith("queries.log"))
        assert.doesNotMatch(Buffer.from(bytes).toString("latin1"), /\bq\d+\./, path);
    assert.equal((await say("plan")).exit, 5);
    assert.equal((await say("--accept", "breaks-traffic")).exit, 0);
  }
  assert.ok(refused > 5 && passed > 5, `${refused} refused, ${passed} passed`);
});

test("a log that cannot be read refuses the list until that is accepted", async () => {
  const { say, write } = project({});
  write("own.txt", ["||one.com^"]);
  assert.equal((await say()).exit, 0);
  write("own.txt", ["||one.com^", "||two.com^"]);
  const { exit, said } = await say();
  assert.equal(exit, 5, said);
  assert.match(
    said,
    /breaks-traffic\]: One: Cannot tell which queries the list would newly block[^]*queries\.log/,
  );
  assert.equal((await say("--accept", "breaks-traffic")).exit, 0);
});

test("a log without queries cannot judge a list: it is published with a warning", async () => {
  for (const limits of [{}, { max_queries: 0 }, { max_percent: 0 }, { max_percent: 100 }])
    for (const log of [[], ["# no names"], ["SQLite format 3\0"]]) {
      const { say, write, memory } = project(limits);
      write("logs/queries.log", log);
      write("own.txt", ["||one.com^"]);
      const first = await say();
      assert.deepEqual([first.exit, first.said.includes("traffic-empty")], [0, false]);
      write("own.txt", ["||one.com^", "||two.com^"]);
      const { exit, said } = await say();
      assert.equal(exit, 0, said);
      assert.match(said, /warning\[traffic-empty\]: .*The log has no queries/);
      assert.doesNotMatch(said, /NaN|Infinity/);
      const published = memory.files.get("/project/rules/one.txt")!;
      assert.match(Buffer.from(published).toString(), /two\.com/);
    }
});
