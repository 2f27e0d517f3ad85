import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import type { Host } from "../../src/host/host.ts";
import { memoryHost } from "../support/internals.ts";
import { type NaiveRule, isBlocked, naiveRules } from "../support/naive-matcher.ts";
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

/** Two lists of the same three sources. */
function project(
  limits: Limits,
  transformations: readonly string[] = [],
): {
  memory: ReturnType<typeof memoryHost>;
  write: (file: string, lines: readonly string[]) => void;
  say: (...words: string[]) => Promise<{ exit: number; said: string }>;
  logsOpened: () => number;
} {
  const memory = memoryHost({
    files: {
      "c.json": JSON.stringify({
        name: "All",
        sources: [
          { source: "own.txt", type: "adblock" },
          { source: "a.txt", type: "adblock", trust: "standard" },
          { source: "b.txt", type: "adblock", trust: "standard" },
        ],
        transformations,
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

/** The rules of the first list. */
function rulesOf({ files }: ReturnType<typeof memoryHost>): string[] {
  const text = Buffer.from(files.get("/project/rules/one.txt")!).toString();
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

const DOMAINS = ["one.com", "two.com", "six.co.uk", "x.one.com"];

/** The sources below full trust. */
const WEAK = ["a.txt", "b.txt"] as const;
type Texts = Readonly<Record<"own.txt" | (typeof WEAK)[number], readonly string[]>>;

/** Exceptions are in the user's own file: those of other sources have limits of their own. */
function texts(random: Random): Texts {
  const some = (lines: readonly string[], share: number): string[] =>
    lines.filter(() => random.chance(share));
  const exceptions = DOMAINS.map((name) => `@@||b.${name}^`);
  const blocks = DOMAINS.map((name) => `||${name}^`);
  const forms = ["||one.com^$important", "/^q[0-6]\\.two\\.com$/", "0.0.0.0 two.com rare.example"];
  const weak = (): string[] => {
    const lines = some([...blocks, ...forms], 0.3);
    return [...lines, ...some(lines, 0.5)];
  };
  return {
    "own.txt": ["||always.example^", ...some(exceptions, 0.4), ...some(blocks, 0.3)],
    "a.txt": ["||a.example^", ...weak()],
    "b.txt": ["||b.example^", ...weak()],
  };
}

/** The lines of a source that newly block queries, and how many. */
function offence(
  lines: readonly string[],
  broken: readonly string[],
  old: readonly NaiveRule[],
): { lines: ReadonlySet<string>; names: ReadonlySet<string>; queries: number } {
  const found = new Set<string>();
  const names = new Set<string>();
  for (const line of lines)
    for (const rule of naiveRules([line]))
      for (const name of broken) {
        const wasBlocked = old.some(
          (one) => !one.isAllow && one.matches(name) && (one.isImportant || !rule.isImportant),
        );
        if (rule.isAllow || wasBlocked || !rule.matches(name)) continue;
        found.add(line);
        names.add(name);
      }
  return { lines: found, names, queries: broken.filter((name) => names.has(name)).length };
}

test("exactly the lines of a source that newly block too many queries of the log are dropped", async () => {
  const random = new Random(3);
  const seen = { dropped: 0, passed: 0, told: 0 };
  for (let round = 0; round < 25; round++) {
    const limits: Limits = random.pick([
      {},
      { max_queries: random.below(6) },
      { max_percent: random.below(50) },
      { max_queries: random.below(6), max_percent: random.below(50) },
    ]);
    const { say, write, memory, logsOpened } = project(limits);
    const [before, now] = [texts(random), texts(random)];
    const asked = Array.from({ length: 1 + random.below(20) }, (_, at) =>
      random.chance(0.2)
        ? random.pick(DOMAINS)
        : `q${at}.${random.pick(["a.", "b.", ""])}${random.pick(DOMAINS)}`,
    );
    write("logs/queries.log", asked);
    for (const [file, lines] of Object.entries(before)) write(file, lines);
    const first = await say();
    assert.deepEqual([first.exit, first.said.includes("traffic")], [0, false], "nothing is new");
    for (const [file, lines] of Object.entries(now)) write(file, lines);

    const all = Object.values(now).flat();
    const [old, fresh] = [naiveRules(Object.values(before).flat()), naiveRules(all)];
    const own = naiveRules(now["own.txt"]);
    const isNew = (name: string): boolean => !isBlocked(old, name) && isBlocked(fresh, name);
    const broken = asked.filter((name) => isNew(name) && !isBlocked(own, name));
    const { max_queries = Infinity } = limits;
    const max_percent = limits.max_percent ?? (limits.max_queries === undefined ? 1 : Infinity);
    const isTooMuch = (queries: number): boolean =>
      queries > max_queries || queries / asked.length > max_percent / 100;
    const offences = WEAK.map((file) => ({ file, ...offence(now[file], broken, old) }));
    const dropped = offences.filter(({ queries }) => isTooMuch(queries));
    const expected = Object.entries(now).flatMap(([file, lines]) => {
      const gone = dropped.find((one) => one.file === file)?.lines;
      return lines.filter((line) => gone?.has(line) !== true);
    });

    const opened = logsOpened();
    const { exit, said } = await say();
    const about = `${round}: ${JSON.stringify({ limits, before, now, asked })}\n${said}`;
    assert.equal(exit, 0, about);
    assert.deepEqual(rulesOf(memory).toSorted(), expected.toSorted(), about);
    if (JSON.stringify(before) !== JSON.stringify(now)) assert.equal(logsOpened(), opened + 1);
    for (const { file, names, queries } of offences)
      assert.equal(
        said.includes(
          `${file} would newly block ${queries} of ${asked.length === 1 ? "1 query" : `${asked.length} queries`} in the log, for ${names.size === 1 ? "1 name" : `${names.size} names`}; its lines that do so were dropped`,
        ),
        isTooMuch(queries),
        about,
      );
    const published = naiveRules(expected);
    const left = asked.filter((name) => !isBlocked(old, name) && isBlocked(published, name));
    assert.equal(/warning\[traffic-blocked\]/.test(said), isTooMuch(left.length), about);
    if (isTooMuch(left.length)) {
      assert.match(said, new RegExp(`The list newly blocks ${left.length} of `));
      seen.told++;
    }
    if (dropped.length === 0) {
      seen.passed++;
      continue;
    }
    seen.dropped++;
    for (const [path, bytes] of memory.files)
      if (!path.endsWith("queries.log"))
        assert.doesNotMatch(Buffer.from(bytes).toString("latin1"), /\bq\d+\./, path);
    const later = await say("plan");
    assert.doesNotMatch(later.said + said, /\bq\d+\./, "no name is shown");
    const accepted = await say("--accept", "breaks-traffic");
    assert.deepEqual([accepted.exit, /traffic/.test(accepted.said)], [0, false], accepted.said);
    assert.deepEqual(rulesOf(memory).toSorted(), all.toSorted());
    assert.doesNotMatch((await say()).said, /traffic/, "what was accepted is published");
  }
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 2, `${what} ${count}`);
});

test("the lines of a source that is new to the list stay, and the list tells what they block", async () => {
  const { say, write, memory } = project({ max_queries: 0 });
  write("logs/queries.log", ["two.com", "two.com"]);
  for (const file of ["own.txt", "a.txt", "b.txt"]) write(file, [`||${file}.example^`]);
  assert.equal((await say()).exit, 0);
  const config = Buffer.from(memory.files.get("/project/c.json")!).toString();
  write("c.json", [config.replace("b.txt", "new.txt")]);
  write("new.txt", ["||two.com^"]);
  const { exit, said } = await say();
  assert.equal(exit, 0, said);
  assert.match(said, /warning\[traffic-blocked\]: .*The list newly blocks 2 of 2 queries/);
  assert.ok(rulesOf(memory).includes("||two.com^"));
});

test("a rule of another source below a dropped one stays, and what the user permits or allows does not count", async () => {
  for (const [more, isKept] of [
    [{}, false],
    [{ guards: { may_block: ["two.com"] } }, true],
    [{ allow: ["q.two.com"] }, true],
  ] as const) {
    const { say, write, memory } = project({ max_queries: 0 }, ["Validate", "Compress"]);
    const config = JSON.parse(Buffer.from(memory.files.get("/project/c.json")!).toString());
    const guards = { ...config.guards, ...("guards" in more ? more.guards : {}) };
    write("c.json", [JSON.stringify({ ...config, ...more, guards })]);
    write("logs/queries.log", ["q.two.com"]);
    write("own.txt", ["||own.example^"]);
    write("a.txt", ["||a.example^"]);
    write("b.txt", ["||ads.two.com^"]);
    assert.equal((await say()).exit, 0);
    write("a.txt", ["||a.example^", "||two.com^"]);
    const { exit, said } = await say();
    assert.equal(exit, 0, said);
    assert.equal(rulesOf(memory).includes("||two.com^"), isKept, said);
    assert.equal(/breaks-traffic/.test(said), !isKept, said);
    assert.equal(rulesOf(memory).includes("||ads.two.com^"), !isKept);
    if (isKept) continue;
    const why = await say("why", "two.com");
    assert.match(why.said, /breaks-traffic, would newly block too many queries of a log/);
  }
});

test("a log that cannot be read gives one warning, and the lists are published", async () => {
  const { say, write, memory } = project({});
  for (const file of ["own.txt", "a.txt", "b.txt"]) write(file, ["||one.com^"]);
  assert.equal((await say()).exit, 0);
  write("a.txt", ["||one.com^", "||two.com^"]);
  const { exit, said } = await say();
  assert.equal(exit, 0, said);
  assert.match(
    said,
    /warning\[traffic-unchecked\]: Cannot tell which queries the list newly blocks[^]*queries\.log/,
  );
  assert.equal(said.match(/Cannot tell/g)?.length, 1);
  assert.ok(rulesOf(memory).includes("||two.com^"));
});

test("a log without queries cannot judge a list: it is published with a warning", async () => {
  for (const limits of [{}, { max_queries: 0 }, { max_percent: 0 }, { max_percent: 100 }])
    for (const log of [[], ["# no names"], ["SQLite format 3\0"]]) {
      const { say, write, memory } = project(limits);
      write("logs/queries.log", log);
      for (const file of ["own.txt", "a.txt", "b.txt"]) write(file, ["||one.com^"]);
      const first = await say();
      assert.deepEqual([first.exit, first.said.includes("traffic-unchecked")], [0, false]);
      write("own.txt", ["||one.com^", "||two.com^"]);
      const { exit, said } = await say();
      assert.equal(exit, 0, said);
      assert.match(said, /warning\[traffic-unchecked\]: .*The log has no queries/);
      assert.doesNotMatch(said, /NaN|Infinity/);
      const published = memory.files.get("/project/rules/one.txt")!;
      assert.match(Buffer.from(published).toString(), /two\.com/);
    }
});
