import type { ProofOutcome } from "../documents/facts.ts";
import { randomBytes } from "node:crypto";
import { countText, printable, someOf } from "../diagnostics/text.ts";
import { HostError } from "../host/host.ts";
import { CANARY_SUFFIX } from "../syntax/host-name.ts";
import type { DnsAnswer, DnsClient } from "./dns-client.ts";
import type { OtherCanary, ProofNames } from "./proof-names.ts";

/** What one look at a resolver found. */
export interface CheckResult {
  readonly outcome: ProofOutcome;
  /** Why, for a person. */
  readonly detail: string;
  /** Median time of its answers, in milliseconds. */
  readonly latencyMs: number | undefined;
  /** Whether it answers for names that it does not block; null if nothing shows it. */
  readonly upstream: boolean | null;
}

type Finding = Pick<CheckResult, "outcome" | "detail"> & { readonly upstream?: boolean };

export interface CheckOptions {
  readonly names: ProofNames;
  /** Canaries of the other lists of the configuration. */
  readonly others: readonly OtherCanary[];
  readonly signal: AbortSignal | undefined;
}

export const NO_NAMES: ProofNames = {
  canary: undefined,
  older: [],
  fresh: [],
  listed: [],
  freed: [],
  reachable: [],
  deciding: new Set(),
};

/** A resolver answers what it blocks by itself, and nothing else. */
export const NO_UPSTREAM = "answers the canary, but no other name: its upstream does not answer";

const AT_ONCE = 8;
/** If a policy answers like the rest of the world, this many listed names without an address count as blocked. */
const ENOUGH_ABSENT = 8;

/** Asks a resolver once about every name, and decides. */
export class ResolverCheck {
  private readonly client: DnsClient;
  private readonly options: CheckOptions;
  /** What the resolver says about the canary; empty if it gives no reason. */
  private reason = "";

  constructor(client: DnsClient, options: CheckOptions) {
    this.client = client;
    this.options = options;
  }

  async run(): Promise<CheckResult> {
    try {
      return this.resultOf(await this.decide());
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const detail = `${printable(error.code, 40)}: ${printable(error.message, 120)}`;
      return { outcome: "unreachable", detail, latencyMs: undefined, upstream: null };
    }
  }

  /**
   * Looks with as few questions as possible whether the resolver answers from the published build. Undefined if they do not prove
   * it: then `run` finds out. The names are new, so that no cache answers them.
   */
  async glance(): Promise<CheckResult | undefined> {
    const { canary } = this.options.names;
    if (canary === undefined) return undefined;
    try {
      const kinds = new AnswerKinds();
      const policy = await this.ask(below(canary));
      kinds.addControl(await this.ask(controlName()));
      if (kinds.failure !== undefined || !kinds.isPolicy(policy, true)) return undefined;
      this.reason = reasonOf(policy.answer);
      const finding = this.judge(await this.look(kinds, fewOf(this.options.names)), true);
      return finding.outcome === "proved"
        ? this.resultOf({ ...finding, upstream: true })
        : undefined;
    } catch (error) {
      if (error instanceof HostError) return undefined;
      throw error;
    }
  }

  private resultOf({ outcome, detail, upstream }: Finding): CheckResult {
    return { outcome, detail, latencyMs: median(this.client.times), upstream: upstream ?? null };
  }

  /** Whether the resolver answers from the build with this canary. */
  async answersFrom(canary: string): Promise<boolean> {
    try {
      return await this.hasCanary(canary, await this.controls());
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return false;
    }
  }

