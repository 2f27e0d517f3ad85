import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { posixPath } from "../support/memory-host.ts";
import { listIn } from "../support/documents.ts";

function project(
  outputs: readonly object[],
  lines: readonly string[],
  more: object = {},
): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [
        { name: "First", source: "a.txt", type: "adblock" },
        { name: "Second", source: "b.txt", type: "adblock" },
      ],
      transformations: ["Compress", "InsertFinalNewLine"],
      outputs,
      ...more,
    }),
    "a.txt": `${lines.join("\n")}\n`,
    "b.txt": "||second.example^\n||third.example^\n",
  });
}

const LINES = ["||a.example^", "@@||good.a.example^", "||b.example^", "/regex[0-9]/"];
const WORDS = ["compile", "-c", "c.json", "--no-cache"];

interface Output {
  readonly file: string;
  readonly outcome: string;
  readonly names?: number;
  readonly parts?: number;
  readonly files?: readonly string[];
  readonly losses?: readonly { readonly reason: string; readonly count: number }[];
  readonly leftOut?: readonly object[];
}

async function outputsOf(of: MemoryProject): Promise<Output[]> {
  const { stdout, stderr, exit } = await of.run(...WORDS, "--json");
  assert.equal(exit, 0, stderr);
  return (listIn(stdout) as { outputs: Output[] }).outputs;
}

test("format outputs are written beside the list, each with its report", async () => {
  const made = project([{ format: "rpz" }, { format: "dnscrypt", file: "x/names.txt" }], LINES);
  const outputs = await outputsOf(made);
  assert.deepEqual(
    outputs.map(({ file, outcome, names }) => [file, outcome, names]),
    [
      ["rules/my-list.txt", "written", undefined],
      ["rules/my-list.rpz", "written", 4],
      ["rules/x/names.txt", "written", 4],
    ],
  );
  assert.deepEqual(
    outputs[1]!.losses?.map(({ reason, count }) => [reason, count]),
    [["regex", 1]],
  );
  assert.match(made.text("rules/x/names.allow.txt"), /^good\.a\.example$/m);
  assert.match(
    made.text("rules/my-list.rpz"),
    /^@ SOA localhost\. hostmaster\.localhost\. \d{10} /m,
  );
});

test("a file with the same rules is not written again, and keeps its serial and date", async () => {
  const made = project([{ format: "rpz" }, { format: "hosts" }, { format: "json" }], LINES);
  await outputsOf(made);
  const before = made.text("rules/my-list.rpz");
  made.now = "2026-11-11T00:00:00Z";
  assert.deepEqual(
    (await outputsOf(made)).map(({ outcome }) => outcome),
    ["unchanged", "unchanged", "unchanged", "unchanged"],
  );
  assert.equal(made.text("rules/my-list.rpz"), before);
});

test("the serial increases with every change, even if the clock goes back", async () => {
  const made = project([{ format: "rpz" }], LINES);
  const serial = (): number =>
    Number(/ SOA \S+ \S+ (\d+) /.exec(made.text("rules/my-list.rpz"))?.[1]);
  await outputsOf(made);
  let last = serial();
  assert.equal(last, Date.parse(made.now) / 1000);
  for (const [index, now] of [
    "2026-11-11T00:00:00Z",
    "2026-11-01T00:00:00Z",
    "2026-11-01T00:00:00Z",
  ].entries()) {
    made.now = now;
    made.write("b.txt", `||new${index}.example^\n||third.example^\n`);
    await outputsOf(made);
    assert.ok(serial() > last, `${serial()} after ${last}`);
    last = serial();
  }
});

test("a file that is too large is split, and parts that are no longer needed are removed", async () => {
  const lines = Array.from({ length: 25 }, (_, index) => `||n${index}.example^`);
  const made = project([{ format: "rpz", file: "l.rpz", split: { max_rules: 10 } }], lines);
  const [, output] = await outputsOf(made);
  assert.equal(output!.parts, 3);
  const parts = ["rules/l.rpz", "rules/l-2.rpz", "rules/l-3.rpz"].map((file) => made.text(file));
  assert.deepEqual(
    parts.map((text) => text.match(/^[^*;@$\n]+ CNAME \./gm)?.length),
    [10, 10, 7],
  );
  assert.ok(parts.every((text) => text.includes(" SOA ")));
  made.write("a.txt", "||n1.example^\n");
  await made.run(...WORDS, "--accept", "source-shrunk");
  assert.equal(made.memory.files.has("/project/rules/l-2.rpz"), false);
  assert.equal(made.memory.files.has("/project/rules/l-3.rpz"), false);
  const bytes = project([{ format: "domains", file: "l.txt", split: { max_bytes: 200 } }], lines);
  await outputsOf(bytes);
  const sizes = [...bytes.memory.files]
    .filter(([path]) => /\/l(?:-\d)?\.txt$/.test(path))
    .map(([, data]) => data.length);
  assert.ok(sizes.length > 1 && sizes.every((size) => size <= 200), sizes.join());
});

