import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Config, type MemoryHost, memoryHost } from "../support/internals.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";

const LIST = "/project/out.txt";

function names(count: number, start = "n"): string {
  return Array.from({ length: count }, (_, index) => `||${start}${index}.example^\n`).join("");
}

class Project {
  readonly host: MemoryHost;

  constructor(text: string, config: Partial<Config> = {}, web: Record<string, string> = {}) {
    const whole = { name: "N", sources: [{ source: "a.txt", name: "A", type: "adblock" }] };
    this.host = memoryHost({
      files: { "c.json": JSON.stringify({ ...whole, ...config }), "a.txt": text },
      web,
    });
  }

  write(text: string, file = "a.txt"): void {
    this.host.files.set(`/project/${file}`, new TextEncoder().encode(text));
  }

  async run(...more: string[]): Promise<{ exit: number; said: string }> {
    this.host.output.stderr = "";
    const args = ["-c", "c.json", "-o", "out.txt", ...more];
    const exit = await run(args, this.host, new AbortController().signal);
    return { exit, said: this.host.output.stderr };
  }

  get list(): string {
    return new TextDecoder().decode(this.host.files.get(LIST));
  }

  get rules(): number {
    return this.list.split("\n").filter((line) => line !== "" && !line.startsWith("!")).length;
  }
}

test("no change of own files, and no added, removed or changed source, refuses a list by its size", async () => {
  const [small, large] = [names(2), names(20_000, "l")];
  const a = { source: "a.txt", name: "A", type: "adblock" as const };
  const b = { source: "b.txt", name: "B", type: "adblock" as const };
  const project = new Project(small, {});
  project.write(large, "b.txt");
  for (const [what, sources, more] of [
    ["the first list of one's own", [a], {}],
    ["a real list is added", [a, b], {}],
    ["it is removed", [a], {}],
    ["it comes back, before the other", [b, a], {}],
    ["it is filtered", [{ ...b, exclusions: ["/l\\d{3,}/"] }, a], {}],
    ["it is filtered no more", [b, a], {}],
    ["the list is filtered", [b, a], { exclusions: ["/l\\d{3,}/"] }],
  ] as const) {
    project.write(JSON.stringify({ name: "N", sources, ...more }), "c.json");
    const { exit, said } = await project.run();
    assert.equal(exit, 0, `${what}: ${said}`);
  }
  for (const count of [20_000, 2, 60_000]) {
    project.write(names(count), "a.txt");
    const { exit, said } = await project.run();
    assert.equal(exit, 0, `${count}: ${said}`);
  }
});

test("a source that was unavailable once is not refused when it returns", async () => {
  const config = {
    sources: [
      { source: "a.txt", name: "A", type: "adblock" as const },
      { source: "b.txt", name: "B", type: "adblock" as const, required: false },
    ],
  };
  const project = new Project(names(5000), config);
  project.write(names(1000, "b"), "b.txt");
  assert.equal((await project.run()).exit, 0);
  project.host.files.delete("/project/b.txt");
  const away = await project.run("--strict");
  assert.equal(away.exit, 3, away.said);
  project.write(names(1000, "b"), "b.txt");
  const back = await project.run();
  assert.equal(back.exit, 0, back.said);
  assert.equal(project.rules, 6000);
});

test("the configuration can set the limits", async () => {
  const guards = { max_shrink: 95, min_rules: 60 };
  const project = new Project(names(1000), { guards });
  assert.equal((await project.run()).exit, 0);
  project.write(names(60));
  assert.equal((await project.run()).exit, 0);
  project.write(names(59));
  assert.match((await project.run()).said, /error\[too-few-rules\]: .*59 rules; at least 60/);
});

test("an empty list is not published", async () => {
  const project = new Project("! nothing\n");
  const { exit, said } = await project.run();
  assert.equal(exit, 5);
  assert.match(said, /error\[too-few-rules\]/);
  assert.equal(project.host.files.has(LIST), false);
  assert.equal((await project.run("--accept", "too-few-rules")).exit, 0);
});

