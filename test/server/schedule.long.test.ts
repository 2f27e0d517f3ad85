import assert from "node:assert/strict";
import { test } from "node:test";
import { Schedule, type ScheduledRun, Scheduler } from "../../src/server/runs.ts";
import { CompilerError } from "../support/internals.ts";
import { Random } from "../support/random.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A clock that advances only by waits and runs, or when a test sets it. */
class FakeWorld {
  time: number;
  readonly runs: (ScheduledRun & { at: number })[] = [];
  skipped = 0;
  /** Whether the last run was not good. */
  isBad = false;
  readonly ends: { at: number; isBad: boolean }[] = [];
  private readonly stop = new AbortController();

  constructor(start: string) {
    this.time = Date.parse(start);
  }

  /** Runs the scheduler until a time; each run succeeds and takes as long as `work` returns. */
  async keep(
    schedule: Schedule,
    until: string,
    settings: {
      lastSuccess?: string;
      work?: () => number;
      jitterMs?: number;
      retryMs?: number;
      random?: () => number;
      isBad?: () => boolean;
      crashAt?: string;
      onWait?: () => void;
      until?: number;
    } = {},
  ): Promise<void> {
    const end = Date.parse(until);
    const crash = settings.crashAt === undefined ? Infinity : Date.parse(settings.crashAt);
    const lastSuccess =
      settings.lastSuccess === undefined ? undefined : Date.parse(settings.lastSuccess);
    const scheduler = new Scheduler({
      schedule,
      jitterMs: settings.jitterMs ?? 0,
      retryMs: settings.retryMs ?? 0,
      isRetryDue: () => this.isBad,
      signal: this.stop.signal,
      random: settings.random ?? (() => 0.5),
      host: {
        now: () => new Date(this.time),
        wait: async (ms) => {
          assert.ok(ms > 0, "no busy waiting");
          this.time += ms;
          settings.onWait?.();
          if (this.time >= end) this.stop.abort();
        },
      },
      run: async (due) => {
        this.runs.push({ ...due, at: this.time });
        this.time += settings.work?.() ?? 20_000;
        this.isBad = settings.isBad?.() ?? false;
        this.ends.push({ at: this.time, isBad: this.isBad });
        if (this.time >= Math.min(end, crash) || this.runs.length === settings.until)
          this.stop.abort();
      },
      onNext: () => {},
      onSkipped: (count) => (this.skipped += count),
    });
    await scheduler.run(lastSuccess);
  }

  get slots(): string[] {
    return this.runs.map(({ slot }) => new Date(slot).toISOString().slice(0, 16));
  }
}

function everyHours(from: string, hours: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(from) + index * hours * HOUR).toISOString().slice(0, 16),
  );
}

test("in seven days, every scheduled time gets one run, on time", async () => {
  const world = new FakeWorld("2026-11-02T00:00:00Z");
  const schedule = new Schedule("0 */6 * * *", "UTC");
  await world.keep(schedule, "2026-11-09T00:00:00Z");
  assert.deepEqual(world.slots, everyHours("2026-11-02T00:00:00Z", 6, 28));
  assert.equal(world.runs[0]!.trigger, "start");
  assert.ok(world.runs.every(({ lag }) => lag < 1000));
  assert.equal(world.skipped, 0);
});

test("daylight saving time neither doubles nor loses a run", async () => {
  // Europe/Berlin: on 29 March 2026 the hour from 2 to 3 is missing, on 25 October it is there twice.
  for (const [from, until] of [
    ["2026-03-26T00:00:00Z", "2026-04-02T00:00:00Z"],
    ["2026-10-22T00:00:00Z", "2026-10-29T00:00:00Z"],
  ] as const) {
    for (const [pattern, perDay] of [
      ["0 */6 * * *", 4],
      ["30 2 * * *", 1],
      ["0 3 * * *", 1],
    ] as const) {
      const world = new FakeWorld(from);
      await world.keep(new Schedule(pattern, "Europe/Berlin"), until, { lastSuccess: from });
      const days = new Map<string, number>();
      const local = new Intl.DateTimeFormat("sv", {
        timeZone: "Europe/Berlin",
        dateStyle: "short",
      });
      for (const { slot } of world.runs) {
        const day = local.format(slot);
        days.set(day, (days.get(day) ?? 0) + 1);
      }
      const whole = [...days.values()].slice(1, -1);
      assert.ok(
        whole.length >= 5 && whole.every((count) => count === perDay),
        `${pattern} ${from}: ${JSON.stringify([...days])}`,
      );
      assert.equal(new Set(world.slots).size, world.slots.length, "no moment twice");
    }
  }
});