test("every part of a split JSON document is valid JSON", async () => {
  const lines = Array.from({ length: 25 }, (_, index) => `||n${index}.example^`);
  const made = project([{ format: "json", file: "l.json", split: { max_rules: 10 } }], lines);
  const [, output] = await outputsOf(made);
  assert.deepEqual(output!.files, ["rules/l.json", "rules/l-2.json", "rules/l-3.json"]);
  const rules = output!.files.map(
    (file) => (JSON.parse(made.text(file)) as { rules: unknown[] }).rules.length,
  );
  assert.deepEqual(rules, [10, 10, 7]);
});

test("rules beyond the size limit are left out from the end, and reported", async () => {
  const made = project([{ format: "domains", fit: { max_rules: 3 } }], LINES);
  const [, output] = await outputsOf(made);
  assert.equal(output!.names, 3);
  assert.deepEqual(output!.leftOut, [{ label: "Second", names: 1 }]);
  const { stderr } = await project([{ format: "domains", fit: { max_rules: 3 } }], LINES).run(
    ...WORDS,
  );
  assert.match(stderr, /over the limit: Second 1/);
  const small = project(
    [{ format: "domains", fit: { ram: "1k" } }],
    Array.from({ length: 30 }, (_, index) => `||n${index}.example^`),
  );
  assert.equal((await outputsOf(small))[1]!.names, Math.floor(1024 / 150));
});

test("on_loss: fail publishes nothing", async () => {
  const made = project([{ format: "rpz", on_loss: "fail" }], LINES);
  const { exit, stderr } = await made.run(...WORDS);
  assert.equal(exit, 5);
  assert.match(stderr, /error\[format-loss\]: rpz cannot express all rules: regex 1/);
  assert.equal(made.memory.files.has("/project/rules/my-list.txt"), false);
  assert.deepEqual(
    [...made.memory.files.keys()].filter((path) => path.includes(".tmp")),
    [],
  );
});

test("invalid outputs are reported before anything is fetched", async () => {
  for (const [outputs, message] of [
    [[{ format: "hosts", answer: "refused" }], /hosts has no refused/],
    [[{ format: "rpz", origin: "a b" }], /origin is not the name of a zone/],
    [[{ format: "rpz" }, { format: "rpz" }], /outputs write rules\/my-list\.rpz twice/],
    [[{ format: "rpzz" }], /outputs\[0\]\.format must be one of/],
    [[{ format: "hosts", split: { max_bytes: "lots" } }], /max_bytes must be a size/],
    [[{ format: "hosts", on_loss: "cry" }], /on_loss must be one of skip, widen, fail/],
    [[{ format: "rpz", ttl: 1.5 }], /ttl must be a whole number from 0 to 2147483647/],
    [[{ format: "rpz", ttl: 99_999_999_999 }], /ttl must be a whole number/],
    [[{ format: "rpz", ttl: -1 }], /ttl must be a whole number/],
    [
      [
        { format: "hosts", file: "a.txt", pack: ["gzip"] },
        { format: "domains", file: "a.txt.gz" },
      ],
      /outputs write rules\/a\.txt\.gz twice/,
    ],
    [
      [
        { format: "domains", file: "a.txt.zst" },
        { format: "hosts", file: "a.txt", pack: ["gzip", "zstd"] },
      ],
      /outputs write rules\/a\.txt\.zst twice/,
    ],
    [
      [
        { format: "dnscrypt", file: "a", pack: ["gzip"] },
        { format: "domains", file: "a.allow.gz" },
      ],
      /outputs write rules\/a\.allow\.gz twice/,
    ],
    [
      [
        { format: "dnscrypt", file: "a.x", split: { max_rules: 9 } },
        { format: "domains", file: "a-2.allow.x" },
      ],
      /parts of rules\/a\.x would have the name of another/,
    ],
  ] as const) {
    const { exit, stderr } = await project(outputs, LINES).run(...WORDS);
    assert.equal(exit, 2, stderr);
    assert.match(stderr, message);
  }
});

test("apply writes format outputs too", async () => {
  const made = project([{ format: "rpz" }], LINES);
  await made.run("plan", "-c", "c.json", "--no-cache", "--save", "p.plan");
  const { exit, stderr } = await made.run("apply", "p.plan");
  assert.equal(exit, 0, stderr);
  assert.match(made.text("rules/my-list.rpz"), /^third\.example CNAME \.$/m);
});

test("compressed files are written beside the output", async () => {
  const made = project([{ format: "hosts", pack: ["gzip"] }], LINES);
  await outputsOf(made);
  const packed = made.memory.files.get("/project/rules/my-list.hosts.gz")!;
  assert.deepEqual([...packed.subarray(0, 2)], [0x1f, 0x8b]);
});

