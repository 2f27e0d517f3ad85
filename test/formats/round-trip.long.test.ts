import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { DEFAULT_OPTIONS } from "../../src/formats/name-format.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { isNightly } from "../support/nightly.ts";
import { nameIn } from "../support/documents.ts";

const LABELS = ["a", "b", "c"];

function shapesOf(format: string): string[] {
  const lines = nameFormats.get(format)!.lines(DEFAULT_OPTIONS);
  if (format === "adblock")
    return ["||%^", "|%^", "||*.%^", "@@||%^", "||%^$important", "/%[0-9]/"];
  return [
    ...(lines.subtree === undefined ? [] : ["||%^", "||%^"]),
    ...(lines.exact === undefined ? [] : ["|%^"]),
    ...(lines.below === undefined ? [] : ["||*.%^"]),
    ...(lines.allowSubtree === undefined || nameFormats.get(format)!.hasAllowFile === true
      ? []
      : ["@@||%^"]),
  ];
}

function isRule(line: string): boolean {
  return line !== "" && !line.startsWith("!");
}

/** The rules of a list, as texts. */
async function compiled(
  source: string,
  type: string,
  format?: string,
): Promise<{ list: string; artifact: string }> {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type }],
      ...(format && { outputs: [{ format, file: "artifact" }] }),
    }),
    "a.txt": source,
  });
  const { exit, stderr } = await project.run(
    "compile",
    "-q",
    "-c",
    "c.json",
    "--no-cache",
    "--accept",
    "too-few-rules",
  );
  assert.equal(exit, 0, stderr);
  return {
    list: project.text("rules/l.txt").split("\n").filter(isRule).join("\n"),
    artifact: format === undefined ? "" : project.text("rules/artifact"),
  };
}

for (const format of FORMAT_NAMES)
  test(`${format}: a file that is written and read back has the same meaning`, async () => {
    const random = new Random(FORMAT_NAMES.indexOf(format) + 1);
    const nameOf = (): string =>
      [...Array.from({ length: random.below(4) }, () => random.pick(LABELS)), "x", "example"].join(
        ".",
      );
    const shapes = shapesOf(format);
    for (let round = 0; round < (isNightly ? 60 : 8); round++) {
      const lines = Array.from({ length: 1 + random.below(8) }, () =>
        random.pick(shapes).replace("%", nameOf()),
      );
      const { list, artifact } = await compiled(`${lines.join("\n")}\n`, "adblock", format);
      const back = await compiled(artifact, format);
      const [before, after] = [new NaiveNames(list), new NaiveNames(back.list)];
      for (let asked = 0; asked < 40; asked++) {
        const name = nameOf();
        assert.equal(
          after.isBlocked(name),
          before.isBlocked(name),
          `${name} in\n${list}\n--\n${artifact}\n--\n${back.list}`,
        );
      }
    }
  });

/** Formats in which the most specific name wins, with exceptions in the same file. */
const NESTING = ["dnsmasq", "dnsmasq-servers", "unbound", "rpz", "smartdns", "rbldnsd", "json"];

/** Lists with a rule inside an exception that a run must have met. */
const ENOUGH_NESTED = 5;

for (const format of NESTING)
  test(`${format}: blocks inside exceptions, and exceptions inside those, are read back`, async () => {
    const random = new Random(NESTING.indexOf(format) + 101);
    const lines = nameFormats.get(format)!.lines(DEFAULT_OPTIONS);
    const patterns = [
      "||%^",
      "||%^",
      ...(lines.exact === undefined ? [] : ["|%^"]),
      ...(lines.below === undefined ? [] : ["||*.%^"]),
    ];
    const nameOf = (): string =>
      [
        ...Array.from({ length: random.below(5) }, () => random.pick(["a", "a", "b"])),
        "x",
        "example",
      ].join(".");
    let nested = 0;
    const rounds = isNightly ? 120 : 12;
    for (let round = 0; round < rounds || (nested < ENOUGH_NESTED && round < 300); round++) {
      const rules = Array.from({ length: 2 + random.below(10) }, () => {
        const pattern = random.pick(patterns).replace("%", nameOf());
        return `${random.pick(["", "@@"])}${pattern}${random.pick(["", "$important"])}`;
      });
      const project = new MemoryProject({
        "c.json": JSON.stringify({
          name: "L",
          sources: [{ name: "A", source: "a.txt", type: "adblock" }],
          outputs: [{ format, file: "artifact", on_loss: "fail" }],
        }),
        "a.txt": `${rules.join("\n")}\n`,
      });
      const accepted = ["--accept", "too-few-rules"];
      const { exit } = await project.run("-q", "-c", "c.json", "--no-cache", ...accepted);
      // What the format cannot say is another matter.
      if (exit !== 0) continue;
      const artifact = project.text("rules/artifact");
      const back = await compiled(artifact, format);
      if (back.list.includes("$important")) nested++;
      const [before, after] = [new NaiveNames(rules.join("\n")), new NaiveNames(back.list)];
      for (let asked = 0; asked < 80; asked++) {
        const name = nameOf();
        assert.equal(
          after.isBlocked(name),
          before.isBlocked(name),
          `${name} in\n${rules.join("\n")}\n--\n${artifact}\n--\n${back.list}`,
        );
      }
    }
    assert.ok(nested >= ENOUGH_NESTED, `${nested} nested lists`);
  });