test("runs that take longer than the interval do not overlap", async () => {
  const world = new FakeWorld("2026-11-02T05:59:00Z");
  let runs = 0;
  await world.keep(new Schedule("0 */6 * * *", "UTC"), "2026-11-04T00:00:00Z", {
    lastSuccess: "2026-11-02T05:00:00Z",
    work: () => (runs++ === 0 ? 13 * HOUR : 20_000),
  });
  // From 06:00 to 19:00; 12:00 and 18:00 went by.
  const expected = ["2026-11-02T06:00", ...everyHours("2026-11-03T00:00:00Z", 6, 4)];
  assert.deepEqual(world.slots, expected);
  assert.equal(world.skipped, 2);
});

test("a run that a crash prevented is made up for once, at the start", async () => {
  const schedule = new Schedule("0 */6 * * *", "UTC");
  for (const [restart, lastSuccess, catchesUp] of [
    // Killed in the run of 12:00, which was no success.
    ["2026-11-02T12:00:30Z", "2026-11-02T06:00:20Z", true],
    ["2026-11-02T17:59:00Z", "2026-11-02T06:00:20Z", true],
    ["2026-11-05T13:00:00Z", "2026-11-02T06:00:20Z", true],
    // Killed between two runs.
    ["2026-11-02T11:59:00Z", "2026-11-02T06:00:20Z", false],
    ["2026-11-02T06:01:00Z", "2026-11-02T06:00:00Z", false],
    // The very first start.
    ["2026-11-02T11:59:00Z", undefined, true],
  ] as const) {
    const world = new FakeWorld(restart);
    const end = new Date(Date.parse(restart) + DAY).toISOString();
    await world.keep(schedule, end, { ...(lastSuccess && { lastSuccess }) });
    const first = world.runs[0]!;
    assert.equal(first.trigger === "start", catchesUp, restart);
    assert.equal(first.at === Date.parse(restart), catchesUp, restart);
    assert.equal(world.runs.filter(({ trigger }) => trigger === "start").length, Number(catchesUp));
    assert.equal(world.runs.length, 4 + Number(catchesUp), `${restart}: ${world.slots.join()}`);
  }
});

test("with a crash in every run for a week, every scheduled time is tried, and again only after a crash", async () => {
  const schedule = new Schedule("0 */6 * * *", "UTC");
  let lastSuccess = "2026-11-01T18:00:00Z";
  let time = "2026-11-02T00:00:00Z";
  const successes: string[] = [];
  for (let crash = 0; time < "2026-11-09T00:00:00Z"; crash++) {
    // It dies in a run, every time; every second time only after the list is out.
    const world = new FakeWorld(time);
    await world.keep(schedule, "2026-11-10T00:00:00Z", { lastSuccess, crashAt: time });
    assert.equal(world.runs.length, 1);
    const run = world.runs[0]!;
    if (crash % 2 === 1) {
      lastSuccess = new Date(run.at).toISOString();
      successes.push(new Date(run.slot).toISOString().slice(0, 16));
    }
    time = new Date(world.time + 60_000).toISOString();
  }
  assert.deepEqual(successes, everyHours("2026-11-02T00:00:00Z", 6, successes.length));
  assert.ok(successes.length >= 28, `${successes.length}`);
});

test("a clock that is set back or forward neither doubles nor loses runs", async () => {
  const schedule = new Schedule("0 */6 * * *", "UTC");
  const back = new FakeWorld("2026-11-02T05:59:00Z");
  let runs = 0;
  await back.keep(schedule, "2026-11-02T13:00:00Z", {
    lastSuccess: "2026-11-02T05:00:00Z",
    // After the run of 06:00 the clock goes back by ten minutes.
    work: () => (runs++ === 0 ? -600_000 : 20_000),
  });
  assert.deepEqual(back.slots, ["2026-11-02T06:00", "2026-11-02T12:00"]);
  const forward = new FakeWorld("2026-11-02T06:01:00Z");
  runs = 0;
  await forward.keep(schedule, "2026-11-05T01:00:00Z", {
    lastSuccess: "2026-11-02T06:00:30Z",
    // The machine slept for two days.
    work: () => (runs++ === 0 ? 2 * DAY : 20_000),
  });
  assert.deepEqual(forward.slots.slice(0, 3), [
    "2026-11-02T12:00",
    "2026-11-04T18:00",
    "2026-11-05T00:00",
  ]);
  // A clock that was a year ahead and is set right does not stop the schedule for a year.
  const wrong = new FakeWorld("2027-11-02T05:59:00Z");
  runs = 0;
  const world = wrong.keep(schedule, "2027-11-02T06:30:00Z", {
    lastSuccess: "2027-11-02T05:00:00Z",
    work: () => (runs++ === 0 ? -365 * DAY : runs === 3 ? 400 * DAY : 20_000),
  });
  await world;
  assert.deepEqual(wrong.slots.slice(1, 3), ["2026-11-02T12:00", "2026-11-02T18:00"]);
});

