import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTECTED_NAMES } from "../../src/engine/protected-names.ts";
import {
  type EngineOptions,
  type CompileResult,
  CompilerError,
  type Config,
  compile,
} from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const FAR = "https://a.example/l.txt";
const GOOD = Array.from({ length: 100 }, (_, index) => `||n${index}.example^\n`).join("");
const NEEDED = PROTECTED_NAMES;

type Outcome = CompileResult | CompilerError;

async function build(
  web: ScriptedWeb,
  source: Partial<Config["sources"][number]> = {},
  more: Partial<Config> = {},
  options: EngineOptions = {},
): Promise<Outcome> {
  const wish = {
    name: "n",
    sources: [{ source: FAR, required: true, ...source }, { source: "own.txt" }],
    ...more,
  };
  try {
    const result = await compile(wish, { host: web.host, cacheDir: "/cache", ...options });
    result.close();
    return result;
  } catch (error) {
    if (error instanceof CompilerError) return error;
    throw error;
  }
}

/** A web with this list, and this local file. */
function webOf(text: string, local = text): ScriptedWeb {
  const web = new ScriptedWeb({ "own.txt": "||own.example^\n", "local.txt": local });
  web.answers[FAR] = text;
  return web;
}

function isRefused(outcome: Outcome): boolean {
  if (!(outcome instanceof CompilerError)) return false;
  assert.equal(outcome.exit, 4);
  assert.deepEqual(
    outcome.diagnostics.map(({ code }) => code),
    ["source-not-blocklist"],
  );
  return true;
}

/** Ways to write that names are blocked. */
const WAYS: readonly (readonly [
  string,
  (name: string) => string,
  Config["sources"][number]["type"]?,
])[] = [
  ["adblock", (name) => `||${name}^`],
  ["adblock with upper case", (name) => `||${name.toUpperCase()}^`],
  ["hosts", (name) => `0.0.0.0 ${name}`],
  ["domains", (name) => name],
  ["domains, read as such", (name) => name, "domains"],
  ["rpz", (name) => `${name} CNAME .`, "rpz"],
  ["rpz with a landing page", withLandingPage, "rpz"],
  ["dnsmasq", (name) => `address=/${name}/0.0.0.0`, "dnsmasq"],
];

/** Five more records for each name: the zone has enough of them to show what its target is. */
function withLandingPage(name: string): string {
  const more = [1, 2, 3, 4, 5].map((number) => `${name.replaceAll(".", "-")}-${number}.example`);
  return [name, ...more].map((one) => `${one} CNAME page.example.net.`).join("\n");
}

for (const [what, write, type] of WAYS)
  for (const trust of [undefined, "standard", "full", "block-only"] as const)
    test(`a source that blocks more than ten protected names fails: ${what}, trust ${trust ?? "by default"}`, async () => {
      const source = { ...(type && { type }), ...(trust && { trust }) };
      for (const [count, refused] of [
        [10, false],
        [11, true],
      ] as const) {
        const lines = NEEDED.slice(0, count).map(write).join("\n");
        const web = webOf(`${lines}\n${write("ads.example")}\n`);
        assert.equal(isRefused(await build(web, source)), refused, `${count} from the web`);
        const local = await build(web, { source: "local.txt", ...source });
        assert.equal(isRefused(local), refused, `${count} in a file`);
        const other = await build(web, { source: "local.txt", required: false, ...source });
        assert.ok(!(other instanceof CompilerError));
        assert.equal(other.report.sources[0]!.state, refused ? "dropped" : "local");
      }
    });

const ALLOW_LIST = NEEDED.map((name) => `${name}\n`).join("");

