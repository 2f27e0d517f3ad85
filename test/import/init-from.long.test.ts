import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { DiskProject } from "../support/disk-project.ts";
import { type ListServer, serveLists } from "../support/list-server.ts";

/** What people run, over real lists from a server: `audit`, `init` and `compile` work one after the other, without an edit. */
const LISTS = [
  "StevenBlack__hosts__hosts",
  "hagezi__dns-blocklists__adblock_light.txt",
  "sjhgvr__oisd__abp_small.txt",
  "privacy-protection-tools__anti-AD__anti-ad-easylist.txt",
  "blocklistproject__Lists__adobe.txt",
  "crazy-max__WindowsSpyBlocker__data_hosts_spy.txt",
  "DandelionSprout__adfilt__Alternate_versions_Anti-Malware_List_AntiMalwareAdGuardHome.txt",
];
const IS_ALLOW_LIST = /whitelist|Filters_ex(?:ceptions|clusions)/i;

interface Place {
  readonly project: DiskProject;
  readonly lists: readonly string[];
  readonly allowLists: readonly string[];
  readonly gone: string;
  readonly page: string;
}

async function place(context: TestContext): Promise<Place> {
  const folders = [corpusFolder("typical"), corpusFolder("power")];
  const server: ListServer = await serveLists(folders);
  context.after(() => server.close());
  server.pages.set("page", { status: 200, type: "text/html", body: "<!DOCTYPE html><html>Hi" });
  const address = (file: string): string => `${server.base}/${encodeURIComponent(file)}`;
  const allowLists = readdirSync(folders[1]!).filter((file) => IS_ALLOW_LIST.test(file));
  assert.equal(allowLists.length, 12);
  return {
    project: new DiskProject(context),
    lists: LISTS.map(address),
    allowLists: allowLists.map(address),
    gone: address("gone.txt"),
    page: address("page"),
  };
}

/** Runs the three commands and returns what the new configuration says, and what was said about the compile. */
async function adopt(
  project: DiskProject,
  file: string,
): Promise<{ config: string; said: string }> {
  const audited = await project.run("audit", file);
  assert.equal(audited.exit, 0, audited.stderr);
  const made = await project.run("init", "--from", file);
  assert.equal(made.exit, 0, made.stderr);
  const compiled = await project.run("-c", "compiler-config.yaml");
  assert.equal(compiled.exit, 0, `${project.text("compiler-config.yaml")}\n${compiled.stderr}`);
  const checked = await project.run("validate", "-c", "compiler-config.yaml");
  assert.equal(checked.exit, 0, checked.stderr);
  return { config: project.text("compiler-config.yaml"), said: compiled.stderr };
}

function entry(url: string, id: number): object {
  return { enabled: true, url, name: `L${id}`, id };
}

const skip = missingCorpus;
const timeout = 300_000;

