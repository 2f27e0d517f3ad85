import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTECTED_NAMES } from "../../src/engine/protected-names.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";

const ADS = "https://lists.example/ads.txt";
const GONE = "https://lists.example/gone.txt";
const PAGE = "https://lists.example/page.txt";
const EMPTY = "https://lists.example/empty.txt";

const ALLOWED = "https://lists.example/allowed.txt";
const FREED = "https://lists.example/freed.txt";
const TITLED = "https://lists.example/titled.txt";
const SAME = "https://lists.example/same.txt";
const BROWSER = "https://lists.example/browser.txt";
const SOCIAL = "https://lists.example/social.txt";

const WEB = webOf({
  [ALLOWED]: PROTECTED_NAMES.map((name) => `${name}\n`).join(""),
  [ADS]: "||ads.example^\n",
  [PAGE]: "<!DOCTYPE html><html><body>Log in</body></html>",
  [EMPTY]: "",
  [FREED]: "! Title: Freed\n@@||good.example^\n@@||fine.example^\n",
  [TITLED]: `[Adblock Plus]\n!  Title :  "Ads\u202e\u0007  and\tmore ${"x".repeat(80)}"\n||one.example^\n`,
  [SAME]: "# Title: Own rules\n0.0.0.0 two.example\n",
  [BROWSER]: `! Title: For pages\n||three.example^\n${"##.ad\nexample.org##.banner\n||x.example/ad.js$script\n".repeat(9)}`,
  [SOCIAL]:
    "# Title: Social\n0.0.0.0 facebook.com\n0.0.0.0 www.facebook.com\n||discord.com^$third-party\n@@||tiktok.com^\n",
});

function hasConfig(project: MemoryProject): boolean {
  return project.memory.files.has("/project/new.yaml");
}

test("init refuses addresses that no list can have, and writes nothing", async () => {
  for (const address of ["https://", "htp://x/y", "//x.example/l.txt", "http://:80/x", "ftp://x/y"])
    for (const words of [[address], ["-i", address], [ADS, address]]) {
      const project = new MemoryProject({}, WEB);
      const { exit, stderr } = await project.run("init", ...words, "new.yaml");
      assert.equal(exit, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, /Not the URL of a list: /);
      assert.ok(stderr.includes(address), stderr);
      assert.ok(!hasConfig(project), address);
    }
});

test("a hosts file has its type, so that its header and comments raise no alarm", async () => {
  const header = "127.0.0.1 localhost\n255.255.255.255 broadcasthost\nff02::1 ip6-allnodes\n";
  const names = Array.from({ length: 40 }, (_, index) => `0.0.0.0 ads${index}.example.net\n`);
  const web = webOf({
    [ADS]: `# Title: Hosts\n${header}#=====================\n#[a note]\n${names.join("")}`,
    [TITLED]: `! Title: Mixed\n||one.example^\n${names.slice(0, 5).join("")}`,
  });
  const project = new MemoryProject({}, web);
  const made = await project.run("init", ADS, TITLED);
  assert.equal(made.exit, 0, made.stderr);
  const written = project.text("compiler-config.yaml");
  assert.match(written, /name: "Hosts"\n.*\n {4}type: hosts\n/);
  assert.match(written, /name: "Mixed"\n.*\n {4}type: adblock\n/);
  const { exit, stderr } = await project.run();
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /local-name 3/);
  assert.doesNotMatch(stderr, /bad-syntax|too-wide|real-address|dropped:/);
});

test("init refuses an empty source, and hides passwords", async () => {
  const project = new MemoryProject({}, WEB);
  assert.equal((await project.run("init", "-i", "", "new.yaml")).exit, 2);
  const { stderr } = await project.run("init", "htp://me:hunter2@x.example/y", "new.yaml");
  assert.doesNotMatch(stderr, /hunter2/);
  assert.ok(!hasConfig(project));
});

