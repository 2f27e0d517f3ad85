import { randomBytes } from "node:crypto";
import { hashText } from "../bytes/hash.ts";
import { printable, someOf } from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import {
  type NameHistory,
  type Mark,
  type Observations,
  isAnswer,
} from "../liveness/observations.ts";
import { livenessOf } from "../liveness/verdict.ts";
import { type ClientLimits, DnsClient, QuestionSlots, type RecordType } from "./dns-client.ts";
import type { Resolver } from "../config/resolvers.ts";
import { AnswerKinds, NO_NAMES, ResolverCheck, isProvenAbsent } from "./resolver-check.ts";

/** A name to ask about. For a registrable domain: names of the list below it, which show that it lives. */
export interface Subject {
  readonly name: string;
  /** Undefined for a name below a domain, of a rule for that name alone. */
  readonly below: readonly string[] | undefined;
}

/** Days until a name is asked about again. Names that never were asked come first. */
const AGAIN = { missing: 1, unknown: 1, dead: 7, lives: 7 } as const;

/** The names that are due on a day: first those that were never asked, then missing ones, then the others; else in random order. */
export function dueSubjects(
  subjects: Iterable<Subject>,
  observations: Observations,
  today: number,
): Subject[] {
  const due: { readonly subject: Subject; readonly place: number; readonly order: number }[] = [];
  for (const subject of subjects) {
    const history = observations.of(subject.name);
    const own = history.filter(({ mark }) => !/\d/.test(mark));
    const last = own.at(-1)?.day;
    const { state } = livenessOf(history, today);
    const isMissing = state === "missing" || state === "unknown";
    const wait = isMissing ? AGAIN.missing : state === "dead" ? AGAIN.dead : AGAIN.lives;
    if (last !== undefined && last <= today && today - last < wait) continue;
    // Neighbours in a list are often of one owner, whose servers shall not get all questions at once.
    const order = hashText(`${today} ${subject.name}`);
    due.push({ subject, place: last === undefined ? 0 : isMissing ? 1 : 2, order });
  }
  return due
    .toSorted((a, b) => a.place - b.place || a.order - b.order)
    .map(({ subject }) => subject);
}

export interface AskOptions {
  readonly resolvers: readonly Resolver[];
  readonly observations: Observations;
  /** Canaries of the published lists. */
  readonly canaries: readonly string[];
  /** Names a second. */
  readonly rate: number;
  /** Endings of the names of servers that parked names have. */
  readonly parking: readonly string[];
  /** The day of observations. */
  readonly today: number;
  readonly signal: AbortSignal | undefined;
  readonly limits?: ClientLimits | undefined;
  /** Counts what is asked. */
  readonly asked: AskCounts;
  /** Keeps the observations of a batch, after the test that follows it. */
  keep(names: readonly string[]): Promise<void>;
}

/** What was asked so far. */
export interface AskCounts {
  names: number;
  questions: number;
  tests: number;
}

/** So many questions are between two tests. A batch that no test follows is lost. */
const BATCH_QUESTIONS = 1000;
/** Names that wait for answers at the same time. */
const MOST_OPEN = 250;
/** Names of a list that lived, and must still do so. */
const MOST_LIVING = 10;
/** A batch in which more of the names that lived lately cease to exist than this share, and than so many, is not believed. */
const SUDDEN = { share: 0.5, least: 50 } as const;
/** So many days ago is lately: a doubt ends by itself. */
const LATELY_DAYS = AGAIN.lives * 2;

const LIMITS: ClientLimits = { datagramMs: [2000, 4000], streamMs: 5000 };

/** Asks about names, batch by batch, each between two tests of the resolvers. Returns why it stopped early, if it did. */
export async function askAll(
  subjects: readonly Subject[],
  options: AskOptions,
  host: Host,
): Promise<string | undefined> {
  const asker = new Asker(options, host);
  return await asker.run(subjects);
}

class Asker {
  private readonly options: AskOptions;
  private readonly host: Host;
  private readonly clients: readonly DnsClient[];
  private readonly asked: AskCounts;
  private readonly living: string[];
  private next = 0;
  /** What was seen since the last test. */
  private seen = new Map<string, Mark>();
  /** Names that wait for answers. */
  private open = 0;
  private wake: (() => void) | undefined;
  private failure: unknown;

  constructor(options: AskOptions, host: Host) {
    this.options = options;
    this.host = host;
    this.asked = options.asked;
    const limits = { ...(options.limits ?? LIMITS), slots: new QuestionSlots() };
    this.clients = options.resolvers.map((one) => new DnsClient(one, host, limits));
    this.living = livingNames(options);
  }

