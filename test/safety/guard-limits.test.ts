import assert from "node:assert/strict";
import { test } from "node:test";
import { type GuardContext, guardLimits } from "../../src/compile/guards/guard.ts";
import { refusals } from "../../src/compile/guards/registry.ts";
import { RowFinder } from "../../src/kernel/row-finder.ts";
import { Flag, Kind } from "../../src/rules/kind.ts";
import { NameWatch, isForHost } from "../../src/meaning/name-watch.ts";
import { compile, memoryHost, rowsOf } from "../../src/index.ts";

type State = GuardContext["report"]["sources"][number]["state"];

interface Sizes {
  readonly rules: number;
  readonly lines: number;
  readonly state?: State;
}

/** What is refused when a list of one source goes from one size to another. */
function refused(
  before: Sizes | undefined,
  now: Sizes,
  config: object = {},
  accepted: string[] = [],
): string[] {
  const source = {
    label: "A",
    source: "a.txt",
    bytes: 0,
    kept: now.lines,
    dropped: {},
    lines: now.lines,
  };
  const context: GuardContext = {
    limits: guardLimits({ name: "N", sources: [], guards: config }),
    report: {
      name: "N",
      sources: [{ ...source, state: now.state ?? "local" }],
      lines: now.lines,
      kept: now.rules,
      rules: now.rules,
      bytes: 0,
      degraded: false,
    },
    last:
      before === undefined
        ? undefined
        : {
            version: 1,
            published: "",
            rules: before.rules,
            sources: [{ ...source, lines: before.lines, kept: 0 }],
          },
  };
  return refusals([], context, accepted).map(({ code }) => code);
}

const SAME = { rules: 1000, lines: 1000 };

test("the limits of a list's size, to the rule", () => {
  for (const [before, now, codes] of [
    // More than 30 % and more than a hundred.
    [1000, 700, []],
    [1000, 699, ["list-shrunk"]],
    [200, 100, []],
    [201, 100, ["list-shrunk"]],
    [333, 233, []],
    // More than 200 % and more than a hundred.
    [1000, 3000, []],
    [1000, 3001, ["list-grown"]],
    [50, 150, []],
    [50, 151, ["list-grown"]],
    [40, 140, []],
    [1, 101, []],
    [1, 102, ["list-grown"]],
    [1000, 1000, []],
  ] as const)
    assert.deepEqual(
      refused({ rules: before, lines: 1 }, { rules: now, lines: 1 }),
      codes,
      `${before} → ${now}`,
    );
  assert.deepEqual(refused(undefined, SAME), []);
  assert.deepEqual(refused(undefined, { rules: 0, lines: 0 }), ["too-few-rules"]);
  assert.deepEqual(refused(undefined, { rules: 1, lines: 1 }), []);
  assert.deepEqual(refused(undefined, { rules: 9, lines: 9 }, { min_rules: 10 }), [
    "too-few-rules",
  ]);
  assert.deepEqual(refused(undefined, { rules: 10, lines: 9 }, { min_rules: 10 }), []);
});

test("the limits of a source's size, to the line", () => {
  for (const [before, now, codes] of [
    // More than 50 % and more than a hundred.
    [1000, 500, []],
    [1000, 499, ["source-lost-lines"]],
    [190, 90, []],
    [191, 90, ["source-lost-lines"]],
    [1000, 3000, []],
    [1000, 3001, ["source-grown"]],
    [10, 110, []],
    [10, 111, ["source-grown"]],
  ] as const)
    assert.deepEqual(
      refused({ rules: 9, lines: before }, { rules: 9, lines: now }),
      codes,
      `${before} → ${now}`,
    );
  // One that is not itself, or was not there, is not compared.
  for (const state of ["stale", "dropped"] as const)
    assert.deepEqual(refused(SAME, { rules: 1000, lines: 1, state }), [], state);
  for (const state of ["local", "fetched", "unchanged", "locked"] as const)
    assert.deepEqual(refused(SAME, { rules: 1000, lines: 1, state }), ["source-lost-lines"], state);
});