test("files of other programs in these formats", async () => {
  for (const [type, text, rules] of [
    [
      "dnsmasq",
      "address=/a.example/0.0.0.0\nlocal=/b.example/\nserver=/c.example/8.8.8.8\naddress=/d.example/10.0.0.1\ncache-size=100\n",
      ["||a.example^", "||b.example^", "||d.example^$dnsrewrite=10.0.0.1"],
    ],
    [
      "unbound",
      'server:\n  local-zone: "a.example" redirect\n  local-data: "b.example A 0.0.0.0"\nlocal-zone: "c.example." transparent\n',
      ["||a.example^", "0.0.0.0 b.example", "@@||c.example^"],
    ],
    [
      "rpz",
      "$TTL 60\n@ SOA localhost. root.localhost. 1 2 3 4 5\n@ NS localhost.\na.example CNAME .\n*.a.example CNAME .\nb.example 300 IN CNAME *. ; why\n32.1.0.0.127.rpz-ip CNAME .\nc.example A 10.0.0.1\n",
      ["||a.example^", "|b.example^", "|c.example^$dnsrewrite=10.0.0.1"],
    ],
    [
      "rbldnsd",
      ":127.0.0.2:Listed\n.a.example\nb.example :1:text\n!.c.a.example\n",
      ["||a.example^", "|b.example^", "@@||c.a.example^"],
    ],
    ["squid", "# list\n.a.example\nb.example\n", ["||a.example^", "|b.example^"]],
    [
      "blocky",
      "*.a.example\nb.example\n/ads[0-9]/\n",
      ["||a.example^", "|b.example^", "/ads[0-9]/"],
    ],
  ] as const)
    assert.deepEqual((await compiled(text, type)).list.split("\n"), rules, type);
});

test("lines that look like blocks but are not", async () => {
  for (const [type, text, rules] of [
    [
      "rpz",
      "a.zq A 0.0.0.0\na.zq AAAA ::\n*.a.zq A 0.0.0.0\n*.a.zq AAAA ::\n",
      ["|a.zq^", "||*.a.zq^"],
    ],
    [
      "rpz",
      "a.zq CNAME .\n24.0.0.0.10.rpz-client-ip CNAME rpz-passthru.\nb.zq CNAME rpz-tcp-only.\n",
      ["|a.zq^"],
    ],
    ["dnsmasq", "address=/a.zq/\naddress=/b.zq/nonsense\n", ["||a.zq^"]],
    [
      "unbound",
      'local-zone: "a.zq" static\nlocal-zone: "10.in-addr.arpa." nodefault\nlocal-zone: "b.zq" inform\n',
      ["||a.zq^"],
    ],
    ["rbldnsd", "$SOA 3600 a b 1 2 3 4 5\n$NS 3600 ns\n!\n.a.zq\n", ["||a.zq^"]],
    [
      "json",
      '{"name":"b.zq^\\n||injected.zq","scope":"subtree","action":"block"}\n{"name":"a.zq","scope":"subtree","action":"block"}\n',
      ["||a.zq^"],
    ],
  ] as const)
    assert.deepEqual((await compiled(text, type)).list.split("\n"), rules, `${type}\n${text}`);
});

test("why finds lines of other formats", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "dnsmasq" }],
    }),
    "a.txt": "# dnsmasq\naddress=/a.example/\naddress=/b.example/0.0.0.0\n",
  });
  await project.run("compile", "-q", "-c", "c.json");
  const { stdout } = await project.run("why", "-c", "c.json", "x.b.example", "--json");
  const { verdict, lines } = nameIn(stdout) as {
    verdict: string;
    lines: { line: number; text: string }[];
  };
  assert.equal(verdict, "blocked");
  assert.deepEqual(
    lines.map(({ line, text }) => [line, text]),
    [[3, "address=/b.example/0.0.0.0"]],
  );
});

test("pairs of lines are joined across block boundaries", async () => {
  const names = Array.from({ length: 60_000 }, (_, index) => `some-longer-name-${index}.example`);
  const { artifact } = await compiled(
    names.map((name) => `||${name}^`).join("\n"),
    "adblock",
    "rpz",
  );
  assert.ok(artifact.length > 3_000_000);
  const { list } = await compiled(artifact, "rpz");
  assert.deepEqual(
    list.split("\n"),
    names.map((name) => `||${name}^`),
  );
});