test("min_rules applies to each output too", async () => {
  // Names for some types of query only cannot be written as hosts.
  const partial = names(100).replaceAll("^", "^$dnstype=A");
  const config = {
    guards: { min_rules: 50 },
    outputs: [{ format: "hosts" as const, file: "hosts.txt" }],
  };
  const project = new Project(names(49, "h") + partial, config);
  const { exit, said } = await project.run("-r");
  assert.equal(exit, 5, said);
  assert.match(said, /error\[too-few-rules\]: rules\/hosts\.txt would have 49 names; at least 50/);
  assert.equal(project.host.files.has(LIST), false);
  assert.equal((await project.run("-r", "--accept", "too-few-rules")).exit, 0);
  project.write(names(50, "h") + partial);
  assert.equal((await project.run("-r")).exit, 0);
  // One that may not have as many is full, and not too small.
  const limited = { ...config, outputs: [{ ...config.outputs[0]!, fit: { rules: 20 } }] };
  assert.equal((await new Project(names(60), limited).run("-r")).exit, 0);
});

/** Ways to block a name that devices need. */
const BLOCKING = [
  "||captive.apple.com^",
  "||apple.com^",
  "||APPLE.com^",
  "0.0.0.0 captive.apple.com",
  "0.0.0.0 ads.example captive.apple.com",
  "captive.apple.com",
  "||captive.apple.com^$important",
  "||captive.apple.com^*",
  "0.0.0.0 x.example.net Captive.Apple.com",
  "||captive.apple.com^\n@@||captive.apple.com^$client=127.0.0.9",
  "||captive.apple.com^\n@@||captive.apple.com^$dnstype=TXT",
  "||*.apple.com^",
  "/^captive\\./",
  "||apple.com^$denyallow=icloud.com",
];
const REMOTE = "https://lists.example/l.txt";

/** Broader rules may block the names that people need, and so only the names that devices need are judged. */
const PERMITTED = { guards: { may_block: ["apple.com"] } };

/** A project with a source from an address. */
function remote(text: string, config: Partial<Config> = {}): Project {
  const sources = [
    { source: "a.txt", name: "A", type: "adblock" as const },
    { source: REMOTE, name: "Far", type: "adblock" as const },
  ];
  return new Project("||own.example^\n", { sources, ...config }, { [REMOTE]: text });
}

function isListed(project: Project, name: string): boolean {
  return isBlocked(naiveRules(project.list.split("\n")), name);
}

for (const rule of BLOCKING)
  test(`an untrusted rule leaves a protected name reachable: ${rule}`, async () => {
    for (const text of [`||ok.example^\n${rule}\n`, `${rule}\n||ok.example^\n`]) {
      const project = remote(text, PERMITTED);
      for (const time of ["first", "second"]) {
        const { exit, said } = await project.run();
        assert.equal(exit, 0, said);
        assert.ok(!isListed(project, "captive.apple.com"), project.list);
        assert.ok(isListed(project, "ok.example") && isListed(project, "own.example"));
        if (time === "first")
          assert.match(said, /warning\[protected-names\]: Far .*captive\.apple\.com/);
      }
      assert.equal((await remote(text, PERMITTED).run("--strict")).exit, 3);
    }
  });

test("an untrusted broader rule blocks everything except the protected name", async () => {
  const project = remote(
    "||apple.com^$important\n||crl.microsoft.com^\n0.0.0.0 ads.example ocsp.digicert.com\n",
    PERMITTED,
  );
  const { said } = await project.run();
  assert.ok(isListed(project, "apple.com") && isListed(project, "music.apple.com"));
  assert.ok(isListed(project, "ads.example"));
  for (const name of ["captive.apple.com", "crl.microsoft.com", "ocsp.digicert.com"])
    assert.ok(!isListed(project, name), name);
  assert.match(said, /Far .* protected 1/);
  assert.equal(said.match(/protected-names/g)?.length, 1);
});

test("may_block removes the protection of a name for every source", async () => {
  const guards = { may_block: ["||captive.apple.com^", "nowhere.example"] };
  const project = remote("||captive.apple.com^\n", { guards });
  const { exit, said } = await project.run();
  assert.equal(exit, 0);
  assert.ok(isListed(project, "captive.apple.com"));
  assert.doesNotMatch(said, /protected-names/);
  assert.match(said, /warning\[may-block-unknown\]: nowhere\.example/);
});

for (const rule of BLOCKING)
  test(`a trusted rule for a protected name is published with a warning on first publish: ${rule}`, async () => {
    const project = new Project(`||ok.example^\n! why\n${rule}\n`);
    const { exit, said } = await project.run();
    assert.equal(exit, 0, said);
    assert.match(said, /warning\[protected-blocked\]: .* blocks .*captive\.apple\.com/);
    assert.match(said, /a\.txt:3/);
    assert.ok(project.list.toLowerCase().includes(`\n${rule.toLowerCase()}`));
  });

