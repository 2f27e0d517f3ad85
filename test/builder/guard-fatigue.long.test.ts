import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isNightly } from "../support/nightly.ts";
import { HistoryReplay, namesIn, textOf } from "../support/history-replay.ts";
import { Random } from "../support/random.ts";

/** An edition of a source: its names, as numbers. */
type Edition = readonly number[];

const SIZE = 2000;
const YEAR = 365;
const SEEDS = isNightly ? 2 : 1;

/** A source whose names come and go, the oldest first. */
class Upstream {
  private next = 0;
  private readonly random: Random;
  names: Edition;

  constructor(random: Random) {
    this.random = random;
    this.names = this.fresh(SIZE);
  }

  fresh(count: number): Edition {
    return Array.from({ length: Math.round(count) }, () => this.next++);
  }

  /** Takes a share of the names out, and puts so many in. */
  change(out: number, added: number): void {
    const { names } = this;
    this.names = [...names.slice(Math.round(names.length * out)), ...this.fresh(added)];
  }

  /** An ordinary day: a few names go, a few come. */
  drift(): void {
    this.change(0.01 * this.random.next(), this.names.length * 0.01 * this.random.next());
  }

  /** Stays about as large as it is, while a share of its names is others each day. */
  churn(share: number): void {
    const aim = SIZE * (0.9 + 0.2 * this.random.next());
    this.change(share, Math.max(0, aim - this.names.length * (1 - share)));
  }
}

/** Honest histories: what happens on a day of the year. */
const HONEST: Readonly<Record<string, (up: Upstream, day: number, eventDay: number) => void>> = {
  steady: (up) => up.drift(),
  growing: (up) => up.change(0.005, up.names.length * 0.009),
  "a feed that turns over in a week": (up) => up.churn(0.15),
  "cleaned once, 45 % gone": (up, day, event) => (day === event ? up.change(0.45, 0) : up.drift()),
  "cleaned once, 70 % gone": (up, day, event) => (day === event ? up.change(0.7, 0) : up.drift()),
  "rewritten once": (up, day, event) => (day === event ? up.change(0.9, SIZE) : up.drift()),
  "merged once with a list three times as large": (up, day, event) =>
    day === event ? up.change(0, SIZE * 3) : up.drift(),
};

interface Figures {
  readonly holds: number;
  readonly heldDays: number;
}

/** Spells of holding in a year. */
async function replayYear(up: Upstream, happen: (day: number) => void): Promise<Figures> {
  const replay = new HistoryReplay();
  let [holds, heldDays] = [0, 0];
  let wasHeld = false;
  for (let day = 0; day < YEAR; day++) {
    if (day > 0) happen(day);
    const isHeld = (await replay.day(textOf(up.names))).length > 0;
    if (isHeld) heldDays++;
    if (isHeld && !wasHeld) holds++;
    wasHeld = isHeld;
  }
  return { holds, heldDays };
}

for (const [what, happen] of Object.entries(HONEST))
  test(`a legitimate source (${what}) is held at most once a year`, async (context) => {
    const years: Figures[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = new Random(seed);
      const up = new Upstream(random);
      const event = 40 + random.below(280);
      years.push(await replayYear(up, (day) => happen(up, day, event)));
    }
    const mean = (pick: (one: Figures) => number): string =>
      (years.reduce((sum, one) => sum + pick(one), 0) / years.length).toFixed(1);
    context.diagnostic(
      `${what}: a year has ${mean((one) => one.holds)} holds of ${mean((one) => one.heldDays)} days together`,
    );
    for (const { holds } of years) assert.ok(holds <= 1, `${holds} holds`);
  });

/** Poisonings: what the source sends on each day after a month in which it was good. */
const POISON: Readonly<Record<string, (up: Upstream) => void>> = {
  "wiped at once": (up) => up.change(0.99, 0),
  "28 % less each day": (up) => up.change(0.28, 0),
  "45 % less each day": (up) => up.change(0.45, 0),
  "replaced at once": (up) => {
    up.names = up.fresh(SIZE);
  },
  "flooded at once": (up) => up.change(0, SIZE * 20),
  "twice as much each day": (up) => up.change(0, up.names.length),
};

/** The day on which a poisoning is stopped, and how much of what was good is published then. */
async function stopOf(
  poison: (up: Upstream) => void,
  seed: number,
): Promise<{ day: number; left: number }> {
  const up = new Upstream(new Random(seed));
  const replay = new HistoryReplay();
  for (let day = 0; day < 30; day++) {
    up.drift();
    await replay.day(textOf(up.names));
  }
  const good = up.names;
  for (let day = 1; ; day++) {
    poison(up);
    const isHeld = (await replay.day(textOf(up.names))).length > 0;
    if (!isHeld && day < 10) continue;
    const there = new Set(namesIn(replay.published));
    return { day, left: good.filter((name) => there.has(name)).length / good.length };
  }
}

async function replayPoison(
  context: TestContext,
  what: string,
  poison: (up: Upstream) => void,
  mostDays: number,
): Promise<void> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { day, left } = await stopOf(poison, seed);
    if (seed === 1)
      context.diagnostic(
        `${what}: stopped on day ${day}, with ${Math.round(left * 100)} % of the good names`,
      );
    assert.ok(day <= mostDays, `day ${day}`);
    assert.ok(left >= 0.38, `${left} of the good names are left`);
  }
}

for (const [what, poison] of Object.entries(POISON))
  test(`a poisoned source (${what}) is stopped within three days`, (context) =>
    replayPoison(context, what, poison, 3));

test("a slow decline is stopped before more than 60 % is lost", async (context) => {
  await replayPoison(context, "15 % less each day", (up) => up.change(0.15, 0), 6);
  await replayPoison(context, "10 % less each day", (up) => up.change(0.1, 0), 9);
});