  private async decide(): Promise<Finding> {
    const { names, others } = this.options;
    const { canary, older } = names;
    // At the same time, because a resolver without an upstream takes long to fail.
    const first = canary === undefined ? undefined : this.ask(canary).catch(() => undefined);
    const kinds = await this.controls().catch(async (error: unknown) => {
      const answered = await first;
      if (answered === undefined || isFailure(answered.answer.rcode)) throw error;
      return undefined;
    });
    if (kinds === undefined)
      return { outcome: "unreachable", detail: NO_UPSTREAM, upstream: false };
    const isCurrent = canary !== undefined && (await this.hasCanary(canary, kinds));
    if (!isCurrent && kinds.failure !== undefined)
      return { outcome: "unreachable", detail: `answers ${kinds.failure} to every question` };
    const upstream = kinds.failure === undefined;
    if (!isCurrent)
      for (const { canary: other, of } of older)
        if (await this.hasCanary(other, kinds))
          return {
            outcome: "stale",
            detail: `answers from the build of ${printable(of, 60)}`,
            upstream,
          };
    if (!isCurrent)
      for (const { canary: other, of } of others)
        if (await this.hasCanary(other, kinds))
          return {
            outcome: "wrong",
            detail: `answers from the list ${printable(of, 60)}`,
            upstream,
          };
    const finding = this.judge(await this.look(kinds), isCurrent);
    const { outcome, detail } = finding;
    return upstream || outcome !== "proved"
      ? { ...finding, upstream }
      : { outcome, detail: `${detail}; other names get ${kinds.failure}`, upstream };
  }

  private judge(looked: LookedNames, isCurrent: boolean): Finding {
    const { canary, deciding } = this.options.names;
    const { fresh, listed, freed, reachable } = looked;
    const all = [...fresh, ...listed];
    const passed = namesWith(all, "passed");
    const blocked = namesWith(all, "blocked");
    const kept = namesWith([...freed, ...reachable], "blocked");
    const wrong = [
      ...(passed.length > 0 ? [`does not block ${someOf(passed)}`] : []),
      ...(kept.length > 0 ? [`blocks ${someOf(kept)}`] : []),
    ].join("; ");
    if (isCurrent) {
      // A source can choose its names and what they are answered with, so it must not be able to decide.
      const isWrong = [...passed, ...kept].some((name) => deciding.has(name));
      if (isWrong) return { outcome: "wrong", detail: `blocks the canary, but ${wrong}` };
      const agreeing = blocked.length + namesWith([...freed, ...reachable], "passed").length;
      const others =
        agreeing === 0 ? "" : `; ${countText(agreeing, "other name agrees", "other names agree")}`;
      const reported = wrong === "" ? "" : `, but it ${wrong}`;
      const said = this.reason === "" ? "" : ` and says ${this.reason}`;
      return { outcome: "proved", detail: `blocks the canary${said}${others}${reported}` };
    }
    const absent = namesWith(listed, "absent").length;
    // Of so many names, a resolver without the list would find some.
    const isSilent = absent >= ENOUGH_ABSENT && namesWith(listed, "passed").length === 0;
    if (blocked.length === 0 && !isSilent)
      return { outcome: "unfiltered", detail: wrong === "" ? "no answer shows a block" : wrong };
    if (canary !== undefined && blocked.length > 0)
      return {
        outcome: "wrong",
        detail: `blocks ${someOf(blocked)}, but not the canary of any kept build`,
      };
    if (wrong !== "") return { outcome: isOld(looked) ? "stale" : "wrong", detail: wrong };
    const detail =
      blocked.length > 0
        ? countText(blocked.length, "name agrees", "names agree")
        : `none of ${absent} listed names has an address; the build is unknown`;
    return { outcome: "proved", detail };
  }

  /** A cached answer may look different, so a control is asked for twice. */
  private async controls(): Promise<AnswerKinds> {
    const kinds = new AnswerKinds();
    const name = controlName();
    for (const control of [name, name, controlName()]) kinds.addControl(await this.ask(control));
    return kinds;
  }

  /** The name itself may still be cached from before the list was loaded; formats for single names block nothing below it. */
  private async hasCanary(canary: string, kinds: AnswerKinds): Promise<boolean> {
    for (const name of [canary, below(canary)]) {
      const answer = await this.ask(name);
      const isNew = name !== canary;
      if (!kinds.isPolicy(answer, isNew)) continue;
      // The resolver may have begun to answer everything like this.
      kinds.addControl(await this.ask(controlName()));
      if (!kinds.isPolicy(answer, isNew)) continue;
      this.reason = reasonOf(answer.answer);
      return true;
    }
    return false;
  }

