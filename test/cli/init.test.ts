import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Host, HostError, memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";
import { listIn } from "../support/documents.ts";

const HOME = `
filters:
  - {enabled: true, url: "ads.txt", name: "Ads: \\"all\\" # of them", id: 1}
  - {enabled: false, url: "https://lists.example/old.txt", name: Old, id: 2}
user_rules: ["||mine.example^", "@@||good.example^"]
`;

test("what AdGuard Home runs becomes a configuration that compiles as it is", async () => {
  const project = new MemoryProject({
    "AdGuardHome.yaml": HOME,
    "ads.txt": "||ads.example^\n||good.example^",
  });
  const made = await project.run(
    "init",
    "--from",
    "AdGuardHome.yaml",
    "--name",
    "Home",
    "--format",
    "rpz",
  );
  assert.equal(made.exit, 0, made.stderr);
  assert.match(
    made.stderr,
    /written compiler-config\.yaml: 1 source, and 2 own rules in own-rules\.txt/,
  );
  const text = project.text("compiler-config.yaml");
  assert.match(text, /^# yaml-language-server: \$schema=/);
  assert.match(text, /# These are disabled:\n {2}# - name: "Old"\n/);
  const compiled = await project.run("-c", "compiler-config.yaml");
  assert.equal(compiled.exit, 0, compiled.stderr);
  assert.match(project.text("rules/home.txt"), /\|\|mine\.example\^\n[^]*\|\|ads\.example\^\n/);
  assert.ok(project.memory.files.has("/project/rules/home.rpz"));
  const again = await project.run("init", "--from", "AdGuardHome.yaml");
  assert.equal(again.exit, 2);
  assert.match(again.stderr, /file-exists/);
});

test("a list is added at the end of what init wrote", async () => {
  const project = new MemoryProject({
    "AdGuardHome.yaml": HOME,
    "ads.txt": "||ads.example^",
    "more.txt": "||more.example^",
  });
  await project.run("init", "--from", "AdGuardHome.yaml", "--format", "rpz");
  const text = project.text("compiler-config.yaml");
  project.write("compiler-config.yaml", `${text}  - name: More\n    source: more.txt\n`);
  const { exit, stderr } = await project.run();
  assert.equal(exit, 0, stderr);
  assert.match(project.text("rules/my-list.txt"), /^\|\|more\.example\^$/m);
});

test("paths are moved along, and what cannot be imported is reported", async () => {
  const blocky = `blocking:
  denylists:
    ads: [rules/a.txt, "file:///lists/b.txt", "https://bad host/x"]
  allowlists:
    ads:
      - |
        ok.example # why
        /^regex/
`;
  const project = new MemoryProject({ "conf/blocky.yml": blocky, "conf/rules/a.txt": "a.example" });
  project.memory.files.set("/lists/b.txt", new TextEncoder().encode("b.example"));
  assert.equal((await project.run("audit", "conf/blocky.yml")).exit, 0);
  const made = await project.run("init", "--from", "conf/blocky.yml");
  assert.equal(made.exit, 0, made.stderr);
  assert.match(made.stderr, /Not the URL of a list: https:\/\/bad host\/x/);
  assert.match(made.stderr, /Not imported, because they are not names: \/\^regex\//);
  const compiled = await project.run("-c", "compiler-config.yaml");
  assert.equal(compiled.exit, 0, compiled.stderr);
  assert.match(project.text("rules/my-list.txt"), /\|\|a\.example\^\n\|\|b\.example\^/);
});

test("from addresses, without a terminal to ask at, and with what cannot be", async () => {
  const project = new MemoryProject({});
  const made = await project.run(
    "init",
    "-i",
    "https://a.example/hosts.txt",
    "-i",
    "https://a.example/other/hosts.txt",
    "-t",
    "hosts",
    "lists/home.yaml",
  );
  assert.equal(made.exit, 0, made.stderr);
  assert.match(project.text("lists/home.yaml"), /name: "a\.example hosts\.txt \(2\)"/);
  for (const words of [
    [],
    ["-i", "x", "-t", "hsots"],
    ["-i", "x", "--format", "rzp"],
    ["-i", "x", "list.json"],
    ["-i", "x", ".yaml"],
    ["--from", "none.yaml"],
  ]) {
    const { exit, stderr } = await project.run("init", ...words);
    assert.equal(exit, 2, words.join(" "));
    assert.match(stderr, /^error\[/);
  }
});

test("init takes addresses without -i, beside a file name and beside imported lists", async () => {
  const addresses = ["https://a.example/hosts.txt", "https://b.example/ads.txt"];
  const project = new MemoryProject({ "AdGuardHome.yaml": HOME });
  const made = await project.run("init", ...addresses, "home.yaml");
  assert.equal(made.exit, 0, made.stderr);
  const sources = [...project.text("home.yaml").matchAll(/source: "(?<source>[^"]+)"/g)];
  assert.deepEqual(
    sources.map(({ groups }) => groups!["source"]),
    addresses,
  );
  const both = await project.run("init", "--from", "AdGuardHome.yaml", ...addresses, "both.yaml");
  assert.equal(both.exit, 0, both.stderr);
  for (const address of addresses) assert.ok(project.text("both.yaml").includes(address));
  assert.match(project.text("both.yaml"), /ads\.txt/);
  const two = await project.run("init", "one.yaml", "two.yaml");
  assert.equal(two.exit, 2);
  assert.match(two.stderr, /hint: Name a local list with -i: rules-compiler init -i FILE/);
});

test("on a terminal, init asks, and repeats the question after an invalid answer", async () => {
  const answers = ["\u001b[1~Mi\u001bOCne\u001b[D", "1 99", "2, https://x.example/list.txt,"];
  const stdin = {
    isTerminal: true,
    bytes: async function* () {},
    async *lines() {
      yield answers;
    },
  };
  const terminal = { ...new MemoryProject({}).memory.stderr, isTerminal: true };
  const asked = new MemoryProject({}, { stdin, stderr: terminal });
  const { exit } = await asked.run("init");
  assert.equal(exit, 0);
  const text = asked.text("compiler-config.yaml");
  assert.match(text, /^name: "Mine"$/m);
  assert.match(text, /name: "StevenBlack hosts"\n.*\n {4}type: hosts/);
  assert.match(text, /source: "https:\/\/x\.example\/list\.txt"/);
});

test("a new configuration publishes no blank lines, and reads indented ones", async () => {
  const project = new MemoryProject({
    "AdGuardHome.yaml": HOME,
    "ads.txt": "||ads.example^\n \t\n  0.0.0.0 indented.example\n||last.example^",
  });
  assert.equal((await project.run("init", "--from", "AdGuardHome.yaml", "--name", "Home")).exit, 0);
  const compiled = await project.run("-c", "compiler-config.yaml", "--json");
  assert.equal(compiled.exit, 0, compiled.stderr);
  const list = project.text("rules/home.txt");
  assert.doesNotMatch(list.trimEnd(), /\n\s*\n/);
  assert.match(list, /^\|\|indented\.example\^$/m);
  const { rules, kept } = listIn(compiled.stdout) as { rules: number; kept: number };
  assert.equal(kept, rules);
});

test("dead lists become comments with the reason, private addresses and exceptions are seen", async () => {
  const setup = `
filters:
  - {enabled: true, url: "https://lists.example/plain.txt", name: Plain, id: 1}
  - {enabled: true, url: "https://lists.example/gone.txt", name: Gone, id: 2}
  - {enabled: true, url: "https://lists.example/page.txt", name: Page, id: 3}
  - {enabled: true, url: "http://192.168.1.5/lan.txt", name: Lan, id: 4}
  - {enabled: true, url: "https://lists.example/mixed.txt", name: Mixed, id: 5}
  - {enabled: true, url: "missing.txt", name: Missing, id: 6}
whitelist_filters:
  - {enabled: true, url: "http://192.168.1.5/allow.txt", name: Allow, id: 7}
  - {enabled: true, url: "https://lists.example/no-allow.txt", name: No allow, id: 8}
`;
  const web = webOf({
    "https://lists.example/plain.txt": "||ads.example^\n||good.example^\n",
    "https://lists.example/page.txt": "<!DOCTYPE html><html><body>Log in</body></html>",
    "http://192.168.1.5/lan.txt": "||lan.example^\n",
    "https://lists.example/mixed.txt": "||mixed.example^\n@@||fine.mixed.example^\n",
    "http://192.168.1.5/allow.txt":
      "#comment\n@@||good.example^|\n/^regex/\nexample.org##.banner\n",
  });
  const project = new MemoryProject({ "AdGuardHome.yaml": setup }, web);
  assert.equal((await project.run("audit", "AdGuardHome.yaml")).exit, 0);
  const made = await project.run("init", "--from", "AdGuardHome.yaml");
  assert.equal(made.exit, 0, made.stderr);
  assert.match(made.stderr, /written compiler-config\.yaml: 3 sources\n/);
  assert.match(made.stderr, /commented out: Gone: .*status 404/);
  const text = project.text("compiler-config.yaml");
  assert.match(text, /name: "Plain"\n.*\n.*\n {4}trust: block-only # /);
  assert.match(text, /name: "Lan"\n.*\n.*\n {4}allow_private: true # .*\n {4}trust: block-only/);
  assert.match(text, /name: "Mixed"\n.*\n {4}type: adblock\n {2}#/);
  assert.match(
    text,
    /# These could not be read when this file was written:\n {2}# - name: "Gone"\n.*\n.*\n {2}# {3}.*status 404/,
  );
  assert.match(text, /# - name: "Page"\n/);
  assert.match(text, /# - name: "Missing"\n.*\n.*\n {2}# {3}# File not found/);
  assert.match(
    text,
    /allow_sources:\n {2}- \{ source: "http:\/\/192\.168\.1\.5\/allow\.txt", allow_private: true \} # .*\n# These/,
  );
  const compiled = await project.run("-c", "compiler-config.yaml", "--json");
  assert.equal(compiled.exit, 0, compiled.stderr);
  const list = project.text("rules/my-list.txt");
  assert.match(list, /\|\|ads\.example\^\n\|\|lan\.example\^\n\|\|mixed\.example\^\n/);
  assert.doesNotMatch(list, /\|\|good\.example\^/);
});

test("when no address answers, the lists are written as they are, and init says why", async () => {
  const project = new MemoryProject({ "own.txt": "||own.example^" });
  const words = ["-i", "own.txt", "-i", "https://a.example/hosts.txt"];
  const { exit, stderr } = await project.run("init", ...words);
  assert.equal(exit, 0, stderr);
  assert.match(
    stderr,
    /1 list could not be read and was not checked: Failed to fetch https:\/\/a\.example/,
  );
  assert.match(
    project.text("compiler-config.yaml"),
    /\n {2}- name: "a\.example hosts\.txt"\n {4}source: .*\n {4}type: adblock\n$/,
  );
});

/** Answers the queries to Pi-hole's database from tables in memory. */
function gravity(tables: Readonly<Record<string, readonly object[]>>): Pick<Host, "queryDatabase"> {
  return {
    queryDatabase: async (_path, query) => {
      const [, table = ""] = /FROM "?([a-z_]+)"?/.exec(query) ?? [];
      if (table === "sqlite_master") return Object.keys(tables).map((name) => ({ name }));
      return (tables[table] ?? []) as Record<string, unknown>[];
    },
  };
}

function subscribed(id: number, address: string): object {
  return { id, address, enabled: 1, type: 0 };
}

function ownName(id: number, type: number, domain: string): object {
  return { id, type, domain, enabled: 1 };
}

test("Pi-hole's groups become lists of their own, with a file that Pi-hole reads", async () => {
  const database = gravity({
    adlist: [
      subscribed(1, "ads.txt"),
      subscribed(2, "kids.txt"),
      subscribed(3, "off.txt"),
      subscribed(4, "nobody.txt"),
    ],
    group: [
      { id: 0, name: "Default", enabled: 1 },
      { id: 1, name: "kids", enabled: 1 },
      { id: 2, name: "holiday", enabled: 0 },
    ],
    adlist_by_group: [
      { adlist_id: 1, group_id: 0 },
      { adlist_id: 1, group_id: 1 },
      { adlist_id: 2, group_id: 1 },
      { adlist_id: 3, group_id: 2 },
    ],
    domainlist: [
      ownName(1, 1, "own.example"),
      ownName(2, 0, "good.example"),
      ownName(3, 1, "games.example"),
      ownName(4, 0, "chat.example"),
    ],
    domainlist_by_group: [
      { domainlist_id: 1, group_id: 0 },
      { domainlist_id: 2, group_id: 0 },
      { domainlist_id: 3, group_id: 1 },
      { domainlist_id: 4, group_id: 1 },
    ],
  });
  const files = {
    "gravity.db": "SQLite format 3\0",
    "ads.txt": "0.0.0.0 ads.example\n0.0.0.0 good.example\n",
    "kids.txt": "0.0.0.0 chat.example\n0.0.0.0 video.example\n",
    "off.txt": "0.0.0.0 off.example\n",
    "nobody.txt": "0.0.0.0 nobody.example\n",
  };
  const project = new MemoryProject(files, database);
  assert.equal((await project.run("audit", "gravity.db")).exit, 0);
  const made = await project.run("init", "--from", "gravity.db", "--name", "Home");
  assert.equal(made.exit, 0, made.stderr);
  assert.doesNotMatch(made.stderr, /not imported/);
  assert.equal(project.text("own-rules-kids.txt"), "|games.example^\n");
  const text = project.text("compiler-config.yaml");
  assert.match(text, /\noutputs:\n {2}- format: pihole\n/);
  const compiled = await project.run("-c", "compiler-config.yaml");
  assert.equal(compiled.exit, 0, compiled.stderr);
  const home = project.text("rules/home.txt");
  assert.match(home, /own\.example[^]*ads\.example/);
  assert.doesNotMatch(home, /chat|video|games|good|off|nobody/);
  const kids = project.text("rules/home-kids.txt");
  assert.match(kids, /games\.example[^]*ads\.example[^]*video\.example/);
  assert.doesNotMatch(kids, /own\.example|chat|off|nobody/);
  for (const file of ["home", "home-kids"])
    assert.ok(project.memory.files.has(`/project/rules/${file}.pihole`), file);
});

test("own rules get a file of their own when there is one by that name", async () => {
  const project = new MemoryProject({
    "AdGuardHome.yaml": HOME,
    "ads.txt": "||ads.example^",
    "own-rules.txt": "||before.example^\n",
  });
  const made = await project.run("init", "--from", "AdGuardHome.yaml");
  assert.equal(made.exit, 0, made.stderr);
  assert.match(made.stderr, /2 own rules in own-rules-2\.txt/);
  assert.equal(project.text("own-rules.txt"), "||before.example^\n");
  assert.equal((await project.run("-c", "compiler-config.yaml")).exit, 0);
  assert.match(project.text("rules/my-list.txt"), /mine\.example/);
});

test("an output that must fit keeps the user's rules before those of the lists", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `||ads${index}.example^\n`);
  const project = new MemoryProject({ "AdGuardHome.yaml": HOME, "ads.txt": names.join("") });
  const made = await project.run("init", "--from", "AdGuardHome.yaml", "new.yaml");
  assert.equal(made.exit, 0, made.stderr);
  const fit = "outputs:\n  - { format: domains, fit: { max_rules: 3 } }\n";
  project.write("new.yaml", `${project.text("new.yaml")}${fit}`);
  const compiled = await project.run("-c", "new.yaml");
  assert.equal(compiled.exit, 0, compiled.stderr);
  assert.match(project.text("rules/new.domains"), /^mine\.example$/m);
});

test("when no list can be read, init writes them anyway; an interrupted init writes nothing", async () => {
  const project = new MemoryProject({});
  const { exit, stderr } = await project.run("init", "-i", "later.txt");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /1 list could not be read and was not checked: File not found: later\.txt/);
  project.write("later.txt", "||later.example^\n");
  assert.equal((await project.run("-c", "compiler-config.yaml")).exit, 0);

  const stop = new AbortController();
  const host: Host = {
    ...memoryHost(),
    fetch: async () => {
      stop.abort("SIGINT");
      throw new HostError("ECANCELED", "the run was stopped");
    },
  };
  assert.equal(await run(["init", "-i", "https://a.example/l.txt"], host, stop.signal), 130);
  assert.equal(await host.exists("/project/compiler-config.yaml"), false);
});

test("configurations in one folder have lists of their own", async () => {
  const project = new MemoryProject({ "a.txt": "||a.example^\n", "b.txt": "||b.example^\n" });
  for (const [list, file] of [
    ["a.txt", "one.yaml"],
    ["b.txt", "lists/Two words.yml"],
  ] as const) {
    assert.equal((await project.run("init", "-i", `/project/${list}`, file)).exit, 0);
    const { exit, stderr } = await project.run("-c", file);
    assert.equal(exit, 0, stderr);
  }
  assert.match(project.text("rules/one.txt"), /a\.example/);
  assert.match(project.text("rules/two-words.txt"), /b\.example/);
  const named = await project.run("init", "-i", "a.txt", "--name", "Mine", "three.yaml");
  assert.equal(named.exit, 0, named.stderr);
  assert.match(project.text("three.yaml"), /^name: "Mine"$/m);
  const usual = await project.run("init", "-i", "a.txt", "compiler-config.yaml");
  assert.equal(usual.exit, 0, usual.stderr);
  assert.match(project.text("compiler-config.yaml"), /^name: "My list"$/m);
});

test("own addresses keep their meaning: in a hosts file, and among the rules of AdGuard Home", async () => {
  for (const [file, text] of [
    [
      "hosts",
      "127.0.0.1\tlocalhost\n::1 ip6-localhost ip6-loopback\n127.0.1.1 box\n\n# at home\n192.168.1.10 nas.home nas # cellar\n",
    ],
    [
      "AdGuardHome.yaml",
      'filters: []\nuser_rules: ["192.168.1.10 nas.home", "0.0.0.0 ads.example"]\n',
    ],
  ] as const) {
    const project = new MemoryProject({ [file]: text });
    const made = await project.run("init", "--from", file);
    assert.equal(made.exit, 0, made.stderr);
    assert.doesNotMatch(project.text("own-rules.txt"), /localhost|cellar/);
    assert.match(project.text("own-rules.txt"), /^\|nas\.home\^\$dnsrewrite=192\.168\.1\.10$/m);
    const compiled = await project.run("--accept", "too-few-rules");
    assert.equal(compiled.exit, 0, compiled.stderr);
    const list = project.text("rules/my-list.txt");
    assert.match(list, /^\|nas\.home\^\$dnsrewrite=192\.168\.1\.10$/m);
    assert.doesNotMatch(list, /\|\|nas/);
  }
});

test("what AdGuard Home does besides its lists is named, comments do not count as rules, and a dead list may be uncommented", async () => {
  const settings = `filters:
  - { name: Own, url: /project/list.txt, enabled: true }
  - { name: Dead, url: /project/dead.txt, enabled: true }
user_rules: ["! comment", "", "||a.example^", "||b.example^"]
filtering:
  rewrites:
    - { domain: nas.example, answer: 192.168.1.2 }
    - { domain: off.example, answer: 192.168.1.3, enabled: false }
  blocked_services: { ids: [tiktok, youtube] }
`;
  const one = new MemoryProject({ "AdGuardHome.yaml": settings, "list.txt": "||ads.example^\n" });
  const { exit, stderr } = await one.run("init", "--from", "AdGuardHome.yaml");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /and 2 own rules in own-rules\.txt/);
  assert.match(stderr, /DNS rewrites are not imported: nas\.example\./);
  assert.match(stderr, /Blocked services are not imported: tiktok, youtube\./);
  const text = one.text("compiler-config.yaml");
  one.write("compiler-config.yaml", text.replaceAll(/^( {2})# (?= *(?:-|source|type|#))/gm, "$1"));
  assert.match(
    one.text("compiler-config.yaml"),
    /^ {2}- name: "Dead"\n.*dead\.txt"\n.*\n {4}# File/m,
  );
  assert.equal((await one.run("validate")).exit, 0);
  const audit = await one.run("audit", "AdGuardHome.yaml");
  assert.match(audit.stdout, /2 own rules/);
});

test("a hosts file with URLs in its comments is a hosts file", async () => {
  const hosts = "# https://lists.example/hosts\n127.0.0.1 localhost\n0.0.0.0 ads.example\n";
  const { exit, stdout, stderr } = await new MemoryProject({ hosts }).run("audit", "hosts");
  assert.equal(exit, 0, stderr);
  assert.match(stdout, /a hosts file: 0 lists enabled, 1 own rule/);
});
