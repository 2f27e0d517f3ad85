import type { Question } from "../reference/judges.ts";
import type { Random } from "../random.ts";
import { NEEDED, ORDINARY, type Upstream } from "./upstreams.ts";
import { OWN_NAMES, type Run, type World } from "./world.ts";

/** What a sentence of the policy says about a name in a published list. */
export interface Expectation {
  readonly sentence: string;
  readonly name: string;
  readonly isBlocked: boolean;
  /** Of expectations of one sentence, so many may fail. */
  readonly slack?: number;
}

/** A published list, and what must be true about it. */
export interface Exhibit {
  readonly run: Run;
  readonly expected: readonly Expectation[];
}

const SAMPLE = 5;
/** The only month in which anything begins. */
const THIS_MONTH = "2026-10";
/** Messages of a month: two a day. */
const MOST_MESSAGES = 60;

/** Checks a history run by run. */
export class Sentences {
  readonly faults: string[] = [];
  readonly exhibits: Exhibit[] = [];
  private readonly world: World;
  private readonly random: Random;
  private readonly told = new Set<string>();
  private readonly named = new Set<Upstream>();
  private before: readonly string[] = [];
  private messages = 0;
  private hasLostCache = false;

  constructor(world: World, random: Random) {
    this.world = world;
    this.random = random;
  }

  look(run: Run): void {
    const { day, exit, mishap } = run;
    const at = `day ${day}`;
    if (mishap === "cache lost" || mishap === "fresh clone") this.hasLostCache = true;
    // The only things that may stop a list did not happen: no mistake of the user, no empty result, nothing required.
    if (exit !== 0 && exit !== 3)
      this.faults.push(`1 isolation: exit ${exit} on ${at}: ${run.stderr.slice(0, 300)}`);
    this.listen(run);
    this.exhibits.push({ run, expected: this.expectations(run) });
    for (const name of OWN_NAMES)
      if (!isListed(run.domains, name)) this.faults.push(`8 theft in an output: ${name} on ${at}`);
    for (const name of NEEDED)
      if (isListed(run.domains, name)) this.faults.push(`6 needed in an output: ${name} on ${at}`);
  }

