import type { Explanation } from "../explain/why.ts";
import { clientAddress } from "../host/client-address.ts";
import type { Host } from "../host/host.ts";
import { withDeadline } from "./deadline.ts";

/** A question about a name that was checked. */
export interface WhyQuestion {
  readonly name: string;
  /** One list; all lists by default. */
  readonly list?: string | undefined;
  /** The resolver that knows which names the name is an alias of. */
  readonly resolver?: string | undefined;
}

/** The answer of one list: for the name, and for every name that it is an alias of; or why it cannot answer. */
export interface WhyOfList {
  readonly list: string;
  readonly names?: readonly Explanation[];
  readonly problem?: { readonly code: string; readonly message: string };
}

export interface WhyOptions {
  readonly host: Host;
  readonly signal: AbortSignal;
  /** Names of the resolvers of the configuration. */
  readonly resolvers: readonly string[];
  /** Answers in a child process. */
  answer(question: WhyQuestion, signal: AbortSignal): Promise<readonly WhyOfList[]>;
  /** Changes with every list that is published. */
  version(): string;
}

/** `busy`: this client, or all together, ask too much. `late`: it took too long. `failed`: there is no answer. */
export type WhyEnd = readonly WhyOfList[] | "busy-client" | "busy" | "late" | "failed";

const MOST_AT_ONCE = 2;
const MOST_WAITING = 16;
const MOST_PER_CLIENT = 4;
const MOST_KEPT = 100;
/** Answers with more text are not kept. */
const MOST_KEPT_TEXT = 32 * 1024;
const KEPT_MS = 60_000;
const DEADLINE_MS = 10_000;

interface Kept {
  readonly at: number;
  readonly end: Promise<WhyEnd>;
}

/** Answers questions about names: a few at a time, the last ones from memory. */
export class WhyAnswers {
  readonly resolvers: readonly string[];
  private readonly options: WhyOptions;
  private readonly kept = new Map<string, Kept>();
  private readonly clients = new Map<string, number>();
  private readonly waiting: (() => void)[] = [];
  private running = 0;
  private version = "";

  constructor(options: WhyOptions) {
    this.options = options;
    this.resolvers = options.resolvers;
  }

  async ask(question: WhyQuestion, address: string): Promise<WhyEnd> {
    const now = this.options.host.now().getTime();
    const version = this.options.version();
    if (version !== this.version) this.kept.clear();
    this.version = version;
    const key = JSON.stringify([question.name, question.list, question.resolver]);
    const known = this.kept.get(key);
    if (known !== undefined && Math.abs(now - known.at) < KEPT_MS) return await known.end;
    const client = clientAddress(address);
    const own = this.clients.get(client) ?? 0;
    if (own >= MOST_PER_CLIENT) return "busy-client";
    if (this.waiting.length >= MOST_WAITING) return "busy";
    this.clients.set(client, own + 1);
    const end = this.inTurn(question).finally(() => this.leave(client));
    const kept = { at: now, end };
    this.kept.set(key, kept);
    const { value, size } = await sized(end);
    if (size > MOST_KEPT_TEXT && this.kept.get(key) === kept) this.kept.delete(key);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= MOST_KEPT) break;
      this.kept.delete(old);
    }
    return value;
  }

  private leave(client: string): void {
    const left = this.clients.get(client)! - 1;
    if (left === 0) this.clients.delete(client);
    else this.clients.set(client, left);
  }

  private async inTurn(question: WhyQuestion): Promise<WhyEnd> {
    if (this.running >= MOST_AT_ONCE)
      await new Promise<void>((begin) => void this.waiting.push(begin));
    else this.running++;
    try {
      const { signal } = this.options;
      const { value, isLate } = await withDeadline(DEADLINE_MS, signal, (until) =>
        this.options.answer(question, until).catch(() => undefined),
      );
      return isLate ? "late" : (value ?? "failed");
    } finally {
      // The place goes to the next one.
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}

/** How much text an answer has. An answer with a problem is not kept: a list may just be published. */
async function sized(end: Promise<WhyEnd>): Promise<{ value: WhyEnd; size: number }> {
  const value = await end;
  const isWhole = typeof value !== "string" && value.every(({ problem }) => problem === undefined);
  return { value, size: isWhole ? JSON.stringify(value).length : Infinity };
}