  private async look(kinds: AnswerKinds, names = this.options.names): Promise<LookedNames> {
    const { fresh, listed, freed, reachable } = names;
    const groups = [fresh, listed, freed, reachable];
    const seen = await inParallel(groups.flat(), async (name): Promise<Seen> => {
      try {
        return { name, kind: kinds.kindOf(await this.ask(name)) };
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        return { name, kind: "failed" };
      }
    });
    let from = 0;
    const [a, b, c, d] = groups.map((group) => seen.slice(from, (from += group.length)));
    return { fresh: a!, listed: b!, freed: c!, reachable: d! };
  }

  private async ask(name: string): Promise<NamedAnswer> {
    return { name, answer: await this.client.ask(name, "A", this.options.signal) };
  }
}

/** Five names at most. */
function fewOf({ fresh, listed, reachable, ...others }: ProofNames): ProofNames {
  const few = { fresh: fresh.slice(0, 1), listed: listed.slice(0, 3), freed: [] };
  return { ...others, ...few, reachable: reachable.slice(0, 1) };
}

/** A name below a canary that no client has asked for. */
function below(canary: string): string {
  return `${randomBytes(4).toString("hex")}.${canary}`;
}

/** A name that is in no list. */
function controlName(): string {
  return `c-${randomBytes(6).toString("hex")}.${CANARY_SUFFIX}`;
}

interface Seen {
  readonly name: string;
  readonly kind: AnswerKind;
}

interface LookedNames {
  readonly fresh: readonly Seen[];
  readonly listed: readonly Seen[];
  readonly freed: readonly Seen[];
  readonly reachable: readonly Seen[];
}

/** Whether all answers agree with the list before its last change. */
function isOld({ fresh, listed, freed, reachable }: LookedNames): boolean {
  return (
    namesWith([...listed, ...freed], "passed").length === 0 &&
    namesWith([...fresh, ...reachable], "blocked").length === 0
  );
}

function namesWith(all: readonly Seen[], wanted: AnswerKind): string[] {
  return all.filter(({ kind }) => kind === wanted).map(({ name }) => name);
}

async function inParallel<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < all.length) {
      const index = next++;
      results[index] = await work(all[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, worker));
  return results;
}

