import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { type Condition, settle } from "../../src/builder/state/conditions.ts";
import { type Diagnostic, warningOf } from "../../src/diagnostics/render.ts";
import { Random, seedFrom } from "../support/random.ts";

const DAY_MS = 86_400_000;
const SOURCES = ["A", "B", "C"];
const CODES = ["source-stale", "source-held", "source-dropped"] as const;

/** What a source is in; it stays so for some days. */
type Fault = (typeof CODES)[number] | undefined;

function warning(code: (typeof CODES)[number], subject: string, day: number): Diagnostic {
  // The text differs from day to day, as that of a real one does.
  return warningOf(code, `${subject} on day ${day}`, { subject });
}

test("each change of a condition is news once, and each that lasts is remembered twice", () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]));
  for (let history = 0; history < 200; history++) {
    let stored: readonly Condition[] = [];
    const faults = new Map<string, Fault>();
    const since = new Map<string, number>();
    for (let day = 0; day < 80; day++) {
      const before = new Map(faults);
      for (const source of SOURCES) {
        if (random.chance(0.05)) faults.set(source, random.pick([...CODES, undefined, undefined]));
        if (faults.get(source) !== before.get(source)) since.set(source, day);
      }
      const found = SOURCES.flatMap((source) => {
        const fault = faults.get(source);
        return fault === undefined ? [] : [warning(fault, source, day)];
      });
      const now = new Date(Date.parse("2026-01-01T06:00:00Z") + day * DAY_MS);
      // Several runs a day find the same.
      for (let run = 0; run < 2; run++) {
        const settled = settle(stored, { finder: "build", diagnostics: found }, now);
        // What is stored survives as text.
        stored = JSON.parse(JSON.stringify(settled.conditions)) as Condition[];
        const news = settled.diagnostics.filter((one) => one.news === true);
        const expected = SOURCES.flatMap((source) => {
          const fault = faults.get(source);
          const old = before.get(source);
          const age = day - since.get(source)!;
          if (run > 0) return [];
          if (fault !== old)
            return fault === undefined ? [`${old} ${source} over`] : [`${fault} ${source}`];
          return fault !== undefined && (age === 7 || age === 30) ? [`${fault} ${source}`] : [];
        });
        const told = news.map(
          ({ code, subject, isOver }) => `${code} ${subject}${isOver === true ? " over" : ""}`,
        );
        assert.deepEqual(told.toSorted(), expected.toSorted(), `day ${day}`);
        const lasting = settled.diagnostics.filter((one) => one.news !== true);
        assert.equal(lasting.length + told.length - overs(news), found.length, "nothing is lost");
      }
    }
  }
});

function overs(news: readonly Diagnostic[]): number {
  return news.filter(({ isOver }) => isOver === true).length;
}

test("a name that is new is news, one that comes back is not", () => {
  const told = ["a b", "a b", "a", "a b", "a b c", ""].map((names, day) => ({ names, day }));
  let stored: readonly Condition[] = [];
  const isNews = told.map(({ names, day }) => {
    const now = new Date(Date.UTC(2026, 0, 1 + day));
    const all = names === "" ? [] : names.split(" ");
    const one = warningOf("household-names", `blocks ${names}`, { subject: "A", all });
    const settled = settle(stored, { finder: "build", diagnostics: [one] }, now);
    stored = settled.conditions;
    return settled.diagnostics[0]!.news;
  });
  assert.deepEqual(isNews, [true, false, false, false, true, false]);
});

test("what a run did not look at does not end", () => {
  const stale = warning("source-stale", "A", 0);
  const failed = { ...warning("source-stale", "B", 0), severity: "error" as const };
  const now = new Date("2026-01-01T00:00:00Z");
  const { conditions } = settle([], { finder: "build", diagnostics: [stale] }, now);
  for (const finder of ["hooks", "state-hooks"] as const)
    assert.deepEqual(settle(conditions, { finder, diagnostics: [] }, now).diagnostics, []);
  const partial = { finder: "build", diagnostics: [failed], isPartial: true } as const;
  const settled = settle(conditions, partial, now);
  assert.deepEqual(settled.diagnostics, [{ ...failed, news: true }]);
  assert.equal(settled.conditions.length, 2);
  const again = settle(settled.conditions, partial, now);
  assert.deepEqual(again.diagnostics, [{ ...failed, news: true }], "each run reports an error");
});

test("the end of a source that was removed is not its recovery", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const diagnostics = ["A", "B"].map((source) => warning("source-stale", source, 0));
  const { conditions } = settle([], { finder: "build", diagnostics }, now);
  const named = new Set(["B"]);
  const settled = settle(conditions, { finder: "build", diagnostics: [], named }, now);
  assert.deepEqual(
    settled.diagnostics.map(({ message }) => message),
    ["B is read again, after 1 second"],
  );
  assert.deepEqual(settled.conditions, []);
});

test("how long something lasted has a fitting unit", () => {
  const began = new Date("2026-01-01T00:00:00Z");
  const diagnostics = [warning("source-stale", "A", 0)];
  const { conditions } = settle([], { finder: "build", diagnostics }, began);
  for (const [seconds, text] of [
    [5, "5 seconds"],
    [59.9, "59 seconds"],
    [60, "1 minute"],
    [7200, "2 hours"],
  ] as const) {
    const now = new Date(began.getTime() + seconds * 1000);
    const settled = settle(conditions, { finder: "build", diagnostics: [] }, now);
    assert.equal(settled.diagnostics[0]?.message, `A is read again, after ${text}`);
  }
});

test("a run that asks no server finds no end of what only servers can end", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const down = warningOf("no-answer", "No server answered", { subject: "network" });
  const diagnostics = [down, warning("source-held", "A", 0), warningOf("cache-unusable", "C")];
  const { conditions } = settle([], { finder: "build", diagnostics: [down] }, now);
  const all = settle(conditions, { finder: "build", diagnostics }, now).conditions;
  const note = { code: "offline-copies", severity: "note", message: "offline" } as const;
  const offline = settle(all, { finder: "build", diagnostics: [note] }, now);
  const over = offline.diagnostics.filter(({ isOver }) => isOver);
  assert.deepEqual(
    over.map(({ code }) => code),
    ["cache-unusable"],
  );
  const online = settle(offline.conditions, { finder: "build", diagnostics: [] }, now);
  assert.match(online.diagnostics.map(({ message }) => message).join("\n"), /answer again/);
});

test("a clock that was wrong delays nothing", () => {
  const stale = warning("source-stale", "A", 0);
  let stored: readonly Condition[] = [];
  const newsAt = (moment: string): boolean | undefined => {
    const found = { finder: "build", diagnostics: [stale] } as const;
    const { conditions, diagnostics } = settle(stored, found, new Date(moment));
    stored = conditions;
    return diagnostics[0]!.news;
  };
  assert.equal(newsAt("2027-12-01T00:00:00Z"), true);
  assert.equal(newsAt("2026-11-01T00:00:00Z"), false);
  assert.equal(newsAt("2026-11-08T00:00:00Z"), true);
  assert.equal(newsAt("2026-11-09T00:00:00Z"), false);
});