test("limits of one's own, and what was accepted", () => {
  assert.deepEqual(refused(SAME, { rules: 890, lines: 1000 }, { max_shrink: 10 }), ["list-shrunk"]);
  assert.deepEqual(
    refused(SAME, { rules: 890, lines: 1000 }, { max_shrink: 10 }, ["list-shrunk"]),
    [],
  );
  assert.deepEqual(refused(SAME, { rules: 890, lines: 1000 }, { max_shrink: 10 }, ["list-grown"]), [
    "list-shrunk",
  ]);
  assert.deepEqual(refused(SAME, { rules: 1000, lines: 790 }, { max_source_shrink: 20 }), [
    "source-lost-lines",
  ]);
  assert.deepEqual(refused(SAME, { rules: 1200, lines: 1200 }, { max_growth: 10 }), [
    "list-grown",
    "source-grown",
  ]);
});

/** What lines mean for a name: `+` blocked, `-` allowed, nothing when they say nothing. */
async function meaning(name: string, ...lines: string[]): Promise<string> {
  const host = memoryHost({ files: { "a.txt": `${lines.join("\n")}\n` } });
  const config = { name: "N", sources: [{ source: "a.txt", type: "adblock" as const, name: "A" }] };
  const { rules } = await compile(config, { host, compat: true });
  const watch = new NameWatch([name, "unrelated.test"], new RowFinder(undefined));
  for (const chunk of rules.chunks) watch.take(chunk);
  assert.equal([...rowsOf(rules)].length, lines.length);
  return [...watch.verdicts()]
    .map(({ isBlocked, by }) => `${isBlocked ? "+" : "-"}${by.text}`)
    .join(" ");
}

test("what rules mean for a name, one by one and together", async () => {
  const name = "a.b.example";
  for (const [lines, expected] of [
    [["||b.example^"], "+||b.example^"],
    [["||a.b.example^"], "+||a.b.example^"],
    [["||example^"], "+||example^"],
    [["||x.b.example^"], ""],
    [["||c.a.b.example^"], ""],
    [["a.b.example"], "+a.b.example"],
    [["b.example"], ""],
    [["0.0.0.0 a.b.example"], "+0.0.0.0 a.b.example"],
    [["0.0.0.0 b.example"], ""],
    [["0.0.0.0 x.example a.b.example"], "+0.0.0.0 x.example a.b.example"],
    [["0.0.0.0 x.example b.example"], ""],
    [["||B.Example^"], "+||B.Example^"],
    [["A.B.EXAMPLE"], "+A.B.EXAMPLE"],
    [["||b.example^$important"], "+||b.example^$important"],
    [["||b.example^$client=1.2.3.4"], "+||b.example^$client=1.2.3.4"],
    [["@@||b.example^"], "-@@||b.example^"],
    [["@@||b.example^$client=1.2.3.4"], ""],
    [["||b.example^", "@@||a.b.example^"], "-@@||a.b.example^"],
    [["||b.example^$important", "@@||a.b.example^"], "+||b.example^$important"],
    [["||b.example^$important", "@@||a.b.example^$important"], "-@@||a.b.example^$important"],
    [
      ["||b.example^$important", "||b.example^$important,badfilter", "@@||b.example^"],
      "-@@||b.example^",
    ],
    [["||b.example^", "||b.example^$badfilter"], ""],
    [["||b.example^", "||example^$badfilter"], "+||b.example^"],
    [["||example^$denyallow=b.example"], ""],
    [["||example^$denyallow=c.example"], "+||example^$denyallow=c.example"],
    [["||example^$denyallow=a.b.example|x.test"], ""],
    [["||*.b.example^"], "+||*.b.example^"],
    [["||a.*.example^"], "+||a.*.example^"],
    [["|a.b.example^"], "+|a.b.example^"],
    [["|b.example^"], ""],
    [["/^a\\.b/"], "+/^a\\.b/"],
    [["/^b\\./"], ""],
    [["@@/b\\.example$/", "||example^"], "-@@/b\\.example$/"],
  ] as const)
    assert.equal(await meaning(name, ...lines), expected, lines.join(" | "));
});

