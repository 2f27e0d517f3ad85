import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../support/corpus.ts";
import { listIn } from "../support/documents.ts";

/** What people run, over real lists from a server on the loopback: the figures must be those of a full compile. */
const skip = missingCorpus;
const LISTS = 8;
const folder = mkdtempSync(join(tmpdir(), "audit-"));
let server: Server;
let base = "";

before(async () => {
  if (skip !== false) return;
  const root = corpusFolder("typical");
  server = createServer((request, response) => {
    const file = join(root, (request.url ?? "/").slice(1));
    if (request.url === "/portal") {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!DOCTYPE html><html><body>Please log in</body></html>");
    } else if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404);
      response.end();
    } else createReadStream(file).pipe(response.writeHead(200, { "content-type": "text/plain" }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(() => {
  server?.close();
  server?.closeAllConnections();
  rmSync(folder, { recursive: true });
});

interface AuditJson {
  readonly software: string;
  readonly sources: readonly {
    label: string;
    source: string;
    state: string;
    rules: number;
    lines: number;
    onlyHere: number;
  }[];
  readonly off: readonly string[];
  readonly ownRules: number;
  readonly rules: number;
  readonly lines: number;
  readonly redundant: number;
  readonly bytes: number;
  readonly findings: readonly { code: string; message: string }[];
}

async function program(
  ...words: string[]
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const { spawn } = await import("node:child_process");
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    env: { ...process.env, RULES_DIR: join(folder, "rules") },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece: Uint8Array) => (stdout += new TextDecoder().decode(piece)));
  child.stderr.on("data", (piece: Uint8Array) => (stderr += new TextDecoder().decode(piece)));
  const status = await new Promise<number | null>((ended) => child.on("close", ended));
  return { status, stdout, stderr };
}

function listsOf(): { name: string; url: string }[] {
  return corpusConfig()
    .sources.slice(0, LISTS)
    .map(({ name, source }) => ({ name, url: `${base}/${source}` }));
}

/** Audits a file, makes a configuration of it, compiles that, and compares. */
async function auditAndCompile(file: string): Promise<AuditJson> {
  const audited = await program("audit", file, "--json", "--no-cache");
  assert.equal(audited.status, 0, audited.stderr);
  const audit = JSON.parse(audited.stdout) as AuditJson;
  rmSync(join(folder, "compiler-config.yaml"), { force: true });
  rmSync(join(folder, "own-rules.txt"), { force: true });
  const made = await program("init", "--from", file, "--no-cache");
  assert.equal(made.status, 0, made.stderr);
  const words = ["--no-cache", "--json"];
  const compiled = await program("-c", "compiler-config.yaml", "-o", `${file}.list`, ...words);
  assert.equal(compiled.status, 0, compiled.stderr);
  const report = listIn(compiled.stdout) as {
    rules: number;
    lines: number;
    bytes: number;
    sources: { label: string; source: string; lines: number }[];
  };
  // `init` takes the titles of lists as their names. Dead ones are comments in the new configuration.
  const live = audit.sources.filter(({ state }) => state !== "dead" && state !== "no-list");
  assert.deepEqual(
    live.map((one) => [one.source, one.lines] as const),
    report.sources
      .filter(({ label }) => label !== "Own rules")
      .map(({ source, lines }) => [source, lines] as const),
  );
  assert.equal(audit.rules, report.rules);
  assert.equal(audit.lines, report.lines);
  const stats = await program(
    "stats",
    "-c",
    "compiler-config.yaml",
    "-o",
    `${file}.list`,
    "--json",
  );
  const { sources } = listIn(stats.stdout) as {
    sources: { label: string; rules: number; onlyHere: number }[];
  };
  assert.deepEqual(
    live.map(({ rules, onlyHere }) => [rules, onlyHere]),
    sources
      .filter(({ label }) => label !== "Own rules")
      .map(({ rules, onlyHere }) => [rules, onlyHere]),
  );
  return audit;
}

test("AdGuardHome.yaml", { skip }, async () => {
  const filters = [
    ...listsOf().map(({ name, url }, id) => ({ enabled: id !== 2, url, name, id: id + 1 })),
    { enabled: true, url: `${base}/gone.txt`, name: "Gone", id: 90 },
    { enabled: true, url: `${base}/portal`, name: "Portal", id: 91 },
    { enabled: true, url: listsOf()[0]!.url, name: "The first again", id: 92 },
  ];
  const yaml = [
    "http:\n  address: 0.0.0.0:80\ndns:\n  upstream_dns:\n    - https://dns10.quad9.net/dns-query",
    "filters:",
    ...filters.map(
      ({ enabled, url, name, id }) =>
        `  - enabled: ${enabled}\n    url: ${url}\n    name: ${JSON.stringify(name)}\n    id: ${id}`,
    ),
    "whitelist_filters: []",
    "user_rules:\n  - '||mine.example^'\n  - '@@||good.example^'\nschema_version: 30",
  ].join("\n");
  writeFileSync(join(folder, "AdGuardHome.yaml"), yaml);
  const audit = await auditAndCompile("AdGuardHome.yaml");
  assert.equal(audit.software, "AdGuard Home");
  assert.equal(audit.off.length, 1);
  assert.equal(audit.ownRules, 2);
  const states = Object.fromEntries(audit.sources.map(({ label, state }) => [label, state]));
  assert.equal(states["Gone"], "dead");
  assert.equal(states["Portal"], "no-list");
  assert.equal(states["The first again"], "repeated");
  assert.ok(audit.rules > 100_000 && audit.redundant > 10_000);
  const own = readFileSync(join(folder, "own-rules.txt"), "utf8");
  assert.equal(own, "||mine.example^\n@@||good.example^\n");
  const said = await program("audit", "AdGuardHome.yaml", "--no-cache");
  assert.match(said.stdout, /AdGuard Home: 10 lists enabled, 1 disabled, 2 own rules/);
  assert.match(said.stdout, /1 list is unavailable/);
  assert.match(said.stdout, /1 list is a web page, not a list/);
  assert.match(said.stdout, /one compiled list: [\d,]+ rules, .* MB instead of .* MB/);
});

test("gravity.db, made by real SQLite", { skip }, async () => {
  // The tables of Pi-hole 6 that matter, as its own scripts create them.
  const sql = `
    CREATE TABLE adlist (id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL, enabled BOOLEAN NOT NULL DEFAULT 1,
      date_added INTEGER, date_modified INTEGER, comment TEXT, date_updated INTEGER, number INTEGER NOT NULL DEFAULT 0,
      invalid_domains INTEGER NOT NULL DEFAULT 0, status INTEGER NOT NULL DEFAULT 0, abp_entries INTEGER NOT NULL DEFAULT 0,
      type INTEGER NOT NULL DEFAULT 0, UNIQUE(address, type));
    CREATE TABLE domainlist (id INTEGER PRIMARY KEY AUTOINCREMENT, type INTEGER NOT NULL DEFAULT 0, domain TEXT NOT NULL,
      enabled BOOLEAN NOT NULL DEFAULT 1, comment TEXT, UNIQUE(domain, type));
    ${listsOf()
      .slice(0, 4)
      .map(
        ({ url }, index) =>
          `INSERT INTO adlist (address, enabled, comment) VALUES ('${url}', ${index === 3 ? 0 : 1}, 'list ${index}');`,
      )
      .join("\n")}
    INSERT INTO domainlist (type, domain) VALUES (0, 'good.example'), (1, 'bad.example'), (3, '^ad[0-9]+\\.'), (2, '^ok\\.');
  `;
  const { status, stderr } = spawnSync("sqlite3", [join(folder, "gravity.db")], {
    input: sql,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const audit = await auditAndCompile("gravity.db");
  assert.equal(audit.software, "Pi-hole");
  assert.deepEqual(
    audit.sources.map(({ label }) => label),
    ["list 0", "list 1", "list 2"],
  );
  assert.equal(audit.ownRules, 2);
  assert.equal(
    readFileSync(join(folder, "own-rules.txt"), "utf8"),
    "|bad.example^\n/^ad[0-9]+\\./\n",
  );
  assert.match(
    readFileSync(join(folder, "compiler-config.yaml"), "utf8"),
    /allow:\n {2}- "good\.example"/,
  );
});

test("blocky, HostlistCompiler, and a list of URLs", { skip }, async () => {
  const [first, second, third] = listsOf();
  writeFileSync(
    join(folder, "blocky.yml"),
    `upstreams:\n  groups: {default: [1.1.1.1]}\nblocking:\n  denylists:\n    ads:\n      - ${first!.url}\n      - |\n        own.example\n    more:\n      - ${second!.url}\n  allowlists:\n    ads:\n      - |\n        fine.example\n`,
  );
  const blocky = await auditAndCompile("blocky.yml");
  assert.equal(blocky.software, "blocky");
  assert.equal(blocky.sources.length, 2);
  writeFileSync(
    join(folder, "hlc.json"),
    JSON.stringify({
      name: "HLC",
      sources: [first, third].map((one) => ({ name: one!.name, source: one!.url })),
      transformations: ["Compress"],
    }),
  );
  assert.equal((await auditAndCompile("hlc.json")).software, "HostlistCompiler");
  writeFileSync(
    join(folder, "adlists.list"),
    `# comment\n${first!.url}\n#${second!.url}\n\n${third!.url}\n`,
  );
  const addresses = await auditAndCompile("adlists.list");
  assert.equal(addresses.sources.length, 2);
  assert.equal(addresses.off.length, 1);
});

test("audit reports a file that it does not recognise", async () => {
  writeFileSync(join(folder, "nothing.txt"), "hello\n");
  for (const [file, code] of [
    ["nothing.txt", "setup-unknown"],
    ["missing.yaml", "setup-unreadable"],
    [".", "setup-unreadable"],
  ] as const) {
    const { status, stderr } = await program("audit", file);
    assert.equal(status, 2);
    assert.match(stderr, new RegExp(`error\\[${code}\\]`));
  }
});
