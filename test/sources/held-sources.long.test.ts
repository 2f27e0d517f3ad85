import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EngineOptions,
  type CompileResult,
  type Config,
  compile,
} from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";
import { ledgerKeyOf } from "../../src/engine/source-state.ts";
import { needCopies } from "../../src/sources/copies.ts";
import { SourceLedger } from "../../src/sources/ledger.ts";

const FAR = "https://a.example/l.txt";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function names(count: number, from = 0): string {
  return Array.from({ length: count }, (_, index) => `||n${from + index}.example^\n`).join("");
}

function config(
  source: Partial<Config["sources"][number]> = {},
  guards: Config["guards"] = {},
): Config {
  return { name: "n", sources: [{ source: FAR, name: "Far", ...source }], guards };
}

/** Runs with one ledger. Each run publishes its list. */
class Runs {
  readonly web = new ScriptedWeb();
  private readonly path = "/rules/.rules-compiler/sources.json";
  private readonly ledger = new SourceLedger(this.web.host, this.path);

  async run(
    text: string,
    wish: Config = config(),
    options: EngineOptions = {},
  ): Promise<CompileResult> {
    const { web, ledger } = this;
    web.answers[FAR] = text;
    ledger.next();
    const base = { host: web.host, cacheDir: "/cache", ledger };
    const result = await compile(wish, { ...base, ...options });
    result.close();
    ledger.publish([await ledgerKeyOf({ source: FAR })]);
    await ledger.save();
    await needCopies("/cache", { path: this.path }, web.host);
    return result;
  }

  later(ms: number): void {
    this.web.time = new Date(this.web.time.getTime() + ms);
  }
}

/** The states of a source that sends these texts, so many hours apart. */
async function states(
  texts: readonly string[],
  { hours = 24, wish = config() }: { hours?: number; wish?: Config } = {},
): Promise<string[]> {
  const runs = new Runs();
  const seen: string[] = [];
  for (const text of texts) {
    const { report } = await runs.run(text, wish);
    seen.push(report.sources[0]!.state);
    runs.later(hours * HOUR);
  }
  return seen;
}

/** The same text so often. */
function again(text: string, times: number): string[] {
  return Array.from({ length: times }, () => text);
}

const OTHERS = names(2000, 100_000);
/** Ten days on which a few names change. */
const QUIET: readonly string[] = Array.from({ length: 10 }, (_, day) => names(2000, day));
const HELD_THRICE = ["fetched", "held", "held", "held", "fetched"];

for (const [what, texts, expected, guards] of [
  ["to the name: half is left", [names(2000), names(1000)], ["fetched", "fetched"]],
  ["to the name: less than half", [names(2000), names(999)], ["fetched", "held"]],
  ["a small list loses 100 names", [names(120), names(20)], ["fetched", "fetched"]],
  ["a small list loses more", [names(120), names(19)], ["fetched", "held"]],
  ["three times as much", [names(2000), names(6000)], ["fetched", "fetched"]],
  ["more than three times as much", [names(2000), names(6001)], ["fetched", "held"]],
  ["a list below 1,000 grows by 1,000", [names(10), names(1010)], ["fetched", "fetched"]],
  ["a list below 1,000 grows by more", [names(10), names(1011)], ["fetched", "held"]],
  ["900 become 70,000", [names(900), names(70_000)], ["fetched", "held"]],
  [
    "45 % less, and again",
    [names(10_000), names(5500), names(2900)],
    ["fetched", "fetched", "held"],
  ],
  [
    "twice as much each day",
    [names(1000), names(2000), names(3500), names(7000)],
    ["fetched", "fetched", "fetched", "held"],
  ],
  ["other names", [names(2000), OTHERS], ["fetched", "held"]],
  ["other names, but few", [names(100), names(100, 5000)], ["fetched", "fetched"]],
  ["half of the names are others", [names(2000), names(2000, 1000)], ["fetched", "fetched"]],
  [
    "another syntax",
    [names(2000), names(2000).replaceAll(/\|\|(.*)\^/g, "0.0.0.0 $1")],
    ["fetched", "fetched"],
  ],
  [
    "comments do not make up for rules",
    [names(2000), names(900) + "! n.example\n# n.example\n".repeat(2000)],
    ["fetched", "held"],
  ],
  [
    "exceptions do not make up for rules",
    [names(2000), names(900) + names(1100, 900).replaceAll("||", "@@||")],
    ["fetched", "held"],
  ],
  ["recovery releases it", [names(2000), OTHERS, names(2001)], ["fetched", "held", "fetched"]],
  ["three days of the same release it", [names(2000), ...again(OTHERS, 4)], HELD_THRICE],
  [
    "what changes a little is the same",
    [names(2000), OTHERS, ...again(names(2000, 100_200), 3)],
    HELD_THRICE,
  ],
  [
    "what changes entirely is not, but seven days are enough",
    [...QUIET, ...Array.from({ length: 8 }, (_, day) => names(2000, day * 2000 + 9000))],
    [...again("fetched", 10), ...again("held", 7), "fetched"],
  ],
  [
    "once it is taken, it is what counts",
    [names(2000), ...again(names(500), 4), names(400), names(199)],
    [...HELD_THRICE, "fetched", "held"],
  ],
  [
    "limits of one's own",
    [names(2000), names(1800), names(2001)],
    ["fetched", "held", "fetched"],
    { max_shrink: 5 },
  ],
] as readonly (readonly [string, readonly string[], readonly string[], Config["guards"]?])[])
  test(`a source is held: ${what}`, async () => {
    assert.deepEqual(await states(texts, { wish: config({}, guards) }), expected);
  });

