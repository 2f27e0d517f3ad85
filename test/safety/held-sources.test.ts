import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CompileOptions,
  type CompileResult,
  type Config,
  compile,
} from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

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

async function build(
  web: ScriptedWeb,
  text: string,
  wish: Config = config(),
  options: CompileOptions = {},
): Promise<CompileResult> {
  web.answers[FAR] = text;
  const result = await compile(wish, { host: web.host, cacheDir: "/cache", ...options });
  result.close();
  return result;
}

/** The states of a source that sends these texts, so many hours apart. */
async function states(
  texts: readonly string[],
  { hours = 24, wish = config() }: { hours?: number; wish?: Config } = {},
): Promise<string[]> {
  const web = new ScriptedWeb();
  const seen: string[] = [];
  for (const text of texts) {
    const { report } = await build(web, text, wish);
    seen.push(report.sources[0]!.state);
    web.time = new Date(web.time.getTime() + hours * HOUR);
  }
  return seen;
}

/** The same text so often. */
function again(text: string, times: number): string[] {
  return Array.from({ length: times }, () => text);
}

const OTHERS = names(2000, 100_000);
const HELD_THRICE = ["fetched", "held", "held", "held", "fetched"];

for (const [what, texts, expected, source, guards] of [
  ["to the entry: half is left", [names(2000), names(1000)], ["fetched", "fetched"]],
  ["to the entry: less than half", [names(2000), names(999)], ["fetched", "held"]],
  ["a small list loses a few", [names(20), names(10)], ["fetched", "fetched"]],
  ["a small list loses nearly all", [names(20), names(9)], ["fetched", "held"]],
  ["three times as much", [names(2000), names(6000)], ["fetched", "fetched"]],
  ["more than three times as much", [names(2000), names(6001)], ["fetched", "held"]],
  ["a list below 1,000 grows", [names(900), names(90_000)], ["fetched", "fetched"]],
  [
    "45 % less, and again",
    [names(10_000), names(5500), names(3999)],
    ["fetched", "fetched", "held"],
  ],
  [
    "twice as much each day",
    [names(1000), names(2000), names(4000), names(8000)],
    ["fetched", "fetched", "fetched", "held"],
  ],
  ["other names", [names(2000), OTHERS], ["fetched", "held"]],
  [
    "other names of a volatile source",
    [names(2000), OTHERS],
    ["fetched", "fetched"],
    { volatile: true },
  ],
  ["other names, but few", [names(900), names(900, 5000)], ["fetched", "fetched"]],
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
  ["recovery releases it", [names(2000), OTHERS, names(2001)], ["fetched", "held", "fetched"]],
  ["72 hours of the same release it", [names(2000), ...again(OTHERS, 4)], HELD_THRICE],
  [
    "what changes a little is the same",
    [names(2000), OTHERS, ...again(names(2000, 100_200), 3)],
    HELD_THRICE,
  ],
  [
    "what changes entirely is not",
    [names(2000), OTHERS, OTHERS, OTHERS, names(2000, 200_000)],
    ["fetched", "held", "held", "held", "held"],
  ],
  [
    "what never stays the same is taken when the copy is too old",
    [names(2000), ...Array.from({ length: 8 }, (_, day) => names(2000, day * 2000 + 9000))],
    ["fetched", ...again("held", 7), "fetched"],
  ],
  [
    "once it is taken, it is what counts",
    [names(2000), ...again(names(500), 4), names(400), names(199)],
    [...HELD_THRICE, "fetched", "held"],
  ],
  [
    "held for as long as the configuration says",
    [names(2000), OTHERS, OTHERS],
    ["fetched", "held", "fetched"],
    {},
    { hold: "24h" },
  ],
  ["held not at all", [names(2000), names(2)], ["fetched", "fetched"], {}, { hold: "0h" }],
  [
    "limits of one's own",
    [names(2000), names(1800), names(2001)],
    ["fetched", "held", "fetched"],
    {},
    { max_shrink: 5 },
  ],
] as readonly (readonly [
  string,
  readonly string[],
  readonly string[],
  Partial<Config["sources"][number]>?,
  Config["guards"]?,
])[])
  test(`a source is held: ${what}`, async () => {
    assert.deepEqual(await states(texts, { wish: config(source, guards) }), expected);
  });

test("a held source is reported everywhere, and the list is published with its copy", async () => {
  const web = new ScriptedWeb();
  await build(web, names(2000));
  web.time = new Date(web.time.getTime() + DAY);
  const copies: boolean[] = [];
  const { report, diagnostics, bytes } = await build(web, names(10, 500_000), config(), {
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
    /Far differs too much; using cached copy from 2026-01-01.* until 2026-01-05/,
  );
  assert.match(said[0]!.cause!, /lost more than 50 % .*it has 10 entries; it had 2,000/);
  assert.match(said[0]!.hint!, /--accept source-shrunk/);
  assert.match(
    new TextDecoder().decode(bytes),
    /! Using cached copy from 2026-01-01.*: source differs too much/,
  );
});

test("--accept with its code releases a held source", async () => {
  for (const [text, code] of [
    [names(10), "source-shrunk"],
    [names(9000), "source-grown"],
    [OTHERS, "source-replaced"],
  ] as const) {
    const web = new ScriptedWeb();
    await build(web, names(2000));
    for (const other of ["source-shrunk", "source-grown", "source-replaced"])
      if (other !== code) {
        const { report } = await build(web, text, config(), { accept: [other] });
        assert.equal(report.sources[0]!.state, "held", `${code} by ${other}`);
      }
    const { report } = await build(web, text, config(), { accept: [code] });
    assert.equal(report.sources[0]!.state, "fetched", code);
    assert.equal((await build(web, text)).report.sources[0]!.state, "fetched");
  }
});

test("a copy of an earlier version is compared by its bytes", async () => {
  const web = new ScriptedWeb();
  await build(web, names(2000));
  const { files } = web.host as unknown as { files: Map<string, Uint8Array> };
  const path = [...files.keys()].find((one) => one.startsWith("/cache/sources/"))!;
  const record = JSON.parse(new TextDecoder().decode(files.get(path))) as object;
  for (const known of [{}, { measure: 1, days: 2, offer: 3 }]) {
    const old = { ...record, measure: undefined, days: undefined, ...known };
    files.set(path, new TextEncoder().encode(JSON.stringify(old)));
    assert.equal((await build(web, names(900))).report.sources[0]!.state, "held");
  }
  assert.equal((await build(web, names(2001))).report.sources[0]!.state, "fetched");
  assert.equal((await build(web, names(999))).report.sources[0]!.state, "held");
});

test("no source is held without a copy, with --compat or offline", async () => {
  for (const options of [{ cacheDir: undefined }, { compat: true }]) {
    const web = new ScriptedWeb();
    await build(web, names(2000), config(), options);
    const { report } = await build(web, names(5), config(), options);
    assert.equal(report.sources[0]!.state, "fetched");
  }
  const web = new ScriptedWeb();
  await build(web, names(2000));
  assert.equal((await build(web, names(5))).report.sources[0]!.state, "held");
  const offline = await build(web, names(5), config(), { offline: true });
  assert.equal(offline.report.sources[0]!.state, "stale");
});

test("a mirror that still has the list is used instead of holding the source", async () => {
  const mirror = "https://mirror.example/l.txt";
  const web = new ScriptedWeb();
  const wish = config({ mirrors: [mirror] });
  await build(web, names(2000), wish);
  web.answers[mirror] = names(2001);
  const { report } = await build(web, names(5), wish);
  assert.equal(report.sources[0]!.state, "fetched");
  assert.equal(report.rules, 2001);
});
