import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { listIn } from "../support/documents.ts";

const TRUSTS = ["full", "standard", "block-only"] as const;
const APEX = "@ SOA localhost. root.localhost. 1 2 3 4 5\n@ NS localhost.\n";

interface Read {
  readonly rules: readonly string[];
  readonly dropped: Readonly<Record<string, number>>;
}

async function read(zone: string, trust: string): Promise<Read> {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "Zone", source: "a.rpz", type: "rpz", trust }],
      transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
    }),
    "a.rpz": `${APEX}${zone}`,
  });
  const words = ["-c", "c.json", "--json", "--accept", "too-few-rules"];
  const { exit, stdout, stderr } = await project.run(...words);
  assert.equal(exit, 0, stderr);
  const { sources } = listIn(stdout) as { sources: { dropped: Record<string, number> }[] };
  const lines = project.text("rules/l.txt").split("\n");
  return {
    rules: lines.filter((line) => line !== "" && !line.startsWith("!")),
    dropped: sources[0]!.dropped,
  };
}

function records(count: number, record: (name: string) => string): string {
  return Array.from({ length: count }, (_, index) => record(`bad${index}.example`)).join("");
}

for (const [form, record] of [
  ["one name", (name: string) => `${name} CNAME hole-sinkhole.cert.example.\n`],
  ["one address", (name: string) => `${name} 60 IN A 195.187.6.33\n`],
  [
    "one name, with the names below",
    (name: string) => `${name} CNAME page.example.net.\n*.${name} CNAME page.example.net.\n`,
  ],
  [
    "one address of each family",
    (name: string) => `${name} A 195.187.6.33\n${name} AAAA 2001:db8::33\n`,
  ],
] as const)
  test(`a zone that answers with ${form} blocks all its names`, async () => {
    for (const trust of TRUSTS) {
      // A landing page of its own for one name does not change the rest.
      const zone = `${records(4000, record)}other.example CNAME elsewhere.example.org.\n`;
      const { rules, dropped } = await read(zone, trust);
      const blocks = new Set(rules.filter((rule) => !rule.includes("$")));
      const isWide = form.includes("below");
      const missing = Array.from({ length: 4000 }, (_, index) => `bad${index}.example^`).filter(
        (name) => !blocks.has(`${isWide ? "||" : "|"}${name}`),
      );
      assert.deepEqual([missing.length, blocks.size], [0, 4000], `${trust}: ${missing[0]}`);
      const rewrites = rules.filter((rule) => rule.includes("$"));
      if (trust === "full")
        assert.deepEqual(rewrites, ["|other.example^$dnsrewrite=elsewhere.example.org"]);
      else assert.deepEqual([rewrites, dropped["rewrites"]], [[], 1]);
    }
  });

const COUNTRIES = Array.from({ length: 190 }, (_, index) =>
  String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26)),
);

test("a zone for safe search blocks no name, whatever most of its records are", async () => {
  for (const target of ["CNAME forcesafesearch.google.com.", "A 216.239.38.120"]) {
    const google = COUNTRIES.map((country) => `www.google.${country} ${target}\n`).join("");
    const others = "www.youtube.com CNAME restrict.youtube.com.\nbing.com CNAME strict.bing.com.\n";
    for (const trust of TRUSTS) {
      const { rules, dropped } = await read(`${google}${others}a.example CNAME .\n`, trust);
      const blocks = rules.filter((rule) => !rule.includes("$dnsrewrite="));
      assert.deepEqual(blocks, ["|a.example^"], trust);
      if (trust === "full") assert.equal(rules.length, 193);
      else assert.equal(dropped["rewrites"], 192);
    }
  }
});

test("a small zone and a zone with many targets have rewrites", async () => {
  const few = records(24, (name) => `${name} CNAME page.example.net.\n`);
  const many = records(400, (name) => `${name} CNAME page.${name}.\n`);
  const halves = ["one", "two"].map((page) =>
    records(200, (name) => `${page}.${name} CNAME ${page}.example.net.\n`),
  );
  for (const zone of [few, many, halves.join("")])
    for (const trust of TRUSTS) {
      const { rules, dropped } = await read(`${zone}a.example CNAME .\n`, trust);
      assert.deepEqual(
        rules.filter((rule) => !rule.includes("$dnsrewrite=")),
        ["|a.example^"],
      );
      const count = zone.split("\n").length - 1;
      if (trust === "full") assert.equal(rules.length, count + 1);
      else assert.equal(dropped["rewrites"], count);
    }
});

test("random zones: a target is a sinkhole if most names have it", async () => {
  const random = new Random(41);
  for (let round = 0; round < 30; round++) {
    const size = random.pick([30, 49, 50, 120, 400]);
    const share = random.pick([0, 0.2, 0.45, 0.55, 0.9]);
    const others = random.pick([3, 40, 5000]);
    const targetOf = (): string =>
      random.chance(share) ? "hole.example.net" : `t${random.below(others)}.example.org`;
    const zone = Array.from({ length: size }, (_, index) => [`n${index}.example`, targetOf()]);
    const text = zone.map(([name, target]) => `${name} CNAME ${target}.\n`).join("");
    const { rules } = await read(`a.example CNAME .\n${text}`, "full");
    const counts = new Map<string, number>();
    for (const [, target] of zone) counts.set(target!, (counts.get(target!) ?? 0) + 1);
    const isHole = (target: string): boolean =>
      size + 1 >= 50 && counts.get(target)! > (size + 1) / 2;
    const expected = zone.map(([name, target]) =>
      isHole(target!) ? `|${name}^` : `|${name}^$dnsrewrite=${target}`,
    );
    assert.deepEqual(rules, ["|a.example^", ...expected], `round ${round}`);
  }
});
