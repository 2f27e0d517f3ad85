import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACCEPTED_KINDS,
  HOUSEHOLD_TABLE,
  PROTECTED_NAMES,
  STRICT_KINDS,
  householdKinds,
  isAcceptedKind,
  readTable,
} from "../../src/engine/protected-names.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";

const TV = "https://lists.example/tv.txt";
const GOOD = Array.from({ length: 50 }, (_, index) => `||ads${index}.example^\n`).join("");

interface Case {
  readonly project: MemoryProject;
  /** What the server answers. */
  readonly answers: Record<string, string>;
}

function start(text: string, source: object = {}, more: object = {}): Case {
  const answers: Record<string, string> = { [TV]: text };
  const config = { name: "N", sources: [{ source: TV, name: "Smart TV", ...source }], ...more };
  const files = { "c.json": JSON.stringify(config), "own.txt": "||own.example^\n" };
  return { project: new MemoryProject(files, webOf(answers)), answers };
}

function isBlocked(project: MemoryProject, name: string): boolean {
  return ListMatcher.of(project.text("rules/n.txt")).isBlocked(name);
}

test("a remote source does not block what people need, and the rest of it passes", async () => {
  const { project, answers } = start(GOOD);
  assert.equal((await project.run("-c", "c.json")).exit, 0);
  const bad = ["google.com", "whatsapp.net", "paypal.com", "sparkasse.de", "amazon.de"];
  answers[TV] =
    `${GOOD}${bad.map((name) => `||${name}^\n`).join("")}||more.example^\n||ads.google.com^\n`;
  assert.match((await project.run("plan", "-c", "c.json")).stdout, /household-names/);
  const { exit, stderr } = await project.run("-c", "c.json", "--cache-dir", "cache");
  assert.equal(exit, 0, stderr);
  assert.match(
    stderr,
    /household-names\]: Smart TV would block 5 names that people need; they stay reachable: google\.com by \|\|google\.com\^ \(line 51\)/,
  );
  assert.match(stderr, /may_block: \[google\.com, whatsapp\.net, paypal\.com/);
  for (const name of bad)
    for (const host of [name, `www.${name}`]) assert.ok(!isBlocked(project, host), host);
  assert.ok(isBlocked(project, "more.example"));
  assert.ok(isBlocked(project, "ads.google.com"));
  const why = await project.run("why", "-c", "c.json", "--cache-dir", "cache", "google.com");
  assert.match(why.stdout, /\|\|google\.com\^ +household/);
  const page = await project.run("stats", "-c", "c.json", "--html", "r.html");
  assert.equal(page.exit, 0, page.stderr);
  assert.doesNotMatch(project.text("r.html"), /Nothing needs attention/);
  assert.match(project.text("r.html"), /Smart TV would block 5 names that people need/);
  assert.match(project.text("r.html"), /google\.com, whatsapp\.net/);
});

test("the summary shows such lines before every other reason", async () => {
  const ordinary = `! note\n\n! Title: x\n${GOOD}${GOOD}||a.ads1.example^\n||x^$third-party\n`;
  const transformations = ["RemoveComments", "Compress", "Validate", "RemoveEmptyLines"];
  const { project } = start(`${ordinary}||google.com^\n`, {}, { transformations });
  const { stderr } = await project.run("-c", "c.json");
  for (const row of ["Smart TV", "total"])
    assert.match(
      stderr,
      new RegExp(
        `^ +${row}(?: +[\\d,]+){3}  too-wide 1, household 1, same-host 50, covered 1$`,
        "m",
      ),
    );
});

test("every spelling of a block offends, and rules for other questions do not", async () => {
  const lines = [
    "0.0.0.0 google.com",
    "0.0.0.0 a.example google.com",
    "google.com",
    "GOOGLE.com",
    "google.com # a note",
    "|google.com^",
    "||google.com^$important",
    "||google.com^$dnstype=~TXT",
    "||google.com^$client=~10.0.0.1",
    "||google.com^$denyallow=a.google.com",
    "/^google\\.com$/",
    "/^goo+gle\\.com$/",
    "||goog*e.com^",
  ];
  for (const line of lines) {
    const { project } = start(`${GOOD}${line}\n`);
    const { exit, stderr } = await project.run("-c", "c.json");
    assert.equal(exit, 0, `${line}: ${stderr}`);
    assert.match(
      stderr,
      /would block (?:1 name|\d+ names) that people need; (?:it stays|they stay) reachable: google\.com/,
      line,
    );
    assert.ok(!project.text("rules/n.txt").split("\n").includes(line), line);
    const matcher = ListMatcher.of(project.text("rules/n.txt"));
    for (const type of ["A", "AAAA", "HTTPS"])
      assert.notEqual(matcher.answer("google.com", type, "10.0.0.9"), "blocked", line);
  }
  for (const line of [
    "|google.com|$dnstype=TXT",
    "||ads.google.com^",
    "||google.com.evil.example^",
  ]) {
    const { project } = start(`${GOOD}${line}\n`);
    assert.doesNotMatch((await project.run("-c", "c.json")).stderr, /household/, line);
    assert.ok(project.text("rules/n.txt").includes(line), line);
  }
});