/** What a trusted list of these lines is refused for. */
async function findings(...lines: string[]): Promise<string[]> {
  const host = memoryHost({
    files: { "a.txt": `${lines.join("\n")}\n`, "p.txt": PROTECTED.join("\n") },
  });
  const config = {
    name: "N",
    sources: [{ source: "a.txt", type: "adblock" as const, name: "A" }],
    guards: { protect: ["p.txt"] },
  };
  const result = await compile(config, { host });
  return result.findings.map(({ code, message, at }) => `${code} ${at?.line ?? "-"} ${message}`);
}

const PROTECTED = Array.from({ length: 8 }, (_, index) => `p${index}.mine.test`);

function blocking(count: number): string[] {
  return PROTECTED.slice(0, count).map((name) => `||${name}^`);
}

function wide(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith("blocks-suffix"));
}

test("five findings are shown, and the others are counted", async () => {
  assert.equal((await findings(...blocking(4))).length, 4);
  const five = await findings(...blocking(5));
  assert.equal(five.length, 5);
  assert.equal(five[4], "blocks-protected 5 The list would block p4.mine.test, which devices need");
  const seven = await findings(...blocking(7));
  assert.equal(seven.length, 6);
  assert.equal(seven[5], "blocks-protected - and 2 more: p5.mine.test, p6.mine.test");
  const suffixes = ["com", "net", "org", "de", "fr", "it", "es"].map(
    (suffix) => `||${suffix}^$important`,
  );
  assert.equal(wide(await findings(...suffixes.slice(0, 5))).length, 5);
  const all = wide(await findings(...suffixes));
  assert.equal(all.length, 6);
  assert.match(
    all[4]!,
    /^blocks-suffix 5 The rule \|\|fr\^\$important is for a whole public suffix/,
  );
  assert.equal(all[5], "blocks-suffix - and 2 more");
});

test("what is wide, and what only looks like it", async () => {
  for (const [line, isWide] of [
    ["||com^", true],
    ["||com.^", true],
    ["com", true],
    ["0.0.0.0 com", true],
    ["||co.uk^$important", true],
    ["||example.com^$important", false],
    ["||example.com.^", false],
    ["||com.example^", false],
    ["||*.com^", true],
    ["||a*.example.com^", false],
    ["! ||com^", false],
    ["/./", true],
  ] as const) {
    const found = await findings(line, "||fine.example^");
    assert.equal(
      found.some((one) => one.startsWith("blocks-suffix")),
      isWide,
      `${line}: ${found.join("\n")}`,
    );
  }
});

test("rules for one name are told from others", async () => {
  for (const [line, isOne] of [
    ["||a.example^$important", true],
    ["@@||a.example^", true],
    ["@@||a.example^$important", true],
    ["||a.example^", true],
    ["||A.example^$important", false],
    ["||a.example", false],
    ["||a.example/x$important", false],
    ["||a.example^x$important", false],
    ["||a.*.example^$important", false],
    ["/a.example/", false],
    ["|a.example^$important", false],
  ] as const) {
    const host = memoryHost({ files: { "a.txt": `${line}\n` } });
    const config = {
      name: "N",
      sources: [{ source: "a.txt", type: "adblock" as const, name: "A" }],
    };
    const { rules } = await compile(config, { host, compat: true });
    const rows = rules.chunks.flatMap((chunk) =>
      [...chunk.kind.subarray(0, chunk.length).keys()]
        .filter(
          (row) => chunk.kind[row]! >= Kind.Block && (chunk.flags[row]! & Flag.Generated) === 0,
        )
        .map((row) => isForHost(chunk, row)),
    );
    assert.deepEqual(rows, [isOne], line);
  }
});