  async run(subjects: readonly Subject[]): Promise<string | undefined> {
    const { observations, today } = this.options;
    let refusal = await this.refusal();
    const isLeft = (): boolean => this.next < subjects.length || this.open > 0;
    while (refusal === undefined && isLeft() && !this.isStopped) {
      const seen = await this.askBatch(subjects);
      if (this.isStopped) break;
      // What a resolver says between two tests counts only if it passes both.
      refusal = this.doubt(seen) ?? (await this.refusal());
      if (refusal !== undefined) break;
      for (const [name, mark] of seen) {
        observations.add(name, [{ mark, day: today }]);
        if (mark === "+" && this.living.length < MOST_LIVING) this.living.push(name);
      }
      this.asked.names += seen.size;
      await this.options.keep([...seen.keys()]);
    }
    return refusal;
  }

  private get isStopped(): boolean {
    return this.options.signal?.aborted === true;
  }

  /** Sends the questions of a batch, and returns what was seen by then. Slow answers belong to a later batch. */
  private async askBatch(subjects: readonly Subject[]): Promise<ReadonlyMap<string, Mark>> {
    const { rate, signal } = this.options;
    const most = this.asked.questions + BATCH_QUESTIONS;
    const began = performance.now();
    let sent = 0;
    while (this.next < subjects.length && this.asked.questions < most && !this.isStopped) {
      const early = began + (sent++ * 1000) / rate - performance.now();
      if (early >= 1) await this.host.wait(early, signal);
      this.begin(subjects[this.next++]!);
      while (this.open >= MOST_OPEN) await this.someAnswer();
    }
    while (this.next === subjects.length && this.open > 0) await this.someAnswer();
    if (this.failure !== undefined) throw this.failure;
    const { seen } = this;
    this.seen = new Map();
    return seen;
  }

  private begin(subject: Subject): void {
    this.open++;
    this.markOf(subject)
      .then((mark) => this.seen.set(subject.name, mark))
      .catch((error: unknown) => (this.failure = error))
      .finally(() => {
        this.open--;
        this.wake?.();
      });
  }

  private someAnswer(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Why a batch is not believed. */
  private doubt(seen: ReadonlyMap<string, Mark>): string | undefined {
    const { observations, today } = this.options;
    let [lived, ceased] = [0, 0];
    for (const [name, mark] of seen) {
      if (mark === "?" || !livedLately(observations.of(name), today)) continue;
      lived++;
      if (mark === "x") ceased++;
    }
    if (ceased < SUDDEN.least || ceased <= SUDDEN.share * lived) return undefined;
    return `says that ${ceased} of ${lived} names that lived lately do not exist: it filters, or a part of the internet is out of reach`;
  }

  /** Why the resolvers cannot be believed; undefined if they pass the test. */
  private async refusal(): Promise<string | undefined> {
    const { canaries, signal } = this.options;
    for (const client of this.clients) {
      this.asked.tests++;
      const test = new ResolverTest(client, { canaries, living: this.living, signal });
      try {
        const refusal = await test.run();
        if (refusal !== undefined) return refusal;
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        return signal?.aborted === true
          ? undefined
          : `does not answer: ${printable(error.code, 40)}`;
      }
    }
    return undefined;
  }

  /** What this run saw of a name. Only what all servers and resolvers agree about is NXDOMAIN. */
  private async markOf({ name, below }: Subject): Promise<Mark> {
    const isDomain = below !== undefined;
    const [client, ...others] = this.clients;
    const first = await this.look(client!, name, isDomain ? "NS" : "A");
    if (first !== "absent") return first;
    // Servers that do not know empty names answer NXDOMAIN above names that exist, and some do so for one type only.
    const more: (() => Promise<Glimpse>)[] = [
      () => this.look(client!, name, isDomain ? "SOA" : "AAAA"),
      ...(isDomain ? [`www.${name}`, ...below] : []).map(
        (one) => () => this.look(client!, one, "A"),
      ),
      ...others.map((other) => () => this.look(other, name, isDomain ? "NS" : "A")),
    ];
    for (const look of more) {
      const found = await look();
      if (found !== "absent") return found === "p" ? "+" : found;
    }
    return "x";
  }

  private async look(client: DnsClient, name: string, type: RecordType): Promise<Glimpse> {
    this.asked.questions++;
    try {
      const answer = await client.ask(name, type, this.options.signal);
      if (isProvenAbsent({ name, answer })) return "absent";
      if (answer.rcode !== "NOERROR") return "?";
      const isParked = answer.servers?.some((server) => this.isParking(server)) === true;
      return isParked ? "p" : "+";
    } catch (error) {
      if (error instanceof HostError) return "?";
      throw error;
    }
  }

  private isParking(server: string): boolean {
    return this.options.parking.some((end) => server === end || server.endsWith(`.${end}`));
  }
}

function livedLately(history: NameHistory, today: number): boolean {
  const last = history.findLast(({ mark }) => mark !== "?");
  return last !== undefined && isAnswer(last) && today - last.day <= LATELY_DAYS;
}

/** Some names that lived lately, at random: neighbours often have the same servers. */
function livingNames({ observations, today }: AskOptions): string[] {
  const living: { readonly name: string; readonly order: number }[] = [];
  for (const name of observations.names()) {
    if (!livedLately(observations.of(name), today)) continue;
    const order = hashText(`${today} ${name}`);
    if (living.length === MOST_LIVING && order >= living.at(-1)!.order) continue;
    living.push({ name, order });
    living.sort((a, b) => a.order - b.order);
    living.length = Math.min(living.length, MOST_LIVING);
  }
  return living.map(({ name }) => name);
}

type Glimpse = "absent" | "+" | "p" | "?";

/** Names that exist in any case. */
const EXISTING = ["iana.org", "ietf.org", "wikipedia.org"] as const;
/** Names that exist, and that filters of ads, trackers, malware and adult sites block. */
export const FILTERED: readonly string[] = [
  "doubleclick.net",
  "google-analytics.com",
  "googlesyndication.com",
  "scorecardresearch.com",
  "taboola.com",
  "criteo.com",
  "malware.testcategory.com",
  "nudity.testcategory.com",
  "pornhub.com",
];
/** Top-level domains in which random names do not exist. */
const ABSENT_IN = ["com", "net", "org"] as const;

interface TestOptions {
  readonly canaries: readonly string[];
  /** Names of the list that lived. */
  readonly living: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** Finds out whether a resolver tells the truth about names that exist, names that do not, and names that filters block. */
class ResolverTest {
  private readonly client: DnsClient;
  private readonly options: TestOptions;
  private readonly kinds: AnswerKinds = new AnswerKinds();

