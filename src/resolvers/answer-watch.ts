import { randomBytes } from "node:crypto";
import type { Resolver } from "../config/resolvers.ts";
import { type Host, HostError } from "../host/host.ts";
import { CANARY_SUFFIX } from "../syntax/host-name.ts";
import { DnsClient } from "./dns-client.ts";

const LIMITS = { datagramMs: [500], streamMs: 1000 } as const;
/** How often a resolver is asked, and how much time there is at least between two questions, whatever the number of resolvers. */
const EVERY_MS = 100;
const BETWEEN_MS = 5;
const MOST_QUESTIONS = 20_000;

type Watched = Pick<Resolver, "name" | "list">;

/** What is known about the answers of one resolver. */
interface Silence {
  /** When the first question was sent that has no answer yet. */
  since: number | undefined;
  longestMs: number;
}

/**
 * Asks resolvers for names of no list while they load one, and measures how long none of them was answered: a resolver that reads a
 * large list may answer no client meanwhile, and has the right answers before and after.
 */
export class AnswerWatch {
  private readonly silences = new Map<string, Silence>();
  private readonly end = new AbortController();
  private readonly host: Host;
  private readonly loops: Promise<void>[];

  constructor(resolvers: readonly Resolver[], host: Host) {
    this.host = host;
    const everyMs = Math.max(EVERY_MS, resolvers.length * BETWEEN_MS);
    this.loops = resolvers.map(async (one, index) => {
      // One after the other, not all of them at the same time.
      await this.rest((index * everyMs) / resolvers.length);
      await this.watch(one, everyMs);
    });
  }

  /** The longest time without an answer until now, in milliseconds; null for a resolver that is not watched. */
  unansweredMs(resolver: Watched): number | null {
    const silence = this.silences.get(keyOf(resolver));
    if (silence === undefined) return null;
    const { since, longestMs } = silence;
    return Math.max(longestMs, since === undefined ? 0 : this.now() - since);
  }

  async stop(): Promise<void> {
    this.end.abort();
    await Promise.all(this.loops);
  }

  private async watch(resolver: Resolver, everyMs: number): Promise<void> {
    const { host } = this;
    const { signal } = this.end;
    const client = new DnsClient(resolver, host, LIMITS);
    const silence: Silence = { since: undefined, longestMs: 0 };
    this.silences.set(keyOf(resolver), silence);
    for (let asked = 0; asked < MOST_QUESTIONS && !signal.aborted; asked++) {
      silence.since ??= this.now();
      try {
        await client.ask(`w-${randomBytes(6).toString("hex")}.${CANARY_SUFFIX}`, "A", signal);
        silence.longestMs = Math.max(silence.longestMs, this.now() - silence.since);
        silence.since = undefined;
      } catch (error) {
        if (!(error instanceof HostError) && !signal.aborted) throw error;
      }
      await this.rest(everyMs);
    }
  }

  private async rest(ms: number): Promise<void> {
    const { signal } = this.end;
    if (ms > 0 && !signal.aborted) await this.host.wait(ms, signal).catch(() => {});
  }

  private now(): number {
    return this.host.now().getTime();
  }
}

function keyOf({ name, list }: Watched): string {
  return JSON.stringify([list, name]);
}
