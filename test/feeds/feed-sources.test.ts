import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Config, CompilerError, compile, memoryHost, rowsOf } from "../support/internals.ts";
import { zip } from "../support/make-archive.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const CSV = [
  "# feed",
  "host,kind",
  "a.example.com,malware",
  "http://b.example.com/x,malware",
  "c.example.com,parked",
  "not a name,malware",
].join("\n");

function csv(where?: Record<string, string>): Config["sources"][number] {
  return { source: "f.csv", type: "csv", column: "host", ...(where && { where }) };
}

async function rulesOf(config: Omit<Config, "name">, files: Record<string, string | Uint8Array>) {
  const host = memoryHost({ files });
  const result = await compile({ name: "n", ...config }, { host });
  const rows = [...rowsOf(result.rules)].map(({ line, text, fate }) => `${line} ${text} ${fate}`);
  const { report } = result;
  result.close();
  return { rows, report };
}

test("each row of a feed has its line number and a fate", async () => {
  const { report } = await rulesOf({ sources: [csv({ kind: "malware" })] }, { "f.csv": CSV });
  const [source] = report.sources;
  assert.equal(source?.lines, 6);
  assert.equal(source?.kept, 2);
  assert.deepEqual(source?.dropped, {
    "no-value": 1,
    "url-path": 1,
    "not-chosen": 1,
    "bad-host": 1,
  });
});

test("why names the row of a feed, and why it is not a rule", async () => {
  const project = new MemoryProject({
    "compiler-config.json": JSON.stringify({ name: "L", sources: [csv()] }),
    "f.csv": CSV,
  });
  assert.equal((await project.run("compile")).exit, 0);
  const { stdout } = await project.run("why", "a.example.com", "b.example.com");
  assert.match(stdout, /BLOCKED[^]*f\.csv:3 {2}a\.example\.com {2}kept/);
  assert.match(stdout, /f\.csv:4 {2}b\.example\.com {2}url-path/);
});

test("lines shows rows of CSV as they are, and values of JSON", async () => {
  const sources = [csv(), { source: "f.json", type: "json", pointer: "/*" }];
  const project = new MemoryProject({
    "compiler-config.json": JSON.stringify({ name: "L", sources }),
    "f.csv": CSV,
    "f.json": '["one.example.com", "two.example.com",\n"three.example.com"]',
  });
  assert.equal((await project.run("compile")).exit, 0);
  const { stdout } = await project.run("stats", "--fate", "kept", "--fate", "url-path");
  assert.match(stdout, /f\.csv:3: a\.example\.com,malware/);
  assert.match(stdout, /f\.csv:4: http:\/\/b\.example\.com\/x,malware/);
  assert.match(stdout, /f\.json:3: three\.example\.com/);
});

test("a packed file and a byte order mark are read", async () => {
  const text = `\ufeffhost,kind\na.example.com,x\n`;
  for (const bytes of [new TextEncoder().encode(text), gzipSync(text)]) {
    const { report } = await rulesOf({ sources: [csv()] }, { "f.csv": bytes });
    assert.equal(report.rules, 1);
  }
});

test("why, lines and stats --traffic read packed files", async () => {
  const sources = [
    { source: "f.json.gz", type: "json", pointer: "/*" },
    { source: "l.txt.gz", type: "adblock" },
    { source: "l.zip", type: "domains", member: "*/b" },
    { source: "wide.txt", type: "domains" },
  ];
  const project = new MemoryProject({
    "compiler-config.json": JSON.stringify({ name: "L", sources }),
    "queries.txt": "one.example.com\nx.two.example.com\nthree.example.com\nfour.example.com\n",
  });
  const put = (file: string, bytes: Uint8Array): void =>
    void project.memory.files.set(`/project/${file}`, bytes);
  put("f.json.gz", gzipSync('["one.example.com"]'));
  put("l.txt.gz", gzipSync(`! list\n${"||filler.example^\n".repeat(3000)}||two.example.com^\n`));
  put(
    "l.zip",
    zip([
      ["x/a", "no.example.com\n"],
      ["x/b", "# b\nthree.example.com\n"],
    ]),
  );
  put("wide.txt", Buffer.from("\ufefffour.example.com\n", "utf16le"));
  assert.equal((await project.run("compile")).exit, 0);
  const names = ["one.example.com", "x.two.example.com", "three.example.com", "four.example.com"];
  const { stdout } = await project.run("why", ...names);
  assert.match(stdout, /f\.json\.gz:1 {2}one\.example\.com {2}kept/);
  assert.match(stdout, /l\.txt\.gz:3002 {2}\|\|two\.example\.com\^ {2}kept/);
  assert.match(stdout, /l\.zip:2 {2}three\.example\.com {2}kept/);
  assert.match(stdout, /wide\.txt:1 {2}four\.example\.com {2}kept/);
  assert.doesNotMatch(stdout, /not checked/);
  const lines = (await project.run("stats", "--fate", "kept")).stdout;
  assert.match(lines, /l\.zip:2: three\.example\.com/);
  assert.match(lines, /l\.txt\.gz:3002: \|\|two\.example\.com\^/);
  const stats = await project.run("stats", "--json", "--traffic", "queries.txt");
  assert.equal(stats.exit, 0, stats.stderr);
  assert.match(stats.stdout, /wide\.txt/);
  assert.doesNotMatch(stats.stdout + stats.stderr, /not checked|not searched/);
});