  constructor(client: DnsClient, options: TestOptions) {
    this.client = client;
    this.options = options;
  }

  /** Why it cannot be believed. Rejects with a `HostError` if it does not answer. */
  async run(): Promise<string | undefined> {
    const { canaries, living } = this.options;
    for (const top of ABSENT_IN) {
      const name = `${randomBytes(10).toString("hex")}.${top}`;
      const answer = await this.ask(name);
      this.kinds.addControl({ name, answer });
      if (answer.rcode === "NOERROR")
        return "answers for names that do not exist: it rewrites NXDOMAIN";
      if (answer.rcode !== "NXDOMAIN")
        return `answers ${printable(answer.rcode, 20)} for a name that does not exist`;
      if (!isProvenAbsent({ name, answer }))
        return "does not pass on the SOA record with NXDOMAIN: ask a recursive resolver, not a forwarder or a filter";
    }
    const existing = await this.kindsOf(EXISTING);
    const lost = EXISTING.filter((_, index) => existing[index] !== "lives");
    if (lost.length > 1) return `does not find ${someOf(lost)}`;
    const filtered = await this.kindsOf(FILTERED);
    const blocked = FILTERED.filter((_, index) => filtered[index] === "blocked");
    const absent = FILTERED.filter((_, index) => filtered[index] === "absent");
    // One of them may be given up some day.
    if (blocked.length > 0 || absent.length > 1)
      return `filters ${someOf([...blocked, ...absent])}`;
    for (const canary of canaries) {
      const check = { names: NO_NAMES, others: [], signal: this.options.signal };
      if (await new ResolverCheck(this.client, check).answersFrom(canary))
        return "answers from this very list: ask a resolver without it";
    }
    const still = await this.kindsOf(living);
    const gone = living.filter(
      (_, index) => still[index] === "blocked" || still[index] === "absent",
    );
    if (gone.length > 2 && gone.length > living.length / 2)
      return `no longer finds names of the list that had answered: ${someOf(gone)}`;
    return undefined;
  }

  private async kindsOf(
    names: readonly string[],
  ): Promise<readonly ("lives" | "blocked" | "absent" | "failed")[]> {
    return await Promise.all(
      names.map(async (name) => {
        try {
          const answer = await this.ask(name);
          const one = { name, answer };
          if (isProvenAbsent(one)) return "absent";
          const kind = this.kinds.kindOf(one);
          if (answer.rcode === "NXDOMAIN" || kind === "blocked") return "blocked";
          return kind === "failed" ? "failed" : "lives";
        } catch (error) {
          if (error instanceof HostError) return "failed";
          throw error;
        }
      }),
    );
  }

  private async ask(name: string): ReturnType<DnsClient["ask"]> {
    return await this.client.ask(name, "A", this.options.signal);
  }
}