test("a rule that becomes a block later does not block either", async () => {
  const { project } = start(
    `${GOOD}||google.com^$third-party\n`,
    {},
    {
      transformations: ["RemoveModifiers"],
    },
  );
  const { stderr } = await project.run("-c", "c.json");
  assert.match(stderr, /they stay reachable: google\.com by \|\|google\.com\^ \(line 51\)/);
  assert.match(project.text("rules/n.txt"), /^@@\|google\.com\^$/m);
  assert.ok(!isBlocked(project, "google.com") && !isBlocked(project, "www.google.com"));
});

test("search, mail, banks and the like are never blocked, not in the first build either", async () => {
  const names = [...householdKinds()].filter(
    ([name, kind]) =>
      !isAcceptedKind(kind) && !PROTECTED_NAMES.some((parent) => `.${name}`.endsWith(`.${parent}`)),
  );
  const lines = names.map(([name], index) => (index % 2 === 0 ? `||${name}^\n` : `${name}\n`));
  // A list that blocks many names that devices need is no block-list.
  const guards = { may_block: PROTECTED_NAMES };
  const { project } = start(GOOD + lines.join(""), {}, { guards });
  for (const what of ["first build", "later build"]) {
    const { exit, stderr } = await project.run("-c", "c.json");
    assert.equal(exit, 0, stderr);
    if (what === "first build")
      assert.match(stderr, /Smart TV would block [\d,]+ names that people need; they stay reach/);
    const matcher = ListMatcher.of(project.text("rules/n.txt"));
    assert.deepEqual(
      names.filter(([name]) => matcher.isBlocked(name)),
      [],
      what,
    );
    assert.ok(matcher.isBlocked("ads7.example"));
  }
});

test("a source that is new to the list, or already does so, may block social media and the like", async () => {
  const social = `${GOOD}||facebook.com^\n||x.com^\n||amazon.de^\n||google.com^\n`;
  const { project, answers } = start(social);
  const { stderr } = await project.run("-c", "c.json");
  assert.match(
    stderr,
    /household-blocked\]: Sources block 3 names that many people use \(social 2, shop 1\): facebook\.com/,
  );
  assert.equal(stderr.match(/household-blocked/g)?.length, 1);
  assert.match(stderr, /would block 1 name that people need; it stays reachable: google\.com/);
  assert.ok(isBlocked(project, "facebook.com") && isBlocked(project, "www.amazon.de"));
  assert.ok(!isBlocked(project, "google.com"));
  answers[TV] = `${social}||more.example^\n`;
  assert.doesNotMatch((await project.run("-c", "c.json")).stderr, /household-blocked/);
  // More of the same kind passes, another kind does not.
  answers[TV] = `${social}||instagram.com^\n||netflix.com^\n`;
  const later = await project.run("-c", "c.json");
  assert.match(later.stderr, /household-blocked\]: Sources block \d+ names/);
  assert.match(
    later.stderr,
    /would block 2 names that people need; they stay reachable: google\.com by .*, netflix\.com by/,
  );
  assert.ok(isBlocked(project, "facebook.com") && isBlocked(project, "instagram.com"));
  assert.ok(!isBlocked(project, "netflix.com"));
  // One more name is news, also where few were named before.
  answers[TV] = `${social}||instagram.com^\n||netflix.com^\n||paypal.com^\n`;
  assert.match((await project.run("-c", "c.json", "-q")).stderr, /3 names that people need/);
});

test("a source does not earn a kind by naming what another one blocks", async () => {
  const other = "https://lists.example/social.txt";
  const sources = [
    { source: other, name: "Social" },
    { source: TV, name: "Smart TV" },
  ];
  const { project, answers } = start(GOOD, {}, { sources });
  answers[other] = "||facebook.com^\n";
  assert.equal((await project.run("-c", "c.json")).exit, 0);
  answers[TV] = `${GOOD}||facebook.com^\n`;
  // The list blocks it, so it is not said to stay reachable.
  const { stderr } = await project.run("-c", "c.json");
  assert.doesNotMatch(stderr, /reachable/);
  answers[TV] = `${GOOD}||facebook.com^\n||instagram.com^\n`;
  const later = await project.run("-c", "c.json");
  assert.match(later.stderr, /Smart TV would block 1 name .*; it stays reachable: instagram\.com/);
  assert.ok(isBlocked(project, "facebook.com") && !isBlocked(project, "instagram.com"));
});