test("a broader rule that newly blocks an essential name is refused until it is acknowledged", async () => {
  const project = new Project("||ok.example^\n");
  assert.equal((await project.run()).exit, 0);
  project.write("||ok.example^\n||time.nist.gov^\n||ntp.org^\n");
  const { exit, said } = await project.run();
  assert.equal(exit, 5);
  assert.match(said, /error\[blocks-protected\]: \|\|ntp\.org\^ blocks 2 names/);
  assert.match(said, /guards: \{ may_block: \[pool\.ntp\.org, 0\.pool\.ntp\.org\] \}/);
  assert.match(said, /warning\[protected-blocked\]: \|\|time\.nist\.gov\^/);
  assert.equal((await project.run("--accept", "blocks-protected")).exit, 0);
  // What was published with it is not new.
  project.write("||ok.example^\n||ntp.org^\n||more.example^\n");
  assert.equal((await project.run()).exit, 0);
});

/** Rules that do not block it in the end. */
const HARMLESS = [
  ["0.0.0.0 apple.com"],
  ["||notapple.com^"],
  ["||c.pki.goog^", "@@||c.pki.goog^"],
  ["||apple.com^", "@@||apple.com^"],
  ["||captive.apple.com^$important", "@@||captive.apple.com^$important"],
  ["||captive.apple.com^", "||captive.apple.com^$badfilter"],
  ["||apple.com^$denyallow=apple.com"],
];
for (const rules of HARMLESS)
  test(`rules that do not block a protected name in effect are published: ${rules.join(" ")}`, async () => {
    const project = new Project(`${rules.join("\n")}\n`);
    const { exit, said } = await project.run();
    assert.equal(exit, 0, said);
  });

test("an exception that is weaker than the block does not unblock a protected name", async () => {
  const project = new Project("||captive.apple.com^$important\n@@||captive.apple.com^\n");
  assert.match((await project.run()).said, /protected-blocked/);
});

test("configured names and the servers of sources are protected in any syntax", async () => {
  for (const line of ["our.example", "||our.example^", "0.0.0.0 our.example"]) {
    const project = new Project("||our.example^\n", { guards: { protect: ["never.txt"] } });
    project.write(`# ours\n${line}\n`, "never.txt");
    assert.match((await project.run()).said, /blocks our\.example, which devices need/);
  }
  const url = "https://lists.our.example/l.txt";
  const host = memoryHost({
    files: { "c.json": JSON.stringify({ name: "N", sources: [{ source: url }] }) },
    web: { [url]: "||our.example^\n" },
  });
  const args = ["-c", "c.json", "-o", "out.txt"];
  assert.equal(await run(args, host, new AbortController().signal), 0);
  assert.match(host.output.stderr, /protected-names.*lists\.our\.example/);
  const list = new TextDecoder().decode(host.files.get(LIST));
  assert.ok(!isBlocked(naiveRules(list.split("\n")), "lists.our.example"));
});

test("a rule for a large suffix is refused even from a trusted file, unless the validator allows it", async () => {
  for (const rule of ["||com^", "0.0.0.0 com", "||*.com^", "*****"]) {
    const project = new Project("||a.example^\n");
    assert.equal((await project.run()).exit, 0);
    project.write(`||a.example^\n${rule}\n`);
    const { exit, said } = await project.run();
    assert.equal(exit, 5, rule);
    assert.match(said, /error\[blocks-suffix\]/, rule);
    assert.match(said, /a\.txt:2/, rule);
  }
  const project = new Project("||a.example^\n||zip^\n", {
    transformations: ["ValidateAllowPublicSuffix"],
  });
  assert.equal((await project.run()).exit, 0);
});

test("--compat disables the guards", async () => {
  const project = new Project("||com^\n||apple.com^\n");
  assert.equal((await project.run("--compat")).exit, 0);
});

test("the state beside a published list contains no passwords", async () => {
  const url = "https://user:hunter22@lists.example/l.txt";
  const host = memoryHost({
    files: { "c.json": JSON.stringify({ name: "N", sources: [{ source: url }] }) },
    web: { [url]: names(3) },
  });
  const args = ["-c", "c.json", "-o", "out.txt"];
  assert.equal(await run(args, host, new AbortController().signal), 0);
  const record = new TextDecoder().decode(host.files.get("/project/.rules-compiler/out.txt.json"));
  assert.doesNotMatch(record, /hunter22/);
  assert.equal((JSON.parse(record) as { rules: number }).rules, 3);
});