test("a held source is reported everywhere, and the list is published with its copy", async () => {
  const runs = new Runs();
  await runs.run(names(2000));
  runs.later(DAY);
  const copies: boolean[] = [];
  const { report, diagnostics, bytes } = await runs.run(names(10), config(), {
    onProgress: (event) => event.kind === "source-read" && copies.push(event.isCopy),
  });
  assert.deepEqual(copies, [true]);
  assert.equal(report.rules, 2000);
  assert.equal(report.degraded, true);
  const [source] = report.sources;
  assert.equal(source!.state, "held");
  assert.equal(source!.goodAt, "2026-01-01T00:00:00.000Z");
  assert.equal(source!.heldUntil, "2026-01-05T00:00:00.000Z");
  assert.equal(source!.problem!.code, "source-shrunk");
  const said = diagnostics.filter(({ code }) => code === "source-held");
  assert.equal(said.length, 1);
  assert.match(
    said[0]!.message,
    /Far differs too much; its text of 2026-01-01.* stays until 2026-01-05/,
  );
  assert.match(
    said[0]!.cause!,
    /lost more than 50 % .*it has 10 names, the published text has 2,000, of which 1,990 are gone/,
  );
  assert.match(said[0]!.hint!, /--accept source-shrunk/);
  assert.match(
    new TextDecoder().decode(bytes),
    /! Using its text of 2026-01-01.*: source differs too much/,
  );
});

test("--accept with its code releases a held source", async () => {
  for (const [text, code] of [
    [names(10), "source-shrunk"],
    [names(9000), "source-grown"],
    [OTHERS, "source-replaced"],
  ] as const) {
    const runs = new Runs();
    await runs.run(names(2000));
    for (const other of ["source-shrunk", "source-grown", "source-replaced"]) {
      if (other === code) continue;
      const { report } = await runs.run(text, config(), { accept: [other] });
      assert.equal(report.sources[0]!.state, "held", `${code} by ${other}`);
    }
    const { report } = await runs.run(text, config(), { accept: [code] });
    assert.equal(report.sources[0]!.state, "fetched", code);
    assert.equal((await runs.run(text)).report.sources[0]!.state, "fetched");
  }
});

test("no source is held without a ledger or with --compat; offline, its published text is used", async () => {
  for (const options of [{ ledger: undefined }, { compat: true }]) {
    const runs = new Runs();
    await runs.run(names(2000), config(), options);
    const { report } = await runs.run(names(5), config(), options);
    assert.equal(report.sources[0]!.state, "fetched");
  }
  const runs = new Runs();
  await runs.run(names(2000));
  assert.equal((await runs.run(names(5))).report.sources[0]!.state, "held");
  const offline = await runs.run(names(5), config(), { offline: true });
  assert.equal(offline.report.sources[0]!.state, "offline");
  assert.equal(offline.report.rules, 2000);
});

test("a mirror that still has the list is used instead of holding the source", async () => {
  const mirror = "https://mirror.example/l.txt";
  const runs = new Runs();
  const wish = config({ mirrors: [mirror] });
  await runs.run(names(2000), wish);
  runs.web.answers[mirror] = names(2001);
  const { report } = await runs.run(names(5), wish);
  assert.equal(report.sources[0]!.state, "fetched");
  assert.equal(report.rules, 2001);
});

/** The numbers of the names in the list. */
function numbersIn({ bytes }: CompileResult): Set<number> {
  const found = new TextDecoder().decode(bytes).matchAll(/^\|\|n(\d+)\./gm);
  return new Set([...found].map(([, number]) => Number(number)));
}

test("a source that is held for growth alone loses what it removed", async () => {
  const runs = new Runs();
  await runs.run(names(2000));
  const held = numbersIn(await runs.run(names(9000, 100)));
  assert.equal(held.size, 1900);
  assert.ok(!held.has(99) && held.has(100) && held.has(1999) && !held.has(2000));
});

test("a source that is held for shrinking alone gains what it added", async () => {
  const runs = new Runs();
  await runs.run(names(2000));
  const held = numbersIn(await runs.run(names(500) + names(300, 5000)));
  assert.equal(held.size, 2300);
  assert.ok(held.has(1999) && held.has(5299));
});

test("a source that is held for both keeps its published text", async () => {
  const runs = new Runs();
  await runs.run(names(2000));
  const held = await runs.run(names(9000, 1500));
  assert.deepEqual(numbersIn(held), new Set(Array.from({ length: 2000 }, (_, index) => index)));
});

test("a held source keeps the text of the last publish, not the last one that was fetched", async () => {
  const runs = new Runs();
  await runs.run(names(7200));
  const before = runs.web.answers;
  before[FAR] = names(5184);
  // This run fetches and publishes nothing.
  (await compile(config(), { host: runs.web.host, cacheDir: "/cache" })).close();
  assert.equal((await runs.run(names(2500))).report.rules, 7200);
});
