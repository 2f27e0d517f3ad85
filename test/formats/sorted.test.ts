import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "tldts";
import { namesByDomain } from "../../src/formats/names.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";

function project(sources: readonly string[], outputs: readonly object[]): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: sources.map((_, index) => ({ source: `${index}.txt`, name: `${index}` })),
      transformations: ["Compress", "Deduplicate"],
      outputs,
    }),
    ...Object.fromEntries(sources.map((text, index) => [`${index}.txt`, text])),
  });
}

async function rulesOf(of: MemoryProject, file: string): Promise<string[]> {
  const { exit, stderr } = await of.run("compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  const lines = of.text(`rules/${file}`).split("\n");
  return lines.filter((line) => !/^(?:[#;].*|)$/.test(line));
}

/** Without what depends on the line before. */
function bare(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^[, ]/, "")).toSorted();
}

function slowKey(name: string): string {
  const { domain } = parse(name, { validateHostname: false, allowPrivateDomains: false });
  const own = domain ?? name;
  return `${own}\n${name.slice(0, name.length - own.length)}`;
}

const FIRST = "||zeta.co.uk^\n||b.zeta.co.uk^\n||ads.alpha.com^\n|alpha.com^\n@@||ok.alpha.com^\n";
const SECOND = "||mid.org^\n||alpha.net^\n||beta.zeta.co.uk^\n||x.blogspot.com^\n";

test("names are sorted by registrable domain, whatever the order of the sources", async () => {
  const expected = [
    "alpha.com",
    "ads.alpha.com",
    "alpha.net",
    "x.blogspot.com",
    "mid.org",
    "zeta.co.uk",
    "b.zeta.co.uk",
    "beta.zeta.co.uk",
  ];
  const outputs = [{ format: "domains", sort: "name" }];
  assert.deepEqual(await rulesOf(project([FIRST, SECOND], outputs), "l.domains"), expected);
  assert.deepEqual(await rulesOf(project([SECOND, FIRST], outputs), "l.domains"), expected);
});

test("sorting does not change the meaning of a file", async () => {
  for (const format of ["hosts", "domains", "rpz", "dnsmasq", "unbound", "pihole", "json"]) {
    const outputs = ["none", "name"].map((sort) => ({ format, sort, file: sort }));
    const made = project([FIRST, SECOND], outputs);
    const [none, name] = [await rulesOf(made, "none"), await rulesOf(made, "name")];
    assert.deepEqual(bare(name), bare(none), format);
  }
});

test("the order of sources, not of names, decides what exceeds a size limit", async () => {
  const outputs = [{ format: "domains", sort: "name", fit: { max_rules: 2 } }];
  const made = project(["||z.example^\n||y.example^\n", "||a.example^\n"], outputs);
  assert.deepEqual(await rulesOf(made, "l.domains"), ["y.example", "z.example"]);
});

test("many names are sorted like the reference sort", () => {
  const random = new Random(7);
  const label = (): string =>
    Array.from({ length: 1 + random.below(7) }, () => "ab-1x"[random.below(5)]).join("");
  const ends = ["com", "co.uk", "github.io", "example", "kawasaki.jp", "xn--p1ai", "ck"];
  const names = Array.from({ length: 5000 }, () => {
    const labels = Array.from({ length: 1 + random.below(4) }, label);
    return [...labels, ends[random.below(ends.length)]!].join(".");
  });
  const parts = [names.slice(0, 1000), names.slice(1000, 1001), names.slice(1001)].map((some) => {
    const bytes = new TextEncoder().encode(some.map((name) => `${name}\n`).join(""));
    const block = { source: 0, count: some.length, length: bytes.length, load: () => bytes };
    return { block, taken: some.length };
  });
  const sorted = namesByDomain(parts).flatMap(({ load, length, count }) => {
    const bytes = load();
    assert.equal(bytes.length, length);
    const lines = new TextDecoder().decode(bytes).trimEnd().split("\n");
    assert.equal(lines.length, count);
    return lines;
  });
  const slow = names.toSorted((a, b) =>
    slowKey(a) < slowKey(b) ? -1 : Number(slowKey(a) > slowKey(b)),
  );
  assert.deepEqual(sorted, slow);
});
