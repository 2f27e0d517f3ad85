import type { NameLiveness, NameState } from "../documents/facts.ts";
import { registrableDomain } from "../syntax/host-name.ts";
import {
  type NameHistory,
  type Observation,
  type Observations,
  dateText,
  isAnswer,
  isMissing,
} from "./observations.ts";

/** When a name counts as dead. The guide has these values. */
export const DEAD = {
  /** So many days with NXDOMAIN, and no answer since the first; what others say counts by its weight. */
  seen: 5,
  /** Of them by this resolver, the last among them. */
  own: 3,
  /** At least so many days from the first to the last. */
  days: 14,
  /** The same while too many names of the list, or of its top-level domain, ceased to exist at once. */
  heldDays: 30,
  /** Later, what was seen says nothing. */
  freshDays: 45,
} as const;

/** Too many at once: more than this share of the names that had answered, and more than so many, within a week. */
const SUDDEN = { share: 0.1, least: 20, days: 7 } as const;

/** What is known about a name. */
export interface Liveness {
  readonly state: NameState;
  /** The first day with NXDOMAIN since the last answer. */
  readonly since?: number;
  /** The last day with an answer, or with NXDOMAIN for a name that has none. */
  readonly last?: number;
  /** On how many days it did not exist; more may be forgotten. */
  readonly times?: number;
}

export interface NamedLiveness extends Liveness {
  readonly name: string;
}

/** What observations of one name mean on a day. */
export function livenessOf(
  history: NameHistory,
  today: number,
  isSudden: (since: number) => boolean = () => false,
): Liveness {
  const conclusive = history.filter((one) => one.mark !== "?" && one.day <= today);
  const newest = conclusive.at(-1);
  if (newest === undefined || today - newest.day > DEAD.freshDays) return { state: "unknown" };
  if (isAnswer(newest))
    return { state: newest.mark === "p" ? "parked" : "answers", last: newest.day };
  const missing = conclusive.slice(conclusive.findLastIndex(isAnswer) + 1).filter(isMissing);
  const since = missing[0]!.day;
  const facts = { since, last: newest.day, times: missing.length };
  const own = missing.filter(({ mark }) => mark === "x").length;
  const lasted = newest.day - since;
  if (newest.mark !== "x" || own < DEAD.own || weightOf(missing) < DEAD.seen)
    return { state: "missing", ...facts };
  if (lasted < DEAD.days) return { state: "missing", ...facts };
  return { state: lasted < DEAD.heldDays && isSudden(since) ? "held" : "dead", ...facts };
}

function weightOf(missing: readonly Observation[]): number {
  // In tenths, because sums of tenths are not exact.
  const tenths = missing.map(({ mark }) => (mark === "x" ? 10 : Number(mark)));
  return tenths.reduce((sum, one) => sum + one, 0) / 10;
}

/** Names of a top-level domain that had answered, and on which days how many of them ceased to exist. */
interface TopDomain {
  answered: number;
  readonly ceased: Map<number, number>;
}

/** Finds days around which too many names ceased to exist: of one top-level domain, or of all others together. */
class SuddenDeaths {
  private readonly tops = new Map<string, TopDomain>();
  private readonly found = new Map<number, ReadonlySet<string> | "all">();

  note(name: string, history: NameHistory): void {
    const last = history.findLastIndex(isAnswer);
    if (last === -1) return;
    const top = this.tops.get(topOf(name)) ?? { answered: 0, ceased: new Map<number, number>() };
    this.tops.set(topOf(name), top);
    top.answered++;
    const first = history.slice(last + 1).find(isMissing);
    if (first !== undefined) top.ceased.set(first.day, (top.ceased.get(first.day) ?? 0) + 1);
  }

  /** Whether too many names ceased to exist at about the same time as this one. */
  isSudden(name: string, since: number): boolean {
    let found = this.found.get(since);
    if (found === undefined) this.found.set(since, (found = this.around(since)));
    return found === "all" || found.has(topOf(name));
  }

  private around(since: number): ReadonlySet<string> | "all" {
    const sudden = new Set<string>();
    const rest = { answered: 0, ceased: 0 };
    for (const [name, { answered, ceased: days }] of this.tops) {
      let ceased = 0;
      for (const [day, count] of days) if (Math.abs(day - since) <= SUDDEN.days) ceased += count;
      if (isTooMany(ceased, answered)) sudden.add(name);
      else {
        rest.answered += answered;
        rest.ceased += ceased;
      }
    }
    return isTooMany(rest.ceased, rest.answered) ? "all" : sudden;
  }
}

function isTooMany(ceased: number, answered: number): boolean {
  return ceased > Math.max(SUDDEN.least, SUDDEN.share * answered);
}

function topOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** The name that decides whether a name and those below it are dead: its registrable domain, where others buy and give up names. */
export function subjectOf(name: string): string {
  return registrableDomain(name) ?? name;
}

/** What observations say about the names of rules on a day. */
export class Verdicts {
  private readonly observations: Observations;
  private readonly today: number;
  private readonly sudden: SuddenDeaths = new SuddenDeaths();
  /** Whether anything was seen lately. */
  readonly isFresh: boolean;

  constructor(observations: Observations, today: number) {
    this.observations = observations;
    this.today = today;
    let last = -Infinity;
    for (const name of observations.names()) {
      const history = observations.of(name);
      this.sudden.note(name, history);
      last = Math.max(last, history.findLast(({ day }) => day <= today)?.day ?? -Infinity);
    }
    this.isFresh = today - last <= DEAD.freshDays;
  }

  /** What is known about a name that was asked about. */
  of(name: string): Liveness {
    const { observations, sudden, today } = this;
    return livenessOf(observations.of(name), today, (since) => sudden.isSudden(name, since));
  }

  /**
   * What is known about the name of a rule: whether its registrable domain is dead, or for a rule without the names below it, the name
   * itself. Below a domain that lives, an empty answer says nothing about the names below.
   */
  ofRule(name: string, isSubtree: boolean): NamedLiveness {
    const domain = subjectOf(name);
    const found = { name: domain, ...this.of(domain) };
    if (found.state === "dead" || isSubtree || domain === name) return found;
    const own = { name, ...this.of(name) };
    return own.state === "dead" || found.state === "unknown" ? own : found;
  }
}

/** The same for documents. */
export function livenessFacts({ name, state, since, last, times }: NamedLiveness): NameLiveness {
  return {
    name,
    state,
    ...(since !== undefined && { since: dateText(since) }),
    ...(last !== undefined && { last: dateText(last) }),
    ...(times !== undefined && { times }),
  };
}

/** `dead since 2026-11-01: NXDOMAIN on 6 days, last on 2026-11-19`. */
export function livenessText({ state, since, last, times }: Omit<NameLiveness, "name">): string {
  if (state === "unknown" || last === undefined)
    return `not known: not asked within ${DEAD.freshDays} days`;
  if (state === "parked") return `parked on ${last}`;
  if (state === "answers") return `existed on ${last}`;
  const seen = `NXDOMAIN on ${times} ${times === 1 ? "day" : "days"}, last on ${last}`;
  const why = state === "held" ? "; too many names ceased to exist at the same time" : "";
  return `${state} since ${since}: ${seen}${why}`;
}