/** Lists that name many and do not block them. */
for (const [what, text] of [
  ["exceptions", NEEDED.map((name) => `@@||${name}^\n`).join("") + GOOD],
  ["comments", NEEDED.map((name) => `# ${name}\n! ${name}\n`).join("") + GOOD],
  ["names below", NEEDED.map((name) => `||ads.${name}^\n`).join("") + GOOD],
  ["rules with an exception", NEEDED.map((name) => `||${name}^\n@@||${name}^\n`).join("") + GOOD],
  ["one rule for many names", `||apple.com^\n||digicert.com^\n||microsoft.com^\n${GOOD}`],
  ["rules for pages", NEEDED.map((name) => `${name}##.ad\n`).join("") + GOOD],
] as const)
  test(`a list that blocks few protected names is accepted: ${what}`, async () => {
    assert.ok(!isRefused(await build(webOf(text))));
  });

test("the message has the source, the count, five names and what to do", async () => {
  const outcome = await build(webOf(ALLOW_LIST));
  assert.ok(isRefused(outcome));
  const [said] = (outcome as CompilerError).diagnostics;
  assert.match(said!.message, /a\.example\/l\.txt is not a block-list: it blocks 1\d\d names/);
  assert.match(said!.cause!, /^(?:[\w.-]+, ){4}[\w.-]+ and \d+ more$/);
});

test("the last good copy is used, and the bad content is not cached", async () => {
  const web = webOf(GOOD);
  await build(web);
  web.answers[FAR] = GOOD + ALLOW_LIST;
  for (let run = 0; run < 2; run++) {
    const outcome = await build(web);
    assert.ok(!(outcome instanceof CompilerError));
    assert.equal(outcome.report.sources[0]!.state, "stale");
    assert.equal(outcome.report.rules, 101);
  }
});

test("a source that is not a blocklist is left out", async () => {
  const outcome = await build(webOf(ALLOW_LIST), { required: false });
  assert.ok(!(outcome instanceof CompilerError));
  assert.equal(outcome.report.sources[0]!.state, "dropped");
  assert.equal(outcome.report.sources[0]!.problem!.code, "source-not-blocklist");
});

test("acknowledged names do not count, even for an unchanged list", async () => {
  const text = NEEDED.slice(0, 15)
    .map((name) => `||${name}^\n`)
    .join("");
  const web = webOf(text);
  web.answers[FAR] = async (request) =>
    request.headers["if-none-match"] === '"1"'
      ? { status: 304 }
      : { body: text, headers: { etag: '"1"' } };
  const guards = { may_block: NEEDED.slice(0, 5) };
  assert.ok(!isRefused(await build(web, {}, { guards })));
  assert.ok(!isRefused(await build(web, {}, { guards })));
  // The copy is judged as the list is: another configuration took it.
  assert.ok(isRefused(await build(web)));
  assert.ok(isRefused(await build(webOf(text), {}, { guards: { may_block: NEEDED.slice(0, 4) } })));
});

test("an allowlist is accepted in allow_sources, and with --compat everywhere", async () => {
  const web = webOf(GOOD);
  web.answers["https://a.example/allow.txt"] = ALLOW_LIST;
  const allowed = await build(web, {}, { allow_sources: ["https://a.example/allow.txt"] });
  assert.ok(!(allowed instanceof CompilerError));
  assert.ok(!isRefused(await build(webOf(ALLOW_LIST), {}, {}, { compat: true })));
});

test("a text that another use stored is not its own last good copy", async () => {
  for (const stored of [
    (web: ScriptedWeb) => build(web, {}, {}, { compat: true }),
    (web: ScriptedWeb) => build(web, { source: "local.txt" }, { allow_sources: [FAR] }),
  ]) {
    const web = webOf(ALLOW_LIST, GOOD);
    assert.ok(!((await stored(web)) instanceof CompilerError));
    for (let run = 0; run < 2; run++) assert.ok(isRefused(await build(web)));
    delete web.answers[FAR];
    const outcome = await build(web);
    assert.ok(outcome instanceof CompilerError, "without a server");
    assert.ok(outcome.diagnostics.some(({ code }) => code === "source-not-blocklist"));
  }
});