function bundle(until: string, names: string): object {
  return {
    type: "indicator",
    valid_until: until,
    pattern: names,
  };
}

test("an indicator expires without a change of its feed, and why still finds its line", async () => {
  const both = "[domain-name:value IN ('a.example.com', 'b.example.com')]";
  const project = new MemoryProject({
    "compiler-config.json": JSON.stringify({
      name: "L",
      sources: [{ source: "s.json", type: "stix" }],
      guards: { max_shrink: 100 },
    }),
    "s.json": JSON.stringify({
      objects: [
        bundle("2026-11-12T00:00:00Z", both),
        bundle("2027-01-01T00:00:00Z", "[domain-name:value = 'c.example.com']"),
      ],
    }),
  });
  assert.equal((await project.run("compile", "--cache-dir", "/cache")).exit, 0);
  project.now = "2026-11-13T00:00:00Z";
  const before = await project.run("why", "c.example.com");
  assert.match(before.stdout, /s\.json:3 {2}c\.example\.com {2}kept/);
  assert.equal((await project.run("compile", "--cache-dir", "/cache")).exit, 0);
  const { stdout } = await project.run("why", "a.example.com", "c.example.com");
  assert.match(stdout, /a\.example\.com {2}neither/);
  assert.match(stdout, /s\.json:2 {2}c\.example\.com {2}kept/);
});

test("a feed that does not fit its settings fails, and says why", async () => {
  const config = { sources: [{ ...csv(), column: "url" }] };
  await assert.rejects(
    async () => await rulesOf(config, { "f.csv": CSV }),
    (error) => {
      assert.ok(error instanceof CompilerError);
      assert.equal(error.diagnostics[0]?.code, "bad-feed");
      assert.match(error.diagnostics[0]?.cause ?? "", /does not have the column url/);
      return true;
    },
  );
});

test("two feeds from one address do not disturb each other", async () => {
  const kinds = ["malware", "parked"];
  const rows = Array.from(
    { length: 4000 },
    (_, index) => `n${index}.example.com,${kinds[index % 2]}`,
  );
  const url = "https://feed.example/f.csv";
  const web = new ScriptedWeb();
  web.answers[url] = `host,kind\n${rows.join("\n")}\n`;
  const { host } = web;
  const config: Config = {
    name: "n",
    sources: kinds.map((kind) => ({ ...csv({ kind }), source: url, name: kind })),
  };
  for (let run = 0; run < 3; run++) {
    const result = await compile(config, { host, cacheDir: "/cache" });
    const states = result.report.sources.map(({ state, kept }) => `${state} ${kept}`);
    result.close();
    assert.deepEqual(
      states.map((state) => state.replace(/^\w+/, "")),
      [" 2000", " 2000"],
    );
    assert.ok(
      states.every((state) => /^(?:fetched|unchanged)/.test(state)),
      states.join(),
    );
  }
});

test("settings of feeds are checked", async () => {
  const bad: readonly (readonly [object, RegExp])[] = [
    [{ type: "csv" }, /column is required for type csv/],
    [{ type: "ndjson" }, /pointer is required for type ndjson/],
    [{ type: "hosts", column: 2 }, /column is not for type hosts/],
    [{ type: "json", pointer: "a" }, /not a JSON Pointer/],
    [{ type: "json", where: { a: "b" } }, /where needs a pointer/],
    [{ type: "csv", column: 0 }, /must be the name of a column/],
    [{ type: "csv", column: 1, delimiter: "ab" }, /delimiter must be one character/],
    [{ type: "csv", column: 1, where: ["x"] }, /where must be an object/],
    [{ type: "csv", column: 1, where: { x: {} } }, /where must contain only texts/],
    [{ type: "urls", urls: "all" }, /urls must be one of whole, host/],
    [{ type: "adblock", urls: "host" }, /urls is not for type adblock/],
  ];
  for (const [source, expected] of bad) {
    const config = { name: "L", sources: [{ source: "f.csv", name: "f", ...source }] };
    const project = new MemoryProject({
      "compiler-config.json": JSON.stringify(config),
      "f.csv": CSV,
    });
    const { exit, stderr } = await project.run("compile");
    assert.equal(exit, 2, stderr);
    assert.match(stderr, expected);
  }
});

test("a name with escaped letters in JSON is a rule", async () => {
  const config = {
    name: "L",
    sources: [{ source: "feed.json", type: "json", pointer: "/*" }],
    transformations: ["Compress"],
  };
  const project = new MemoryProject({
    "c.json": JSON.stringify(config),
    "feed.json": String.raw`["b\u00fccher.example.org"]`,
  });
  const { exit, stderr } = await project.run("-c", "c.json", "-o", "list.txt");
  assert.equal(exit, 0, stderr);
  assert.match(project.text("list.txt"), /xn--bcher-kva\.example\.org/);
});