  /** News are told once. */
  private listen({ stderr, day, mishap }: Run): void {
    const messages = stderr.split("\n").filter((line) => /^(?:\w+\[|news)/.test(line));
    for (const up of this.world.upstreams) if (stderr.includes(up.name)) this.named.add(up);
    for (const message of messages) {
      // A clock that is ahead makes reminders due. Where the state is lost, only the states of sources are known.
      const isOdd =
        mishap?.startsWith("clock") === true ||
        (mishap !== undefined && !/source-(?:held|stale)/.test(message));
      if (this.before.includes(message) && !isOdd)
        this.faults.push(`18 news: twice on day ${day}: ${message}`);
      const [, since = THIS_MONTH] = /Since (\d+-\d+)/.exec(message) ?? [];
      if (mishap === undefined && since !== THIS_MONTH)
        this.faults.push(`17 wrong clock: a wrong date on day ${day}: ${message}`);
      this.told.add(message);
    }
    this.before = messages;
    this.messages += mishap === undefined ? messages.length : 0;
    if (this.messages === MOST_MESSAGES + 1)
      this.faults.push(`18 news: more than ${MOST_MESSAGES} messages`);
    for (const up of this.world.upstreams)
      if (
        ["calm", "rewrite"].includes(up.plot) &&
        mishap === undefined &&
        stderr.includes(`${up.name} `)
      )
        this.faults.push(
          `2 own history: day ${day}: a ${up.plot} list is spoken of: ${stderr.slice(0, 300)}`,
        );
  }

  private expectations(run: Run): Expectation[] {
    const expected: Expectation[] = [];
    const add = (
      sentence: string,
      names: readonly string[],
      isBlocked: boolean,
      slack = 0,
    ): void => {
      for (const name of names) expected.push({ sentence, name, isBlocked, slack });
    };
    add("8 theft", OWN_NAMES, true);
    add("6 needed", NEEDED, false);
    add("7 width", ORDINARY, false, ORDINARY.length / 100);
    for (const up of this.world.upstreams) if (up.added <= run.day) this.expectOf(up, run, add);
    return expected;
  }

  private expectOf(
    up: Upstream,
    { day, mishap }: Run,
    add: (sentence: string, names: readonly string[], isBlocked: boolean, slack?: number) => void,
  ): void {
    const isRead = mishap !== "no network" && !mishap?.startsWith("clock");
    const { plot, plotDay, before } = up;
    // A source of standard trust may free a few names of others.
    const isFreed = this.world.upstreams.some(
      (one) => one.plot === "hostile" && one.trust === undefined,
    );
    const slack = isFreed ? 20 : 0;
    if (plot === "feed") {
      if (isRead && day >= 10 && this.world.mishaps.size === 0)
        add("5 feed", this.some([...up.names]), true, slack);
      return;
    }
    if (plotDay === undefined || plot === "calm" || plot === "hostile") {
      if (!isRead) return;
      add(day < up.to ? "1 isolation" : "5 ratchet", this.some([...up.names]), true, slack);
      add(day < up.to ? "1 isolation" : "5 ratchet", this.some([...up.removed]), false);
      return;
    }
    if (plot === "drips away" || plot === "drips in") {
      this.expectDrip(up, day);
      return;
    }
    // However long it lasts, and whatever is lost: what nobody signed is never read.
    if (plot === "forged") add("12 origin", this.some(up.extra), false);
    if (this.hasLostCache || mishap?.startsWith("clock") === true) return;
    const isYoung = plotDay <= 2;
    const isLong = plotDay >= 9 && this.world.mishaps.size === 0;
    // Names that it added on a day without network were never read.
    const isKnown = this.world.mishaps.get(up.from - 1) !== "no network";
    const still = isKnown ? this.some(before) : [];
    const isFlood = plot === "flood" || plot === "mirrored";
    if (isFlood && (isYoung || isLong)) add("4 held, with an end", this.some(up.extra), isLong);
    if (plot === "wipe" && isLong)
      add("4 held, with an end", this.some(before.slice(0, before.length / 2)), false);
    if (plot !== "wipe" || isYoung)
      add(
        isFlood || plot === "wipe" ? "3 held" : plot === "rewrite" ? "2 own history" : "11 death",
        still,
        true,
        slack,
      );
  }

  /** Many small steps count as one: a message names the source before too much is gone or new. */
  private expectDrip(up: Upstream, today: number): void {
    // Where the state is lost, the last publish is all that is known.
    const isForgotten = [...this.world.mishaps].some(
      ([day, mishap]) => /state|clone/.test(mishap) && day >= up.from && day <= today,
    );
    if (isForgotten) return;
    const had = up.before.length;
    const has = up.names.size;
    const isTooMuch = up.plot === "drips in" ? has > had * 4 + 1500 : had >= 300 && has < had * 0.3;
    if (isTooMuch && !this.named.has(up))
      this.faults.push(`5 memory: ${up.name} ${up.plot}: ${had} names, now ${has}`);
  }

  private some(names: readonly string[]): string[] {
    return names.length === 0 ? [] : this.random.times(SAMPLE, () => this.random.pick(names));
  }
}

/** A file of names blocks a name if it has it or a parent. */
function isListed(domains: string, name: string): boolean {
  const labels = name.split(".");
  return labels.some((_, at) => domains.includes(`\n${labels.slice(at).join(".")}\n`));
}

export function questionsOf({ expected }: Exhibit): Question[] {
  return expected.map(({ name }) => ({ name, type: "A", client: "" }));
}

/** The expectations that answers refute, in so far as they are more than may fail. */
export function refuted({ run, expected }: Exhibit, answers: readonly string[]): string[] {
  const failed = new Map<string, { names: string[]; slack: number }>();
  for (const [index, { sentence, name, isBlocked, slack = 0 }] of expected.entries()) {
    if ((answers[index] === "blocked") === isBlocked) continue;
    const { names } = failed.get(sentence) ?? { names: [] };
    failed.set(sentence, {
      names: [...names, `${name} ${isBlocked ? "is not blocked" : "is blocked"}`],
      slack,
    });
  }
  return [...failed].flatMap(([sentence, { names, slack }]) =>
    names.length > slack
      ? [`${sentence}: day ${run.day}: ${names.slice(0, 3).join(", ")} (${names.length})`]
      : [],
  );
}
