import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";
import { listIn, nameIn } from "../support/documents.ts";

const LOG = `a.secret.example
a.secret.example
b.other.example
c.none.example
`;

function project(): {
  say: (...words: string[]) => Promise<{ exit: number; stdout: string; stderr: string }>;
  write: (file: string, text: string) => void;
  read: (file: string) => string;
} {
  const memory = memoryHost({
    files: {
      "c.json": JSON.stringify({
        name: "N",
        sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
        guards: { max_shrink: 100 },
      }),
      "own.txt": "||other.example^\n||one.example^\n",
      "lists.yaml": "filters:\n  - enabled: true\n    url: own.txt\n    name: Own\n",
      "queries.log": LOG,
    },
  });
  const host = packingHost(memory);
  return {
    write: (file, text) =>
      void memory.files.set(`/project/${file}`, new TextEncoder().encode(text)),
    read: (file) => new TextDecoder().decode(memory.files.get(`/project/${file}`)),
    async say(...words) {
      memory.output.stdout = memory.output.stderr = "";
      const exit = await run(words, host, new AbortController().signal);
      return { exit, ...memory.output };
    },
  };
}

test("plan counts the queries that the next list blocks and frees; names only with --verbose", async () => {
  const { say, write } = project();
  assert.equal((await say("-c", "c.json")).exit, 0);
  write("own.txt", "||secret.example^\n||one.example^\n");
  const words = ["plan", "-c", "c.json", "--traffic", "queries.log"];
  const shown = await say(...words);
  assert.equal(shown.exit, 0, shown.stderr);
  assert.match(shown.stdout, /of 4 queries in the log, newly blocked: 2, no longer blocked: 1/);
  assert.doesNotMatch(shown.stdout, /a\.secret/);
  assert.match(
    (await say(...words, "-v")).stdout,
    /a\.secret\.example {2}2 queries {2}newly blocked/,
  );
  const json = await say(...words, "--json");
  assert.doesNotMatch(json.stdout, /a\.secret/);
  const { traffic } = listIn(json.stdout) as { traffic: object };
  assert.deepEqual(traffic, {
    files: [{ file: "queries.log", format: "names", queries: 4 }],
    queries: 4,
    blocked: 2,
    freed: 1,
  });
  assert.match((await say(...words, "--markdown")).stdout, /newly blocked: 2/);
});

test("why says how often a name was asked for", async () => {
  const { say } = project();
  await say("-c", "c.json");
  const shown = await say("why", "-c", "c.json", "b.other.example", "--traffic", "queries.log");
  assert.match(shown.stdout, /BLOCKED[^]*asked 1 time in 4 queries\n$/);
  const json = await say(
    "why",
    "-c",
    "c.json",
    "A.secret.example",
    "--traffic",
    "queries.log",
    "--json",
  );
  assert.equal((nameIn(json.stdout) as { asked: number }).asked, 2);
  assert.equal((await say("why", "-c", "c.json", "-", "--traffic", "queries.log")).exit, 2);
});

test("audit counts the queries that other software's lists block", async () => {
  const { say } = project();
  const shown = await say("audit", "lists.yaml", "--traffic", "queries.log");
  assert.equal(shown.exit, 0, shown.stderr);
  assert.match(shown.stdout, /Own +2 +1 +1\n[^]*The list blocks 1 of 4 queries, 25\.0 %\./);
  const json = await say("audit", "lists.yaml", "--traffic", "queries.log", "--json");
  assert.equal((JSON.parse(json.stdout) as { traffic: { blocked: number } }).traffic.blocked, 1);
});

test("several logs are added up, and no name reaches the output of stats", async () => {
  const { say } = project();
  await say("-c", "c.json");
  const words = ["stats", "-c", "c.json", "--traffic", "queries.log", "--traffic", "queries.log"];
  const shown = await say(...words);
  assert.match(shown.stdout, /The list blocks 2 of 8 queries, 25\.0 %\./);
  for (const { stdout } of [shown, await say(...words, "--json")])
    assert.doesNotMatch(stdout, /secret|none\.example/);
});

