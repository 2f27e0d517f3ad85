import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type Config, compile, rowsOf } from "../support/internals.ts";
import { propertyRuns } from "../support/property.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const HOUR = 3_600_000;
const START = Date.parse("2026-01-01T00:00:00Z");
/** Sources of one compile, each a case of its own. */
const TOGETHER = 10;
const MOST_BUILDS = 5;

/** A source with `remember`, and what its feed has in each build; undefined if it fails. */
interface Feed {
  readonly keep: number;
  readonly maxAge: number | undefined;
  readonly has: readonly (readonly string[] | undefined)[];
}

interface Case {
  /** How many hours after the one before each build is. */
  readonly hours: readonly number[];
  readonly feeds: readonly Feed[];
}

const name = fc.integer({ min: 0, max: 9 }).map((number) => `n${number}.example.com`);
const line = fc.oneof(
  { weight: 8, arbitrary: name },
  name.map((one) => `||${one}^`),
  name.map((one) => `0.0.0.0 ${one}`),
  name.map((one) => `@@||${one}^`),
  fc.constantFrom("! a comment", "# a comment", "", "  ", "||ads.example.com^$badfilter"),
);
const feed: fc.Arbitrary<Feed> = fc.record({
  keep: fc.integer({ min: 1, max: 72 }),
  maxAge: fc.option(fc.integer({ min: 1, max: 72 }), { nil: undefined }),
  has: fc.tuple(
    // The first build must find the feed. A feed without an entry is one that fails.
    fc.array(line, { minLength: 1, maxLength: 8 }).filter((lines) => lines.some(isRule)),
    ...Array.from({ length: MOST_BUILDS - 1 }, () =>
      fc.option(fc.array(line, { minLength: 1, maxLength: 8 }), { nil: undefined, freq: 5 }),
    ),
  ),
});
const cases: fc.Arbitrary<Case> = fc.record({
  hours: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 2, maxLength: MOST_BUILDS }),
  feeds: fc.array(feed, { minLength: TOGETHER, maxLength: TOGETHER }),
});

function isRule(text: string): boolean {
  return text.trim() !== "" && !/^[!#]/.test(text);
}

function isKeepable(text: string): boolean {
  return isRule(text) && !text.startsWith("@@") && !text.includes("badfilter");
}

/** What each build publishes of a feed, by a list of everything that was ever seen. */
function naive(hours: readonly number[], { keep, maxAge = Infinity, has }: Feed): string[][] {
  let seen = new Map<string, { first: number; last: number }>();
  let good: { readonly has: readonly string[]; readonly at: number } | undefined;
  let now = 0;
  return hours.map((more, build) => {
    now += more;
    const own = has[build];
    if (own?.some(isRule) === true) good = { has: own, at: now };
    seen = new Map([...seen].filter(([, { last }]) => last >= now - keep));
    const { has: present, at } = good!;
    // A rule that is new to the ledger has no age yet.
    const aged = [...seen].filter(([, { first }]) => first < now - maxAge);
    const old = new Set(aged.map(([text]) => text));
    for (const text of present.filter(isKeepable)) {
      const known = seen.get(text) ?? { first: at, last: at };
      seen.set(text, { first: Math.min(known.first, at), last: Math.max(known.last, at) });
    }
    const gone = [...seen.keys()].filter((text) => !present.includes(text));
    return [...present.filter(isRule), ...gone].filter((text) => !old.has(text)).toSorted();
  });
}

function addressOf(index: number): string {
  return `https://feed.example/${index}.txt`;
}

/** What each build publishes, by feed. */
async function published({ hours, feeds }: Case): Promise<string[][][]> {
  const web = new ScriptedWeb();
  const config: Config = {
    name: "n",
    sources: feeds.map(({ keep, maxAge }, index) => ({
      name: `s${index}`,
      source: addressOf(index),
      type: "adblock",
      trust: "full",
      max_stale: "1000d",
      remember: `${keep}h`,
      ...(maxAge !== undefined && { max_age: `${maxAge}h` }),
    })),
  };
  const out: string[][][] = feeds.map(() => []);
  let now = START;
  for (const [build, more] of hours.entries()) {
    now += more * HOUR;
    web.time = new Date(now);
    for (const [index, { has }] of feeds.entries()) {
      const text = has[build]?.join("\n").replaceAll("example.com", `s${index}.example.com`);
      web.answers[addressOf(index)] = text === undefined ? { status: 404 } : `! head\n${text}\n`;
    }
    const result = await compile(config, { host: web.host, cacheDir: "/cache" });
    const live = [...rowsOf(result.rules)].filter(
      ({ fate, text }) => fate === "kept" && isRule(text),
    );
    for (const [index, builds] of out.entries()) {
      const own = live
        .map(({ text }) => text)
        .filter((text) => text.includes(`.s${index}.example`));
      builds.push(own.map((text) => text.replace(`s${index}.example`, "example")).toSorted());
    }
    result.close();
  }
  return out;
}

test("keep and max_age give what a list of everything seen gives", async () => {
  let [kept, aged] = [0, 0];
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const expected = one.feeds.map((each) => naive(one.hours, each));
      assert.deepEqual(await published(one), expected);
      for (const [index, builds] of expected.entries())
        for (const [build, rules] of builds.entries()) {
          const has = one.feeds[index]!.has[build];
          if (has === undefined) continue;
          kept += rules.filter((rule) => !has.includes(rule)).length;
          aged += has.filter((rule) => isRule(rule) && !rules.includes(rule)).length;
        }
    }),
    propertyRuns(500 / TOGETHER),
  );
  assert.ok(kept > 500 && aged > 100, `${kept} rules were kept, ${aged} were too old`);
});