function median(times: readonly number[]): number | undefined {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

/**
 * What an answer says about a name. `absent`: the name does not exist or has no address, and nothing shows whether a policy said
 * so. `failed`: the resolver could not tell.
 */
type AnswerKind = "blocked" | "passed" | "absent" | "failed";

/** An answer with the name that was asked for. */
export interface NamedAnswer {
  readonly name: string;
  readonly answer: DnsAnswer;
}

/** Extended DNS Errors of policies (RFC 8914). */
const POLICY_ERRORS: ReadonlyMap<number, string> = new Map([
  [4, "Forged Answer"],
  [15, "Blocked"],
  [16, "Censored"],
  [17, "Filtered"],
]);

/** Why a policy answers: `Blocked: Home`. */
function reasonOf({ errors }: DnsAnswer): string {
  const error = errors.find(({ code }) => POLICY_ERRORS.has(code));
  if (error === undefined) return "";
  const text = error.text === "" ? "" : `: ${printable(error.text, 60)}`;
  return `${POLICY_ERRORS.get(error.code)!}${text}`;
}

const NULL_ADDRESS = /^(?:0\.0\.0\.0|[0:]+)$/;

/**
 * Tells answers of a policy from others. Many resolvers block with NXDOMAIN, which is also the answer for a name that does not
 * exist. So names that no list contains are asked for as well: these controls show how the resolver answers then.
 */
export class AnswerKinds {
  private readonly controls: NamedAnswer[] = [];
  private readonly shapes = new Set<string>();
  /** Addresses of a page that the resolver shows for blocked names. */
  private page: readonly string[] = [];

  /** Adds the answer for a name that no list contains. */
  addControl(control: NamedAnswer): void {
    this.controls.push(control);
    this.shapes.add(shapeOf(control));
  }

  /** Whether the resolver answers no question at all, and its code. */
  get failure(): string | undefined {
    const codes = this.controls.map(({ answer }) => answer.rcode);
    return codes.every((code) => code !== "NOERROR" && code !== "NXDOMAIN") ? codes[0] : undefined;
  }

  /** Whether a policy answers for a name that exists nowhere. `isNew`: it is asked for the first time, so it is not cached. */
  isPolicy(one: NamedAnswer, isNew: boolean): boolean {
    const { rcode, addresses, soa } = one.answer;
    if (isFailure(rcode) || this.shapes.has(shapeOf(one))) return false;
    // If the resolver cannot reach other servers, an answer may be from its cache.
    const isMadeHere = isExplicit(one.answer) || (isNew && soa === undefined);
    if (this.failure !== undefined && !isMadeHere) return false;
    if (addresses.length > 0) this.page = addresses;
    return true;
  }

  /** What the resolver says about a name that may exist. */
  kindOf(one: NamedAnswer): AnswerKind {
    const { rcode, addresses } = one.answer;
    if (isExplicit(one.answer)) return "blocked";
    if (rcode === "REFUSED") return this.failure === undefined ? "blocked" : "failed";
    if (isFailure(rcode)) return "failed";
    if (addresses.length > 0)
      return addresses.every((address) => this.page.includes(address)) ? "blocked" : "passed";
    return this.isMarked(one) ? "blocked" : "absent";
  }

  /** Whether a negative answer differs from those that the resolver got from elsewhere. */
  private isMarked(one: NamedAnswer): boolean {
    if (one.answer.hasOthers || this.failure !== undefined) return false;
    const { isAuthoritative } = one.answer;
    const place = soaPosition(one);
    return this.controls.every((control) => {
      const usual = soaPosition(control);
      if (control.answer.rcode !== "NXDOMAIN") return false;
      // smartdns always puts the name itself there, and blocks with an empty answer.
      if (usual === "self") return place === "self" && one.answer.rcode === "NOERROR";
      if (isAuthoritative && !control.answer.isAuthoritative) return true;
      return place !== "above" && place !== usual;
    });
  }
}

function isFailure(rcode: string): boolean {
  return rcode !== "NOERROR" && rcode !== "NXDOMAIN" && rcode !== "REFUSED";
}

/** Answers that only a policy gives. */
function isExplicit({ addresses, errors, policySoa, ...answer }: DnsAnswer): boolean {
  if (addresses.length > 0) return addresses.every((address) => NULL_ADDRESS.test(address));
  if (policySoa !== undefined || errors.some(({ code }) => POLICY_ERRORS.has(code))) return true;
  return answer.rcode === "NXDOMAIN" && answer.soa === undefined && answer.isAuthoritative;
}

/**
 * Whether servers of a zone above the name said that it does not exist. What a policy, a zone of the resolver itself or a cache without
 * proofs says is none of it.
 */
export function isProvenAbsent(one: NamedAnswer): boolean {
  const { rcode, isAuthoritative } = one.answer;
  if (rcode !== "NXDOMAIN" || isAuthoritative || isExplicit(one.answer)) return false;
  return soaPosition(one) === "above";
}

/** Where the SOA record of a negative answer is. A real one is in a zone above the name, or that of the name itself. */
function soaPosition({
  name,
  answer: { soa },
}: NamedAnswer): "none" | "self" | "above" | "elsewhere" {
  if (soa === undefined) return "none";
  if (soa === name) return "self";
  return soa === "." || name.endsWith(`.${soa}`) ? "above" : "elsewhere";
}

/** Everything about an answer that differs between a policy and the rest of the world, but not between two similar names. */
function shapeOf(one: NamedAnswer): string {
  const { rcode, isAuthoritative, addresses, hasOthers, soa, policySoa, errors } = one.answer;
  const place = soaPosition(one);
  const owner = place === "self" ? "self" : (soa ?? "none");
  const codes = errors.map(({ code }) => code);
  const parts = [rcode, isAuthoritative, addresses.toSorted(), hasOthers, owner, policySoa, codes];
  return JSON.stringify(parts);
}