test("compressed files that are no longer configured are removed, and no others", async () => {
  const split = { max_rules: 2 };
  const made = project([{ format: "hosts", pack: ["gzip"], split }], LINES);
  await outputsOf(made);
  const packed = (): string[] =>
    [...made.memory.files.keys()].filter((path) => /rules\/[^.][^/]*\.gz$/.test(path)).toSorted();
  assert.deepEqual(packed(), [
    "/project/rules/my-list-2.hosts.gz",
    "/project/rules/my-list.hosts.gz",
  ]);
  const without = (outputs: readonly object[]): void => {
    const config = JSON.parse(made.text("c.json")) as object;
    made.write("c.json", JSON.stringify({ ...config, outputs }));
  };
  without([{ format: "hosts", split }]);
  made.write("rules/my-list-2.hosts.gz", "of somebody else");
  made.write("rules/other.hosts.gz", "of somebody else");
  await outputsOf(made);
  assert.deepEqual(packed(), [
    "/project/rules/my-list-2.hosts.gz",
    "/project/rules/other.hosts.gz",
  ]);
  // What another output has by that name stays.
  without([{ format: "hosts", pack: ["gzip"] }]);
  await outputsOf(made);
  without([{ format: "hosts" }, { format: "domains", file: "my-list.hosts.gz" }]);
  await outputsOf(made);
  assert.match(made.text("rules/my-list.hosts.gz"), /^second\.example$/m);
});

test("an incomplete compressed file of a killed run is removed", async () => {
  const made = project([{ format: "hosts", pack: ["gzip"] }], LINES);
  await made.run(...WORDS);
  const words: string[] = [];
  const { memory } = made;
  const failing = new MemoryProject(
    { "c.json": made.text("c.json"), "a.txt": made.text("a.txt"), "b.txt": "||x.example^\n" },
    {
      packFile: (from, to) => {
        words.push(posixPath(to));
        memory.files.set(to, memory.files.get(from) ?? new Uint8Array(1));
        return Promise.reject(new HostError("EIO", "killed"));
      },
    },
  );
  await failing.run(...WORDS);
  assert.match(words[0]!, /^\/project\/rules\/\.my-list\.hosts\.gz\.[a-z0-9]+\.tmp$/);
  made.write("a.txt", "||new.example^\n");
  await outputsOf(made);
  assert.deepEqual(
    [...memory.files.keys()].filter((path) => path.endsWith(".tmp")),
    [],
  );
});

function recordsIn(text: string): string[] {
  return text.split("\n").filter((line) => / CNAME |^(?:address|server)=/.test(line));
}

test("a file is split between names, however many lines each has", async () => {
  const lines = Array.from({ length: 9 }, (_, index) => [
    `|e${index}.zq^`,
    `||*.b${index}.zq^`,
    `||s${index}.zq^`,
    `@@||g.s${index}.zq^`,
  ]).flat();
  for (const format of ["rpz", "dnsmasq"]) {
    const whole = project([{ format, file: "l.x" }], lines);
    await outputsOf(whole);
    const split = project([{ format, file: "l.x", split: { max_rules: 7 } }], lines);
    const [, output] = await outputsOf(split);
    const parts = output!.files!.map((file) => recordsIn(split.text(file)));
    assert.deepEqual(parts.flat(), recordsIn(whole.text("rules/l.x")), format);
    for (const part of parts.slice(0, -1))
      assert.ok(part.length > 0 && part.length <= 14, String(part.length));
  }
});

test("an output does not remove the parts of another list", async () => {
  const made = project([{ format: "hosts", file: "ads.hosts" }], LINES);
  made.write("rules/ads-2.hosts", "0.0.0.0 other.example\n");
  await outputsOf(made);
  assert.equal(made.text("rules/ads-2.hosts"), "0.0.0.0 other.example\n");
  for (const [outputs, message] of [
    [[{ format: "hosts", file: "my-list.txt" }], /outputs write rules\/my-list\.txt twice/],
    [
      [
        { format: "hosts", file: "m.x", split: { max_rules: 1 } },
        { format: "rpz", file: "m-2.x" },
      ],
      /parts of rules\/m\.x would have the name of another/,
    ],
  ] as const)
    assert.match((await project(outputs, LINES).run(...WORDS)).stderr, message);
});

test("a size limit includes everything, and the report lists what each source lost", async () => {
  const first = Array.from({ length: 30 }, (_, index) => `0.0.0.0 h${index}.example`);
  const config = { transformations: [] };
  const made = project([{ format: "dnsmasq", fit: { max_rules: 5 } }], first, config);
  const [, output] = await outputsOf(made);
  assert.equal(output!.names, 5);
  assert.deepEqual(output!.leftOut, [
    { label: "First", names: 25 },
    { label: "Second", names: 2 },
  ]);
  const bytes = project([{ format: "hosts", fit: { max_bytes: 300 } }], first.slice(0, 4), config);
  await outputsOf(bytes);
  assert.ok(bytes.memory.files.get("/project/rules/my-list.hosts")!.length <= 300);
});

test("an output that cannot be written is reported by name", async () => {
  const made = project([{ format: "hosts", pack: ["gzip"] }], LINES);
  const failing = new MemoryProject(
    Object.fromEntries(["c.json", "a.txt", "b.txt"].map((file) => [file, made.text(file)])),
    { packFile: () => Promise.reject(new HostError("EISDIR", "is a directory")) },
  );
  const { exit, stderr } = await failing.run(...WORDS, "--no-record");
  assert.equal(exit, 6);
  assert.match(stderr, /error\[output-failed\]/);
  assert.doesNotMatch(stderr, /bug:/);
});
