import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, after, before, test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { DiskProject } from "../support/disk-project.ts";
import { type ListServer, serveLists } from "../support/list-server.ts";
import type { Said } from "../support/memory-project.ts";

/** The first hour of a new user, after the first minutes of the guide: what people do next. No ordinary step is refused. */

/** Lists that the steps need. The real one is generated where there is no corpus. */
const LISTS: Readonly<Record<string, string>> = {
  "spam-tlds.txt": [
    "! Title: Spam TLDs",
    "||*.top^$dnstype=~CNAME,denyallow=good.top|fine.top",
    "||*.zip^$denyallow=good.zip",
    "||xyz^$denyallow=abc.xyz",
    "@@||gen.xyz^",
    "||casino.example^",
  ].join("\n"),
  "allow.txt": [
    "! Title: Allow-list",
    "#Facebook",
    "# a note",
    "@@||connect.facebook.example^|",
    "@@||shop.example^$important",
    "*.wild.example",
    "/^regular[0-9]+/",
    "example.org##.banner",
    "@@||cdn.example^$domain=page.example",
    "name.example # why",
  ].join("\n"),
  "phishing.txt": Array.from({ length: 3000 }, (_, index) => `login-${index}.example`).join("\n"),
  "protected.txt": "0.0.0.0 crl.microsoft.com\n0.0.0.0 ads.example\n",
};

function hosts(): string {
  if (missingCorpus === false)
    return readFileSync(join(corpusFolder("typical"), "StevenBlack__hosts__hosts"), "utf8");
  const lines = Array.from({ length: 90_000 }, (_, index) => `0.0.0.0 ads${index}.example.net`);
  return ["127.0.0.1 localhost", ...lines].join("\n");
}

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "lists-"));
  for (const [file, text] of Object.entries(LISTS)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, "hosts"), hosts());
});
after(() => rmSync(folder, { recursive: true }));

interface Source {
  readonly name: string;
  readonly source: string;
  readonly [key: string]: unknown;
}

/** A user's folder, the lists of the web, and a configuration that is edited step by step. */
class FirstHour {
  readonly project: DiskProject;
  readonly server: ListServer;
  sources: Source[] = [
    { name: "Some hosts file", source: "hosts.txt", type: "hosts" },
    { name: "My own rules", source: "own-rules.txt", type: "adblock" },
  ];
  more: Record<string, unknown> = {};

  private constructor(context: TestContext, server: ListServer) {
    this.server = server;
    this.project = new DiskProject(context);
    this.project.write("hosts.txt", "0.0.0.0 ads.example.com\n0.0.0.0 banner.ads.example.com\n");
    this.project.write("own-rules.txt", "! my own\n||tracker.example.net^\n||com^\n");
  }

  static async begin(context: TestContext): Promise<FirstHour> {
    const server = await serveLists([folder]);
    context.after(() => server.close());
    return new FirstHour(context, server);
  }

  web(name: string, file: string): Source {
    return { name, source: `${this.server.base}/${file}`, allow_private: true };
  }

  /** Writes the configuration as it is now and compiles it. */
  async compile(...words: string[]): Promise<Said> {
    const transformations = ["RemoveComments", "TrimLines", "Compress", "Validate", "Deduplicate"];
    const config = { name: "My list", sources: this.sources, transformations, ...this.more };
    this.project.write("my-list.yaml", JSON.stringify(config, undefined, 1));
    return await accepted(this.project, "-c", "my-list.yaml", ...words);
  }
}