test("jitter delays a run by at most its limit and half of the interval", async () => {
  const world = new FakeWorld("2026-11-02T05:59:00Z");
  const lastSuccess = "2026-11-02T05:00:00Z";
  await world.keep(new Schedule("0 */6 * * *", "UTC"), "2026-11-03T00:00:00Z", {
    lastSuccess,
    jitterMs: 600_000,
  });
  assert.deepEqual(
    world.runs.map(({ at, slot }) => at - slot),
    [300_000, 300_000, 300_000],
  );
  const short = new FakeWorld("2026-11-02T05:59:00Z");
  await short.keep(new Schedule("* * * * *", "UTC"), "2026-11-02T06:10:00Z", {
    lastSuccess,
    jitterMs: DAY,
  });
  assert.ok(short.runs.slice(1).every(({ at, slot }) => at - slot === 15_000));
  assert.equal(new Set(short.slots).size, short.slots.length);
});

test("an invalid schedule is reported at once", () => {
  for (const [pattern, zone] of [
    ["", undefined],
    ["* * *", undefined],
    ["99 * * * *", undefined],
    ["0 0 31 2 *", undefined],
    ["0 * * * *", "Mars/Base"],
  ] as const)
    assert.throws(
      () => new Schedule(pattern, zone),
      (error: unknown) =>
        error instanceof CompilerError &&
        error.diagnostics[0]!.code === "bad-schedule" &&
        error.exit === 2,
      pattern,
    );
});

function longestOf(pattern: string, now: string): number {
  return new Schedule(pattern, "UTC").longestInterval(Date.parse(now));
}

test("the longest interval includes nights and weekends", () => {
  const HOURS = 3_600_000;
  const now = "2026-11-15T12:00:00Z";
  assert.equal(longestOf("0 */6 * * *", now), 6 * HOURS);
  assert.equal(longestOf("0 8-18 * * *", now), 14 * HOURS);
  assert.equal(longestOf("0 8-18 * * 1-5", now), 62 * HOURS);
  // Only the given clock counts: 2040 is a leap year.
  assert.equal(longestOf("0 0 0 1 1 * 2040-2042", now), 366 * 24 * HOURS);
  assert.equal(longestOf("0 0 0 1 1 * 2040-2042", "2041-06-01T00:00:00Z"), 365 * 24 * HOURS);
});

test("the server goes on after the last scheduled time", async () => {
  const world = new FakeWorld("2027-06-01T00:00:00Z");
  const schedule = new Schedule("0 0 0 2 6 * 2027", "UTC");
  await world.keep(schedule, "2027-06-05T00:00:00Z", { lastSuccess: "2027-06-01T00:00:00Z" });
  assert.deepEqual(world.slots, ["2027-06-02T00:00"]);
});

test("a clock that is set back during a wait does not make the wait longer", async () => {
  const world = new FakeWorld("2026-11-02T06:01:00Z");
  let isSetBack = false;
  await world.keep(new Schedule("0 */6 * * *", "UTC"), "2026-11-02T13:00:00Z", {
    lastSuccess: "2026-11-02T06:00:30Z",
    onWait: () => {
      if (isSetBack || world.time < Date.parse("2026-11-02T09:00:00Z")) return;
      isSetBack = true;
      world.time -= 365 * DAY;
    },
    until: 3,
  });
  assert.deepEqual(world.slots.slice(0, 2), ["2025-11-02T12:00", "2025-11-02T18:00"]);
});

