import assert from "node:assert/strict";
import { test } from "node:test";
import { type GuardContext, guardLimits } from "../../src/build/guards/guard.ts";
import { guardList } from "../../src/build/guards/registry.ts";
import {
  type LastPublish,
  publishRecord,
  withoutOldDays,
} from "../../src/build/state/last-publish.ts";
import { NO_FINDINGS } from "../../src/engine/list-findings.ts";
import type { Config } from "../support/internals.ts";

interface Build {
  readonly rules: number;
  /** Lines that each source has, by its name. */
  readonly sources?: Readonly<Record<string, number>>;
  readonly dropped?: readonly string[];
  /** How many of them stand in another source, too, which keeps them. */
  readonly duplicates?: Readonly<Record<string, number>>;
  readonly config?: Partial<Config>;
  readonly days?: number;
  readonly isAccepted?: boolean;
}

const DAY = 86_400_000;

/** What is refused of builds that are published one after the other, a day apart. */
function history(...builds: readonly Build[]): string[][] {
  let last: LastPublish | undefined;
  let now = Date.UTC(2026, 0, 1, 12);
  return builds.map(
    ({
      rules,
      sources = { a: rules },
      dropped = [],
      duplicates = {},
      config,
      days,
      isAccepted,
    }) => {
      now += (days ?? 1) * DAY;
      const names = Object.keys(sources);
      const whole: Config = { name: "N", sources: names.map((source) => ({ source })), ...config };
      const limits = guardLimits(whole);
      const report: GuardContext["report"] = {
        name: "N",
        sources: names.map((name) => ({
          label: name,
          source: name,
          state: dropped.includes(name) ? ("dropped" as const) : ("local" as const),
          bytes: 0,
          lines: sources[name]!,
          kept: sources[name]! - (duplicates[name] ?? 0),
          dropped: { duplicate: duplicates[name] ?? 0 },
        })),
        lines: 0,
        kept: rules,
        rules,
        bytes: 0,
        degraded: false,
      };
      last &&= withoutOldDays(last, new Date(now));
      const said = guardList({ report, findings: NO_FINDINGS, limits, last }, []);
      const errors = said.filter(({ severity }) => severity === "error").map(({ code }) => code);
      if (errors.length === 0 || isAccepted === true)
        last = publishRecord(last, report, limits, new Date(now));
      return errors;
    },
  );
}

const SHRUNK = ["list-shrunk"];
const GROWN = ["list-grown"];

for (const [what, builds, expected] of [
  ["28 % a day", [{ rules: 10_000 }, { rules: 7200 }, { rules: 5184 }], [[], [], SHRUNK]],
  [
    "40 % in a month, to the rule",
    [{ rules: 10_000 }, { rules: 8000 }, { rules: 6000 }, { rules: 5999 }],
    [[], [], [], SHRUNK],
  ],
  [
    "less than that, when the best is more than a month old",
    [{ rules: 10_000 }, { rules: 8000 }, { rules: 5999, days: 30 }],
    [[], [], []],
  ],
  [
    "accepted decline",
    [{ rules: 10_000 }, { rules: 5000, isAccepted: true }, { rules: 5000 }, { rules: 4000 }],
    [[], SHRUNK, [], []],
  ],
  [
    "a large list after a small one on the same day",
    [{ rules: 10_000 }, { rules: 8000, days: 0.1 }, { rules: 5999, days: 0.1 }],
    [[], [], SHRUNK],
  ],
  [
    "twice as many each day",
    [{ rules: 1000 }, { rules: 2000 }, { rules: 4000 }, { rules: 4001 }],
    [[], [], [], GROWN],
  ],
  [
    "what was there before comes back",
    [
      { rules: 10_000, config: { guards: { max_shrink: 95 } } },
      { rules: 1000, config: { guards: { max_shrink: 95 } } },
      { rules: 10_000 },
      { rules: 1000, isAccepted: true },
      { rules: 10_000 },
    ],
    [[], [], [], SHRUNK, GROWN],
  ],
  [
    "a source more",
    [
      { rules: 2000, sources: { a: 2000 } },
      { rules: 90_000, sources: { a: 2000, b: 90_000 } },
    ],
    [[], []],
  ],
  [
    "a source more, which has nearly everything that the other one has",
    [
      { rules: 2000, sources: { a: 2000 } },
      { rules: 90_000, sources: { a: 2000, b: 90_000 }, duplicates: { a: 1900 } },
      { rules: 2000, sources: { a: 2000 } },
    ],
    [[], [], []],
  ],
  [
    "a source less",
    [
      { rules: 90_000, sources: { a: 2000, b: 90_000 } },
      { rules: 2000, sources: { a: 2000 } },
    ],
    [[], []],
  ],
  [
    "a source more, while another one shrinks",
    [
      { rules: 2000, sources: { a: 2000 } },
      { rules: 90_000, sources: { a: 1399, b: 90_000 } },
    ],
    [[], SHRUNK],
  ],
  [
    "an optional source that is left out, and comes back",
    [
      { rules: 90_000, sources: { a: 2000, b: 90_000 } },
      { rules: 2000, sources: { a: 2000, b: 0 }, dropped: ["b"] },
      { rules: 90_000, sources: { a: 2000, b: 90_000 } },
    ],
    [[], [], []],
  ],
  [
    "another configuration",
    [
      { rules: 10_000 },
      { rules: 10, config: { transformations: ["Validate"] } },
      { rules: 10_000, config: {} },
    ],
    [[], [], []],
  ],
  [
    "a configuration that means the same",
    [
      { rules: 10_000, config: { description: "x" } },
      { rules: 10, config: { description: "y" } },
    ],
    [[], SHRUNK],
  ],
  [
    "a source with other settings",
    [
      { rules: 10_000, config: { sources: [{ source: "a" }] } },
      { rules: 10, config: { sources: [{ source: "a", exclusions: ["x"] }] } },
    ],
    [[], []],
  ],
] as readonly (readonly [string, readonly Build[], readonly (readonly string[])[]])[])
  test(`memory of a list: ${what}`, () => {
    assert.deepEqual(history(...builds), expected);
  });