for (const [what, address, reason] of [
  ["an error status", GONE, /status 404/],
  ["a web page", PAGE, /source-is-html/],
  ["nothing", EMPTY, /source-empty/],
] as const)
  test(`a server that answers with ${what} has responded`, async () => {
    const alone = new MemoryProject({}, WEB);
    const { exit, stderr } = await alone.run("init", address, "new.yaml");
    assert.equal(exit, 4, stderr);
    assert.match(stderr, reason);
    assert.doesNotMatch(stderr, /written|compile it/);
    assert.ok(!hasConfig(alone));

    const both = new MemoryProject({ "own.txt": "||own.example^" }, WEB);
    const made = await both.run("init", address, "-i", "own.txt", "new.yaml");
    assert.equal(made.exit, 0, made.stderr);
    assert.match(made.stderr, /written new\.yaml: 1 source\n/);
    assert.match(made.stderr, /commented out: lists\.example/);
    const compiled = await both.run("-c", "new.yaml");
    assert.equal(compiled.exit, 0, compiled.stderr);
  });

test("a dead list does not stop the import of own rules", async () => {
  const home = `filters: [{enabled: true, url: "${GONE}", name: Gone, id: 1}]
user_rules: ["||mine.example^"]
`;
  const project = new MemoryProject({ "AdGuardHome.yaml": home }, WEB);
  const made = await project.run("init", "--from", "AdGuardHome.yaml", "new.yaml");
  assert.equal(made.exit, 0, made.stderr);
  assert.match(made.stderr, /commented out: Gone: .*status 404/);
  assert.equal((await project.run("-c", "new.yaml")).exit, 0);
});

test("a list that is named more than once becomes one source, and init says so", async () => {
  const project = new MemoryProject({}, WEB);
  const words = [ADS, "-i", ADS, "HTTPS://LISTS.example/ads.txt", "new.yaml"];
  const { exit, stderr } = await project.run("init", ...words);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /checking 1 list\n/);
  assert.match(stderr, /named more than once, used once: https:\/\/lists\.example\/ads\.txt\n/i);
  assert.equal(project.text("new.yaml").match(/source: /g)?.length, 1);
});

test("a list that is imported and named becomes one source", async () => {
  const project = new MemoryProject({ "adlists.list": `${ADS}\n` }, WEB);
  const words = ["--from", "adlists.list", "-i", ADS, "new.yaml"];
  const { exit, stderr } = await project.run("init", ...words);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /used once/);
  assert.equal(project.text("new.yaml").match(/source: /g)?.length, 1);
});

test("lists that other software has twice are imported as they are", async () => {
  const filters = ["One", "Again"].map((name, id) => ({ enabled: true, url: ADS, name, id }));
  const home = JSON.stringify({ filters });
  const project = new MemoryProject({ "AdGuardHome.yaml": home }, WEB);
  const made = await project.run("init", "--from", "AdGuardHome.yaml", "new.yaml");
  assert.equal(made.exit, 0, made.stderr);
  assert.equal(project.text("new.yaml").match(/source: /g)?.length, 2);
});

test("on a terminal, init asks again after an address that no list can have", async () => {
  const stdin = {
    isTerminal: true,
    bytes: async function* () {},
    async *lines() {
      yield ["Mine", "htp://x/y", ADS];
    },
  };
  const stderr = { ...new MemoryProject({}).memory.stderr, isTerminal: true };
  const project = new MemoryProject({}, { ...WEB, stdin, stderr });
  assert.equal((await project.run("init", "new.yaml")).exit, 0);
  const text = project.text("new.yaml");
  assert.match(text, /source: "https:\/\/lists\.example\/ads\.txt"/);
  assert.doesNotMatch(text, /htp/);
});

