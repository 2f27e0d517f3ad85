import assert from "node:assert/strict";
import { test } from "node:test";
import { type GuardContext, guardLimits } from "../../src/compile/guards/guard.ts";
import { refusals } from "../../src/compile/guards/registry.ts";
import { RowFinder } from "../../src/kernel/row-finder.ts";
import { NameWatch } from "../../src/syntax/name-watch.ts";
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
