import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Random } from "../support/random.ts";
import { assertScreen } from "../support/screen.ts";
import { type Answer, ScriptedWeb } from "../support/scripted-web.ts";

const DAY = 86_400_000;

function urlOf(index: number): string {
  return `https://s${index}.example/l.txt`;
}

function nameOf(index: number): string {
  return `name${index}.example`;
}

function goodText(index: number): string {
  return `||${nameOf(index)}^\n`;
}

/** What a source that is gone, or is not a list, may answer. */
const BAD: readonly Answer[] = [
  { status: 404 },
  { status: 500 },
  { error: "ECONNREFUSED" },
  { error: "ETIMEDOUT" },
  "",
  "! only a comment\n",
  "<!DOCTYPE html><html>Login</html>",
  "404: Not Found",
  '{"message":"gone"}',
  // Too long for a message, and without a rule.
  "lorem\nipsum 17\n".repeat(300),
];

class Site {
  readonly web: ScriptedWeb;

  constructor(count: number, more: object = {}, isTerminal = false) {
    const sources = Array.from({ length: count }, (_, index) => ({
      name: `S${index}`,
      source: urlOf(index),
      type: "adblock",
      max_stale: "3d",
    }));
    const config = JSON.stringify({ name: "L", sources, ...more });
    this.web = new ScriptedWeb({ "c.json": config }, isTerminal);
    for (let index = 0; index < count; index++) this.web.answers[urlOf(index)] = goodText(index);
  }

  /** The folder of copies. */
  cache = "cache";

  async run(...words: string[]): Promise<{ exit: number; said: string }> {
    const { host } = this.web;
    const { output } = host as unknown as { output: { stderr: string } };
    output.stderr = "";
    const args = ["-c", "c.json", "-o", "out.txt", "--cache-dir", this.cache, ...words];
    return { exit: await run(args, host, new AbortController().signal), said: output.stderr };
  }

  private get files(): Map<string, Uint8Array> {
    return (this.web.host as unknown as { files: Map<string, Uint8Array> }).files;
  }

  configure(text: string): void {
    this.files.set("/project/c.json", new TextEncoder().encode(text));
  }

  get list(): string | undefined {
    const bytes = this.files.get("/project/out.txt");
    return bytes && new TextDecoder().decode(bytes);
  }
}

test("random sets of sources die, come back and send garbage, and the others are published", async () => {
  let refusals = 0;
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed);
    const count = 2 + random.below(5);
    const site = new Site(count);
    const start = site.web.time.getTime();
    const goodAt: (number | undefined)[] = [];
    let published: Set<number> | undefined;
    for (let step = 0; step < 6; step++) {
      site.web.time = new Date(start + step * 2 * DAY);
      const now = site.web.time.getTime();
      const isDead = Array.from({ length: count }, () => random.chance(0.4));
      for (const [index, dead] of isDead.entries()) {
        site.web.answers[urlOf(index)] = dead
          ? BAD[random.below(BAD.length)]!
          : { body: goodText(index) };
        if (!dead) goodAt[index] = now;
      }
      const there = [...isDead.keys()].filter(
        (index) => goodAt[index] !== undefined && now - goodAt[index] <= 3 * DAY,
      );
      const { exit, said } = await site.run();
      const where = `seed ${seed}, step ${step}: ${said}`;
      const isTooFew = published === undefined ? there.length * 2 < count : there.length === 0;
      if (isTooFew) {
        refusals++;
        assert.equal(exit, 4, where);
        continue;
      }
      assert.equal(exit, published === undefined && there.length < count ? 3 : 0, where);
      published = new Set(there);
      for (const index of isDead.keys())
        assert.equal(site.list!.includes(`||${nameOf(index)}^`), published.has(index), where);
    }
  }
  assert.ok(refusals > 0);
});

test("names that vanish with unreadable sources without a copy refuse a list from 30 % on", async () => {
  for (const [dead, exit] of [
    [3, 0],
    [4, 5],
  ] as const) {
    const site = new Site(10);
    assert.equal((await site.run()).exit, 0);
    for (let index = 0; index < dead; index++) site.web.answers[urlOf(index)] = { status: 404 };
    site.cache = "other";
    const { said, exit: end } = await site.run();
    assert.equal(end, exit, said);
    if (exit === 0) continue;
    assert.match(said, /error\[names-lost\]: The list would lose 4 names of 10, .*S0, S1, S2, S3/);
    assert.equal((await site.run("--accept", "names-lost")).exit, 0);
  }
});

test("files of names that are gone do not stop a list", async () => {
  const gone = "https://gone.example/names.txt";
  const more = {
    ranks: [gone],
    allow_sources: [gone],
    exclusions_sources: [gone],
    guards: { protect: [gone] },
  };
  const site = new Site(2, more);
  site.web.answers[gone] = "ok.example\n";
  const first = await site.run();
  assert.equal(first.exit, 0, first.said);
  site.web.answers[gone] = { status: 404 };
  for (const days of [1, 400]) {
    site.web.time = new Date(site.web.time.getTime() + days * DAY);
    const { exit, said } = await site.run();
    assert.equal(exit, 0, said);
    assert.match(said, days === 1 ? /source-stale.*until 20/ : /source-dropped/);
  }
});

test("a copy that another configuration fetched from a private network is not used", async () => {
  const site = new Site(2);
  const config = (isAllowed: boolean): string =>
    JSON.stringify({
      name: "L",
      sources: [0, 1].map((index) => ({
        name: `S${index}`,
        source: urlOf(index),
        ...(index === 0 && isAllowed && { allow_private: true }),
      })),
    });
  site.configure(config(true));
  assert.equal((await site.run()).exit, 0);
  site.configure(config(false));
  site.web.answers[urlOf(0)] = { error: "EPRIVATE" };
  const { said } = await site.run();
  assert.match(said, /error\[names-lost\]|source-dropped/);
  assert.doesNotMatch(said, /source-stale/);
});

for (const [screen, dead, exit] of [
  ["first-one-dead", [{ status: 404 }], 3],
  ["first-two-dead", [{ status: 404 }, { error: "ETIMEDOUT" }], 4],
  ["first-no-network", Array.from({ length: 3 }, () => ({ error: "ENETUNREACH" })), 4],
] as const)
  test(`first build: ${screen}`, async () => {
    const site = new Site(3, {}, true);
    for (const [index, answer] of dead.entries()) site.web.answers[urlOf(index)] = answer;
    const { exit: end, said } = await site.run();
    assert.equal(end, exit, said);
    assert.equal(site.list === undefined, exit === 4);
    assertScreen(screen, said.replace(/[\d.]+ s$/m, "N s"));
    if (exit === 4) return;
    // Like the reference.
    const compat = new Site(3);
    compat.web.answers[urlOf(0)] = { status: 404 };
    assert.equal((await compat.run("--compat")).exit, 4);
    assert.equal(compat.list, undefined);
  });