test("init puts an allow-list into allow_sources", async () => {
  const both = new MemoryProject({}, WEB);
  const { exit, stderr } = await both.run("init", ADS, ALLOWED, "new.yaml");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /lists\.example allowed\.txt is an allow-list, so it is in allow_sources/);
  assert.match(
    both.text("new.yaml"),
    /^allow_sources:\n {2}- "https:\/\/lists\.example\/allowed\.txt"$/m,
  );
  const compiled = await both.run("-c", "new.yaml");
  assert.equal(compiled.exit, 0, compiled.stderr);
  assert.match(both.text("rules/new.txt"), /ads\.example/);
  assert.doesNotMatch(both.text("rules/new.txt"), /^[^@!]*time\.apple\.com/m);

  const alone = new MemoryProject({}, WEB);
  const refused = await alone.run("init", ALLOWED, "new.yaml");
  assert.equal(refused.exit, 4, refused.stderr);
  assert.match(refused.stderr, /source-not-blocklist/);
  assert.ok(!hasConfig(alone));
});

test("lists are called what they call themselves, and by one name each", async () => {
  const home = JSON.stringify({
    filters: [
      { enabled: true, url: TITLED, name: "Given", id: 1 },
      { enabled: true, url: SAME, name: "", id: 2 },
    ],
    user_rules: ["||mine.example^"],
  });
  const project = new MemoryProject({ "AdGuardHome.yaml": home }, WEB);
  const made = await project.run("init", "--from", "AdGuardHome.yaml", "-i", SAME, "home.yaml");
  assert.equal(made.exit, 0, made.stderr);
  const names = (file: string): string[] =>
    [...project.text(file).matchAll(/^ {2}- name: "(?<name>.*)"$/gm)].map(
      ({ groups }) => groups!["name"]!,
    );
  assert.deepEqual(names("home.yaml"), ["Own rules", "Given", "Own rules (2)"]);
  assert.equal((await project.run("init", TITLED, SAME, ADS, "new.yaml")).exit, 0);
  const [long, ...rest] = names("new.yaml");
  assert.match(long!, /^Ads and more x{47}…$/);
  assert.deepEqual(rest, ["Own rules", "lists.example ads.txt"]);
});

test("init puts a list of exceptions into allow_sources, and names a list for browsers", async () => {
  const project = new MemoryProject({}, WEB);
  const { exit, stderr } = await project.run("init", ADS, FREED, BROWSER, "new.yaml");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, / Freed is an allow-list, so it is in allow_sources\n/);
  assert.match(
    stderr,
    / For pages is made for browsers: a resolver cannot use about 96 % of its lines/,
  );
  assert.doesNotMatch(stderr, /ads\.txt is/);
  assert.match(project.text("new.yaml"), /allow_sources:\n {2}- "https.*freed\.txt"/);
  assert.equal((await project.run("-c", "new.yaml")).exit, 0);
});

test("init asks whether lists may block what people need, and writes the answer", async () => {
  const answered = async (...lines: string[]): Promise<MemoryProject> => {
    const stdin = {
      isTerminal: true,
      bytes: async function* () {},
      async *lines() {
        yield lines;
      },
    };
    const stderr = { ...new MemoryProject({}).memory.stderr, isTerminal: true };
    const project = new MemoryProject({}, { ...WEB, stdin, stderr });
    assert.equal((await project.run("init", SOCIAL, "new.yaml")).exit, 0);
    return project;
  };
  const yes = await answered("");
  assert.match(yes.text("new.yaml"), /^guards:\n {2}may_block: \[social\]$/m);
  const no = await answered("no");
  assert.match(no.text("new.yaml"), /^allow:\n {2}- "facebook\.com"\n {2}- "www\.facebook\.com"$/m);
  assert.doesNotMatch(no.text("new.yaml"), /may_block/);
  const unasked = new MemoryProject({}, WEB);
  const { stderr } = await unasked.run("init", SOCIAL, ADS, "new.yaml");
  assert.match(
    stderr,
    / Social blocks social \(facebook\.com\)\. If that is intended, write guards: \{ may_block: \[social\] \}/,
  );
  for (const project of [yes, unasked]) assert.equal((await project.run("-c", "new.yaml")).exit, 0);
});