test(
  "init imports AdGuard Home settings: allowlists, dead lists, custom rules",
  { skip, timeout },
  async (context) => {
    const { project, lists, allowLists, gone, page } = await place(context);
    const settings = {
      http: { address: "0.0.0.0:80" },
      filters: [...lists, gone, page].map(entry),
      whitelist_filters: [...allowLists, gone].map((url, id) => entry(url, 100 + id)),
      user_rules: ["||mine.example^", "@@||good.example^", "||crl.microsoft.com^", "# note", ""],
    };
    project.write("AdGuardHome.yaml", JSON.stringify(settings, undefined, 1));
    const { config } = await adopt(project, "AdGuardHome.yaml");
    assert.match(config, /# - name: "L7"\n.*gone\.txt/);
    assert.match(config, /# - name: "L8"\n.*\/page"/);
    // OISD has no exceptions; the list against malware does.
    assert.match(config, /name: "L2"\n.*\n.*\n.*\n {4}trust: block-only/);
    assert.doesNotMatch(config, /name: "L6"\n.*\n.*\n.*\n {4}trust/);
  },
);

test(
  "init imports a Pi-hole database: groups, custom names, and a list that Pi-hole reads",
  { skip, timeout },
  async (context) => {
    const { project, lists, allowLists, gone } = await place(context);
    const database = new DatabaseSync(join(project.folder, "gravity.db"));
    // The tables of Pi-hole 6 that matter, as its own scripts create them.
    database.exec(`
    CREATE TABLE "group" (id INTEGER PRIMARY KEY AUTOINCREMENT, enabled BOOLEAN NOT NULL DEFAULT 1, name TEXT UNIQUE NOT NULL);
    CREATE TABLE adlist (id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL, enabled BOOLEAN NOT NULL DEFAULT 1,
      comment TEXT, type INTEGER NOT NULL DEFAULT 0, UNIQUE(address, type));
    CREATE TABLE adlist_by_group (adlist_id INTEGER NOT NULL, group_id INTEGER NOT NULL, PRIMARY KEY (adlist_id, group_id));
    CREATE TABLE domainlist (id INTEGER PRIMARY KEY AUTOINCREMENT, type INTEGER NOT NULL DEFAULT 0, domain TEXT NOT NULL,
      enabled BOOLEAN NOT NULL DEFAULT 1, comment TEXT, UNIQUE(domain, type));
    CREATE TABLE domainlist_by_group (domainlist_id INTEGER NOT NULL, group_id INTEGER NOT NULL, PRIMARY KEY (domainlist_id, group_id));
    INSERT INTO "group" (id, name) VALUES (0, 'Default'), (1, 'kids');
    INSERT INTO domainlist (type, domain) VALUES (0, 'good.example'), (1, 'bad.example'), (3, '^ad[0-9]+\\.'), (2, '^ok\\.');
    INSERT INTO domainlist_by_group SELECT id, 0 FROM domainlist;
  `);
    const subscribe = database.prepare("INSERT INTO adlist (address, type) VALUES (?, ?)");
    const assign = database.prepare("INSERT INTO adlist_by_group VALUES (?, ?)");
    const all = [
      ...lists.map((one) => [one, 0] as const),
      [gone, 0] as const,
      [allowLists[0]!, 1] as const,
    ];
    for (const [index, [address, type]] of all.entries()) {
      const { lastInsertRowid } = subscribe.run(address, type);
      assign.run(lastInsertRowid, index === 2 ? 1 : 0);
      if (index === 0) assign.run(lastInsertRowid, 1);
    }
    database.close();
    const { config } = await adopt(project, "gravity.db");
    assert.match(config, /lists:\n {2}- name: "My list"\n[^]*- name: "My list kids"\n/);
    const kids = project.text("rules/my-list-kids.pihole");
    assert.ok(kids.length > 100_000 && project.text("rules/my-list.pihole").length > kids.length);
  },
);

test(
  "init imports blocky settings: groups, files and inline entries",
  { skip, timeout },
  async (context) => {
    const { project, lists, allowLists, gone } = await place(context);
    project.write("more.txt", "more.example\n*.wild.example\n/^regex[0-9]+\\./\n");
    const blocking = {
      denylists: {
        ads: [...lists.slice(0, 5), "more.txt", "own.example\nown2.example"],
        kids: [...lists.slice(5), gone],
      },
      allowlists: { ads: [...allowLists.slice(3, 6), "fine.example\n"] },
    };
    project.write("blocky.yml", JSON.stringify({ upstreams: {}, blocking }, undefined, 1));
    const { config } = await adopt(project, "blocky.yml");
    assert.match(config, /# {3}.*status 404/);
    assert.match(project.text("rules/my-list.txt"), /^\|\|more\.example\^$/m);
  },
);

test("init imports a HostlistCompiler configuration", { skip, timeout }, async (context) => {
  const { project, lists, allowLists, gone } = await place(context);
  const config = {
    name: "HLC",
    sources: [...lists, gone].map((source) => ({
      source,
      type: "adblock",
      transformations: ["Compress"],
    })),
    exclusions_sources: [allowLists[0]],
    transformations: ["RemoveComments", "Compress", "RemoveModifiers", "Validate"],
  };
  project.write("hlc.json", JSON.stringify(config));
  await adopt(project, "hlc.json");
});