test("may_block takes names and kinds", async () => {
  for (const [kind, name] of [
    ["games", "roblox.com"],
    ["bank", "sparkasse.de"],
    ["infrastructure", "github.io"],
  ] as const) {
    const { project, answers } = start(GOOD, {}, { guards: { may_block: [kind] } });
    assert.equal((await project.run("-c", "c.json")).exit, 0);
    answers[TV] = `${GOOD}||${name}^\n||google.com^\n`;
    const { stderr } = await project.run("-c", "c.json");
    assert.doesNotMatch(stderr, /may-block-unknown/);
    assert.match(stderr, /would block 1 name that people need; it stays reachable: google\.com/);
    assert.ok(isBlocked(project, name) && !isBlocked(project, "google.com"), kind);
  }
  const wrong = start(GOOD, {}, { guards: { may_block: ["banks"] } });
  assert.match((await wrong.project.run("-c", "c.json")).stderr, /may-block-unknown/);
});

test("may_block, trust: full, own files and --compat may block them", async () => {
  const bad = `${GOOD}||google.com^\n`;
  for (const [what, one, flags] of [
    ["may_block", start(bad, {}, { guards: { may_block: ["google.com"] } }), []],
    ["full", start(bad, { trust: "full" }), []],
    ["compat", start(bad), ["--compat"]],
  ] as const) {
    const { exit, stderr } = await one.project.run("-c", "c.json", ...flags);
    assert.equal(exit, 0, `${what}: ${stderr}`);
    assert.doesNotMatch(stderr, /household|may-block-unknown/, what);
    assert.ok(isBlocked(one.project, "google.com"), what);
  }
  // The list blocks it, so it is not said to stay reachable.
  const both = start(bad, {}, { sources: [{ source: TV }, { source: "own.txt" }] });
  both.project.write("own.txt", "||google.com^\n");
  const { stderr } = await both.project.run("-c", "c.json");
  assert.doesNotMatch(stderr, /stays? reachable/);
  assert.ok(isBlocked(both.project, "google.com"));
});

test("protected names that the list blocks are not said to stay reachable", async () => {
  const one = start(
    `${GOOD}||time.apple.com^\n||time.google.com^\n`,
    {},
    {
      sources: [{ source: TV }, { source: "own.txt" }],
    },
  );
  one.project.write("own.txt", "||time.apple.com^\n");
  const { stderr } = await one.project.run("-c", "c.json");
  assert.match(stderr, /names that devices need; they stay reachable: time\.google\.com\n/);
});

test("the table has names of every kind for many countries, and each name has one kind", () => {
  const all = householdKinds();
  const kinds = new Set(all.values());
  for (const kind of [...STRICT_KINDS, ...ACCEPTED_KINDS]) assert.ok(kinds.has(kind), kind);
  for (const name of all.keys()) assert.match(name, /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
  for (const name of ["google.com", "www.google.com", "paypal.com", "sparkasse.de", "github.io"])
    assert.ok(!isAcceptedKind(all.get(name)!), name);
  const tokens = HOUSEHOLD_TABLE.trim().split(/\s+/);
  const sites = tokens.filter((one) => one.includes(".")).map((one) => one.split("+")[0]);
  const repeated = sites.filter((name, index) => sites.indexOf(name) !== index);
  assert.deepEqual(repeated, [], "written once");
  const countries = new Set(tokens.filter((one) => /^[A-Z]{2}$/.test(one)));
  const wanted =
    "DE AT CH UK IE US CA AU NZ FR BE NL LU ES PT IT PL CZ SK HU RO BG GR SE NO DK FI EE LV LT UA TR IL IN CN JP KR BR MX AR CL ZA";
  for (const one of wanted.split(" ")) assert.ok(countries.has(one), one);
});

test("the stricter kind of a name wins", () => {
  for (const table of [
    "shop: * a.example\nbank: DE a.example",
    "bank: DE a.example\nshop: * a.example",
  ])
    assert.deepEqual(
      [...readTable(table)],
      [
        ["a.example", "bank"],
        ["www.a.example", "bank"],
      ],
    );
  const order = [...STRICT_KINDS, ...ACCEPTED_KINDS];
  for (const [index, kind] of order.entries())
    for (const other of order.slice(index + 1))
      assert.equal(readTable(`${other}: * b.example\n${kind}: * b.example`).get("b.example"), kind);
});