const ASKED = `query[A] a.secret.example from 10.0.0.1
query[A] b.other.example from 10.0.0.1
query[A] b.other.example from fd00::2
query[A] c.none.example from 10.0.0.3
`;

test("clients are counted only on request", async () => {
  const { say, write } = project();
  write("queries.log", ASKED);
  await say("-c", "c.json");
  const words = ["-c", "c.json", "--traffic", "queries.log"];
  for (const command of ["stats", "plan"])
    for (const form of [[], ["--json"], ["--markdown"], ["-d"]]) {
      const { stdout } = await say(command, ...words, ...form);
      assert.doesNotMatch(stdout, /10\.0\.0|fd00/);
    }
  const stats = await say("stats", ...words, "--verbose");
  assert.match(
    stats.stdout,
    /client +queries +blocked\n +10\.0\.0\.1 +2 +1\n +fd00::2 +1 +1\n +10\.0\.0\.3 +1 +0\n$/,
  );
  const markdown = await say("stats", ...words, "--verbose", "--markdown");
  assert.match(markdown.stdout, /\n\| client \| queries \| blocked \|\n\|---\|---:\|---:\|\n/);
  write("own.txt", "||secret.example^\n||one.example^\n");
  const plan = await say("plan", ...words, "--verbose");
  assert.match(plan.stdout, /10\.0\.0\.1 +2 +1 +1\n +fd00::2 +1 +0 +1\n/);
  assert.doesNotMatch(plan.stdout, /10\.0\.0\.3/, "an untouched client");
  const json = await say("plan", ...words, "--verbose", "--json");
  const { traffic } = listIn(json.stdout) as { traffic: { clients: object } };
  assert.deepEqual(traffic.clients, [
    { client: "10.0.0.1", queries: 2, blocked: 1, freed: 1 },
    { client: "fd00::2", queries: 1, blocked: 0, freed: 1 },
  ]);
});

test("the report shows which sources block the queries, and no name of the log", async () => {
  const { say, write, read } = project();
  write("more.txt", "||other.example^\n||none.example^\n");
  write(
    "c.json",
    JSON.stringify({
      name: "N",
      sources: [
        { name: "Own", source: "own.txt", type: "adblock" },
        { name: "More", source: "more.txt", type: "adblock" },
      ],
    }),
  );
  await say("-c", "c.json");
  assert.equal((await say("stats", "-c", "c.json", "--html", "plain.html")).exit, 0);
  assert.doesNotMatch(read("plain.html"), /Queries by source/);
  const words = ["stats", "-c", "c.json", "--traffic", "queries.log", "--html"];
  const said = await say(...words, "page.html");
  assert.equal(said.exit, 0, said.stderr);
  const page = read("page.html")
    .replaceAll(/<[^>]*>|\s+/g, " ")
    .replaceAll(/ +/g, " ");
  assert.match(page, /Of 4 queries in 1 log, the list blocks 2, 50\.0 %\./);
  assert.match(page, /More 2 , by it alone 1 Own 1 , by it alone 0 /);
  assert.doesNotMatch(page, /b\.other\.example|c\.none\.example|a\.secret/);
  assert.equal((await say(...words, "--traffic", "missing.log", "page.html")).exit, 2);
});

test("with min_sources, a query needs as many sources as its rule", async () => {
  const { say, write } = project();
  const sources = ["a", "b", "c"].map((name) => ({ name, source: `${name}.txt`, type: "adblock" }));
  const config = { name: "N", min_sources: 2, sources, transformations: ["Compress"] };
  write("c.json", JSON.stringify(config));
  write("a.txt", "||secret.example^\n||other.example^\n");
  write("b.txt", "||secret.example^\n||other.example^\n||b.other.example^\n");
  write("c.txt", "||secret.example^\n||b.other.example^\n");
  assert.equal((await say("-c", "c.json")).exit, 0);
  const { stdout } = await say("stats", "-c", "c.json", "--traffic", "queries.log", "--json");
  const { traffic } = listIn(stdout) as { traffic: { sources: { alone: number }[] } };
  // Without a, the rule for b.other.example of b and c is no longer covered. Without b, neither rule has two sources.
  assert.deepEqual(
    traffic.sources.map(({ alone }) => alone),
    [0, 1, 0],
  );
});