test("over random outcomes, bad runs are repeated with growing pauses, and every scheduled time gets its run", async () => {
  const random = new Random(17);
  let retries = 0;
  for (let round = 0; round < 40; round++) {
    const hours = [1, 6, 12][random.below(3)]!;
    const retryMs = [10_000, 60_000, 20 * 60_000][random.below(3)]!;
    const percent = [5, 50, 95, 100][random.below(4)]!;
    const world = new FakeWorld("2026-11-02T00:00:00Z");
    await world.keep(new Schedule(`0 */${hours} * * *`, "UTC"), "2026-11-05T00:00:00Z", {
      retryMs,
      work: () => 500,
      random: () => random.below(1000) / 1000,
      isBad: () => random.below(100) < percent,
    });
    const slots = world.runs.filter(({ trigger }) => trigger !== "retry").map(({ slot }) => slot);
    const all = everyHours("2026-11-02T00:00:00Z", hours, 72 / hours).map((one) =>
      Date.parse(`${one}Z`),
    );
    assert.ok(slots.length + world.skipped >= all.length, `${hours} h: ${slots.length}`);
    assert.equal(new Set(slots).size, slots.length, "no scheduled time twice");
    let pauses = 0;
    for (const [index, { trigger, at }] of world.runs.entries()) {
      const before = world.ends[index - 1];
      if (before?.isBad !== true) pauses = 0;
      if (trigger !== "retry") continue;
      retries++;
      assert.equal(before?.isBad, true, "only after a bad run");
      const longest = Math.min(retryMs * 2 ** pauses, (hours * HOUR) / 2);
      const pause = at - before.at;
      assert.ok(pause >= 0.75 * longest - 1 && pause <= longest + 1, `${pause} of ${longest}`);
      pauses++;
    }
  }
  assert.ok(retries > 500, String(retries));
});

test("a good run meanwhile, by request, ends the retries; without a delay no run is repeated", async () => {
  const schedule = new Schedule("0 */6 * * *", "UTC");
  const lastSuccess = "2026-11-02T05:00:00Z";
  const world = new FakeWorld("2026-11-02T05:59:00Z");
  let waits = 0;
  await world.keep(schedule, "2026-11-02T11:59:00Z", {
    lastSuccess,
    retryMs: 60_000,
    isBad: () => true,
    // A run by request is good after the first retry.
    onWait: () => {
      if (world.runs.length === 2 && ++waits === 2) world.isBad = false;
    },
  });
  assert.deepEqual(
    world.runs.map(({ trigger }) => trigger),
    ["schedule", "retry"],
  );
  const never = new FakeWorld("2026-11-02T05:59:00Z");
  await never.keep(schedule, "2026-11-03T00:30:00Z", { lastSuccess, isBad: () => true });
  assert.deepEqual(never.slots, everyHours("2026-11-02T06:00:00Z", 6, 4));
  // A run by request that is not good is repeated, too.
  const requested = new FakeWorld("2026-11-02T06:01:00Z");
  await requested.keep(schedule, "2026-11-02T11:59:00Z", {
    lastSuccess: "2026-11-02T06:00:30Z",
    retryMs: 60_000,
    onWait: () => {
      if (requested.runs.length === 0 && requested.time > Date.parse("2026-11-02T09:00:00Z"))
        requested.isBad = true;
    },
  });
  assert.deepEqual(
    requested.runs.map(({ trigger }) => trigger),
    ["retry"],
  );
  // The first run after a start may be a retry, too: an earlier server left a bad one.
  const started = new FakeWorld("2026-11-02T06:01:00Z");
  started.isBad = true;
  const until = "2026-11-02T07:00:00Z";
  await started.keep(schedule, until, { lastSuccess: "2026-11-02T06:00:30Z", retryMs: 60_000 });
  assert.deepEqual(
    started.runs.map(({ trigger }) => trigger),
    ["retry"],
  );
});

test("a run that is not good is repeated after the last scheduled time, too", async () => {
  const world = new FakeWorld("2027-06-01T23:59:00Z");
  let runs = 0;
  await world.keep(new Schedule("0 0 0 2 6 * 2027", "UTC"), "2027-06-02T05:00:00Z", {
    lastSuccess: "2027-06-01T23:00:00Z",
    retryMs: 60_000,
    isBad: () => ++runs < 4,
  });
  assert.deepEqual(
    world.runs.map(({ trigger }) => trigger),
    ["schedule", "retry", "retry", "retry"],
  );
});