async function accepted(project: DiskProject, ...words: string[]): Promise<Said> {
  const said = await project.run(...words);
  assert.equal(said.exit, 0, `${words.join(" ")}\n${said.stderr}`);
  assert.doesNotMatch(said.stderr, /^error\[/m, words.join(" "));
  return said;
}

test("first hour: own rules, then a real list", async (context) => {
  const hour = await FirstHour.begin(context);
  await hour.compile();
  assert.match(hour.project.text("rules/my-list.txt"), /tracker\.example\.net/);
  hour.sources.push(hour.web("Real", "hosts"));
  await hour.compile();
  await accepted(hour.project, "why", "-c", "my-list.yaml", "tracker.example.net");
});

test("first hour: a source is removed", async (context) => {
  const hour = await FirstHour.begin(context);
  hour.sources.push(hour.web("Real", "hosts"), hour.web("Phishing", "phishing.txt"));
  await hour.compile();
  hour.sources = hour.sources.filter(({ name }) => name !== "Real");
  await hour.compile();
  assert.doesNotMatch(hour.project.text("rules/my-list.txt"), /doubleclick/);
});

test("first hour: a list and custom rules block a protected name for days", async (context) => {
  const hour = await FirstHour.begin(context);
  hour.sources.push(hour.web("Protected", "protected.txt"));
  await hour.compile();
  assert.doesNotMatch(hour.project.text("rules/my-list.txt"), /crl\.microsoft\.com/);
  hour.project.write("own-rules.txt", "||crl.microsoft.com^\n||one.example^\n");
  const { stderr } = await hour.compile();
  assert.match(hour.project.text("rules/my-list.txt"), /^\|\|crl\.microsoft\.com\^$/m);
  assert.match(stderr, /may_block: \["?crl\.microsoft\.com"?\]/);
  hour.project.write("own-rules.txt", "||crl.microsoft.com^\n||one.example^\n||two.example^\n");
  assert.doesNotMatch((await hour.compile()).stderr, /may_block/, "once");
  hour.more = { guards: { may_block: ["crl.microsoft.com"] } };
  assert.doesNotMatch((await hour.compile()).stderr, /crl\.microsoft/);
});

test("first hour: a remote list and a file block whole suffixes", async (context) => {
  const hour = await FirstHour.begin(context);
  hour.sources.push(hour.web("Spam", "spam-tlds.txt"));
  await hour.compile();
  hour.project.write("spam.txt", LISTS["spam-tlds.txt"]!);
  hour.sources.push({ name: "Copy", source: "spam.txt" });
  await hour.compile();
  const list = hour.project.text("rules/my-list.txt");
  assert.match(list, /^\|\|\*\.top\^\$dnstype=~CNAME,denyallow=good\.top\|fine\.top$/m);
});

test("first hour: a source fails after its first day", async (context) => {
  const hour = await FirstHour.begin(context);
  hour.sources.push(hour.web("Phishing", "phishing.txt"), hour.web("Real", "hosts"));
  await hour.compile();
  hour.server.pages.set("phishing.txt", { status: 410 });
  hour.server.pages.set("hosts", {
    status: 200,
    type: "text/html",
    body: "<!DOCTYPE html><html><title>For sale",
  });
  hour.project.write("own-rules.txt", "||new.example^\n");
  const { stderr } = await hour.compile();
  assert.match(stderr, /source-stale[^]*source-stale/);
  const list = hour.project.text("rules/my-list.txt");
  assert.match(list, /login-2999\.example/);
  assert.match(list, /new\.example/);
});

test("first hour: a third-party allowlist is used", async (context) => {
  const hour = await FirstHour.begin(context);
  hour.project.write("own-rules.txt", "||name.example^\n||shop.example^\n||other.example^\n");
  const source = `${hour.server.base}/allow.txt`;
  hour.more = { allow_sources: [{ source, allow_private: true }] };
  const { stderr } = await hour.compile();
  assert.match(
    stderr,
    /warning\[entries-ignored\]: \d entries ignored, because they are not names/,
  );
  const list = hour.project.text("rules/my-list.txt");
  assert.match(list, /other\.example/);
  assert.doesNotMatch(list, /\|\|(?:name|shop)\.example\^/);
});

/** The settings of each software, for these lists and an allow-list. */
const SETTINGS: Readonly<
  Record<string, (folder: string, lists: readonly string[], allow: string) => void>
> = {
  "AdGuardHome.yaml": (home, lists, allow) =>
    writeFileSync(
      join(home, "AdGuardHome.yaml"),
      JSON.stringify({
        filters: lists.map((url, id) => ({ enabled: true, url, name: `List ${id}`, id })),
        whitelist_filters: [{ enabled: true, url: allow, name: "Allow", id: 99 }],
        user_rules: ["||mine.example^", "@@||good.example^"],
      }),
    ),
  "gravity.db": (home, lists) => {
    const database = new DatabaseSync(join(home, "gravity.db"));
    database.exec(
      "CREATE TABLE adlist (id INTEGER PRIMARY KEY, address TEXT, enabled BOOLEAN DEFAULT 1, comment TEXT)",
    );
    const insert = database.prepare("INSERT INTO adlist (address) VALUES (?)");
    for (const list of lists) insert.run(list);
    database.close();
  },
  "blocky.yml": (home, lists, allow) =>
    writeFileSync(
      join(home, "blocky.yml"),
      JSON.stringify({ blocking: { denylists: { ads: lists }, allowlists: { ads: [allow] } } }),
    ),
  "hlc.json": (home, lists) =>
    writeFileSync(
      join(home, "hlc.json"),
      JSON.stringify({ name: "HLC", sources: lists.map((source) => ({ source })) }),
    ),
};

for (const [file, write] of Object.entries(SETTINGS))
  test(`first hour: audit, init and compile with ${file}`, async (context) => {
    const { project, server } = await FirstHour.begin(context);
    const files = ["hosts", "spam-tlds.txt", "phishing.txt", "protected.txt", "gone.txt"];
    const home = join(project.folder, "home");
    mkdirSync(home);
    write(
      home,
      files.map((one) => `${server.base}/${one}`),
      `${server.base}/allow.txt`,
    );
    await accepted(project, "audit", `home/${file}`);
    await accepted(project, "init", "--from", `home/${file}`, "--name", "Home", "home.yaml");
    await accepted(project, "validate", "-c", "home.yaml");
    await accepted(project, "-c", "home.yaml");
    await accepted(project, "-c", "home.yaml");
    assert.match(project.text("rules/home.txt"), /login-2999\.example/);
  });
