import assert from "node:assert/strict";
import { test } from "node:test";
import { type GuardContext, guardLimits } from "../../src/builder/guards/guard.ts";
import { guardList } from "../../src/builder/guards/registry.ts";
import { NO_FINDINGS } from "../../src/engine/report.ts";
import type { KernelMemory } from "../../src/kernel/kernel.ts";
import { RowFinder } from "../../src/kernel/rows.ts";
import { Flag, Kind } from "../../src/rules/chunk.ts";
import { NameMatcher, isForHost } from "../../src/meaning/verdict.ts";
import { compile, memoryHost, rowsOf } from "../support/internals.ts";

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
    findings: NO_FINDINGS,
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
  return guardList(context, accepted).map(({ code }) => code);
}

test("a list is refused for too few rules, and for no other size", () => {
  for (const [before, now] of [
    [1000, 1],
    [1000, 100_000],
  ] as const)
    assert.deepEqual(
      refused({ rules: before, lines: before }, { rules: now, lines: now }),
      [],
      `${before} → ${now}`,
    );
  assert.deepEqual(refused(undefined, { rules: 1000, lines: 1000 }), []);
  assert.deepEqual(refused(undefined, { rules: 0, lines: 0 }), ["too-few-rules"]);
  assert.deepEqual(refused(undefined, { rules: 0, lines: 0 }, {}, ["too-few-rules"]), []);
  assert.deepEqual(refused(undefined, { rules: 1, lines: 1 }), []);
  assert.deepEqual(refused(undefined, { rules: 9, lines: 9 }, { min_rules: 10 }), [
    "too-few-rules",
  ]);
  assert.deepEqual(refused(undefined, { rules: 10, lines: 9 }, { min_rules: 10 }), []);
});

/** What lines mean for a name: `+` blocked, `-` allowed, nothing when they say nothing. */
async function meaning(name: string, ...lines: string[]): Promise<string> {
  const host = memoryHost({ files: { "a.txt": `${lines.join("\n")}\n` } });
  const config = { name: "N", sources: [{ source: "a.txt", type: "adblock" as const, name: "A" }] };
  const { rules } = await compile(config, { host, compat: true });
  const watch = new NameMatcher(
    [name, "unrelated.test"],
    new RowFinder(rules.pool.arena as KernelMemory),
  );
  for (const chunk of rules.chunks) watch.take(chunk);
  assert.equal([...rowsOf(rules)].length, lines.length);
  return [...watch.verdicts()]
    .map(({ isBlocked, by }) => `${isBlocked ? "+" : "-"}${by.text}`)
    .join(" ");
}

test("rules decide about a name alone and combined", async () => {
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

/** What the guards say of a trusted list of these lines, published before or not. */
async function guards(
  lines: readonly string[],
  guarded: object = {},
  isFirst = false,
): Promise<string[]> {
  const host = memoryHost({
    files: { "a.txt": `${lines.join("\n")}\n`, "p.txt": "p.mine.test\n" },
  });
  const config = {
    name: "N",
    sources: [{ source: "a.txt", type: "adblock" as const, name: "A" }],
    guards: { protect: ["p.txt"], ...guarded },
  };
  const { report, findings } = await compile(config, { host });
  const last = { version: 1, published: "", rules: report.rules, sources: [] } as const;
  const context = {
    report,
    findings,
    limits: guardLimits(config),
    last: isFirst ? undefined : last,
  };
  return guardList(context, []).map(({ severity, code }) => `${severity} ${code}`);
}

const REFUSED_NAME = ["error blocks-protected"];
const WARNED_NAME = ["warning protected-blocked"];
const REFUSED_SUFFIX = ["error blocks-suffix"];
const WARNED_SUFFIX = ["warning suffix-blocked"];

for (const [line, later, first] of [
  // A rule for exactly that name was meant.
  ["||captive.apple.com^", WARNED_NAME, WARNED_NAME],
  ["captive.apple.com", WARNED_NAME, WARNED_NAME],
  ["0.0.0.0 captive.apple.com", WARNED_NAME, WARNED_NAME],
  ["|captive.apple.com^", WARNED_NAME, WARNED_NAME],
  ["||captive.apple.com^$important", WARNED_NAME, WARNED_NAME],
  ["||crates.io^", WARNED_NAME, WARNED_NAME],
  ["||p.mine.test^", WARNED_NAME, WARNED_NAME],
  // A rule for more that blocks a lifeline was not.
  ["||apple.com^", REFUSED_NAME, WARNED_NAME],
  ["||*.apple.com^", REFUSED_NAME, WARNED_NAME],
  ["/captive/", REFUSED_NAME, WARNED_NAME],
  ["||mine.test^", REFUSED_NAME, WARNED_NAME],
  ["||docker.io^", WARNED_NAME, WARNED_NAME],
  ["||apple.com^$dnsrewrite=1.2.3.4", REFUSED_NAME, WARNED_NAME],
  // Exceptions and names beside it.
  ["@@||captive.apple.com^", [], []],
  ["||x.captive.apple.com^", [], []],
  // Suffixes.
  ["||com^", REFUSED_SUFFIX, WARNED_SUFFIX],
  ["||com.^", REFUSED_SUFFIX, WARNED_SUFFIX],
  ["com", REFUSED_SUFFIX, WARNED_SUFFIX],
  ["0.0.0.0 com", REFUSED_SUFFIX, WARNED_SUFFIX],
  ["||co.uk^$important", REFUSED_SUFFIX, WARNED_SUFFIX],
  ["||*.com^", REFUSED_SUFFIX, WARNED_SUFFIX],
  ["||zip^", WARNED_SUFFIX, WARNED_SUFFIX],
  ["||*.top^", WARNED_SUFFIX, WARNED_SUFFIX],
  ["||*.top^$dnstype=~CNAME,denyallow=a.top", [], []],
  ["||com^$client=10.0.0.1", [], []],
  ["||com^$third-party", [], []],
  ["@@||com^", [], []],
  ["||addiko-at.ck^", [], []],
  ["||example.com^$important", [], []],
  ["||com.example^", [], []],
  ["||a*.example.com^", [], []],
  ["! ||com^", [], []],
  // Everything.
  ["||*^", REFUSED_SUFFIX, REFUSED_SUFFIX],
  ["/./", REFUSED_SUFFIX, REFUSED_SUFFIX],
] as const)
  test(`${line} in a trusted source: ${later.join(", ") || "nothing"}; the first time ${first.join(", ") || "nothing"}`, async () => {
    assert.deepEqual(await guards([line, "||fine.example^"]), [...later]);
    assert.deepEqual(await guards([line, "||fine.example^"], {}, true), [...first]);
  });

test("acknowledged names and suffixes cause no warning", async () => {
  const lines = ["||captive.apple.com^", "||crates.io^", "||top^", "||zip^"];
  const guarded = {
    may_block: ["captive.apple.com", "||static.crates.io^", "index.crates.io"],
    may_block_suffixes: ["top", ".zip"],
  };
  assert.deepEqual(await guards(lines, guarded), []);
  assert.deepEqual(await guards(["||com^"], { may_block_suffixes: ["net"] }), REFUSED_SUFFIX);
  assert.deepEqual(await guards(["||zip^"], { may_block_suffixes: ["*"] }), []);
});

test("rules for one name are distinguished from others", async () => {
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
