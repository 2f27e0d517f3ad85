import { publishedCanary } from "../publish/list-file.ts";
import type { ProjectOptions } from "../builder/plan/build-options.ts";
import { listFiles } from "../builder/plan/list-plan.ts";
import type { ListConfig } from "../builder/plan/project.ts";
import {
  type ResolverProof,
  type StoredNames,
  type StoredProofs,
  newestOf,
  nextProof,
  readProof,
  rememberProbe,
} from "../builder/state/list-state.ts";
import { type Resolver, resolversOf } from "../config/resolvers.ts";
import type { ResolverState } from "../documents/facts.ts";
import type { Host } from "../host/host.ts";
import { buildOf } from "../syntax/host-name.ts";
import { type ClientLimits, DnsClient, QuestionSlots } from "./dns-client.ts";
import type { OtherCanary, ProofNames } from "./proof-names.ts";
import { lastProofs, otherCanaries, proofOf } from "./prove.ts";
import { type CheckResult, NO_NAMES, ResolverCheck } from "./resolver-check.ts";

/** A resolver that is silent for so long may be asked again a minute later. */
const PROBE_LIMITS: ClientLimits = { datagramMs: [1000, 2000], streamMs: 3000 };
/** A resolver that was proved is asked twice before it counts as not proved: it may just load the list. */
const CONFIRM_MS = 5000;

/** A list, and its resolvers. */
interface ProbedList {
  readonly path: string;
  readonly resolvers: readonly Resolver[];
  readonly names: ProofNames;
  readonly others: readonly OtherCanary[];
  readonly last: StoredProofs;
}

/** What changed at a resolver. */
export interface ProbeChange extends Pick<ResolverProof, "outcome" | "detail"> {
  readonly resolver: string;
  readonly list: string;
}

/** Asks the resolvers of lists again and again whether they still answer from what is published. It never reads a list. */
export class Probe {
  private readonly lists: readonly ListConfig[];
  private readonly options: ProjectOptions;
  private readonly host: Host;
  /** What it found, by the path of the list. */
  private readonly found = new Map<string, StoredProofs>();

  constructor(lists: readonly ListConfig[], options: ProjectOptions, host: Host) {
    this.lists = lists;
    this.options = options;
    this.host = host;
  }

  /** What is known about the resolvers, with what it found. */
  async states(): Promise<ResolverState[]> {
    return await lastProofs(this.lists, this.options, this.host, (path) => this.found.get(path));
  }

  /** Asks each resolver once, at most 200 questions at the same time. Returns what changed. A run asks about what it publishes. */
  async round(isRunning: () => boolean, signal: AbortSignal): Promise<ProbeChange[]> {
    const slots = new QuestionSlots();
    const rounds = this.lists.map(async (list) => {
      const probed = await this.openList(list, isRunning());
      if (probed === undefined) return [];
      const ask = new ProbeRound(probed, { ...PROBE_LIMITS, slots }, this.host, signal);
      const proofs = await Promise.all(probed.resolvers.map((one) => ask.proofOf(one)));
      // Another list was published meanwhile, and the answers belong to no build.
      const { canary } = probed.names;
      if (signal.aborted || (await publishedCanary(probed.path, this.host)) !== canary) return [];
      return await this.keep(probed, new Map(proofs));
    });
    return (await Promise.all(rounds)).flat();
  }

  /** Undefined if it has no resolvers, is not published, or a run is about to ask about it. */
  private async openList(
    { project, config }: ListConfig,
    isRunning: boolean,
  ): Promise<ProbedList | undefined> {
    const { options, host } = this;
    const resolvers = resolversOf(project.config).filter(({ list }) => list === config.name);
    const [file] = listFiles(config.name, options, host);
    if (resolvers.length === 0 || file === undefined) return undefined;
    const { path } = file;
    const canary = await publishedCanary(path, host);
    if (canary === undefined) return undefined;
    const { resolvers: stored, names } = await readProof(path, host);
    const last = newestOf(stored, this.found.get(path) ?? {}, host);
    const isAsked = Object.values(last).some(({ build }) => build === buildOf(canary));
    if (isRunning && !isAsked) return undefined;
    const canaries = await otherCanaries(project.config, options, host);
    const others = canaries.filter(({ of }) => of !== config.name);
    return { path, resolvers, names: namesFor(canary, names), others, last };
  }

  private async keep(
    { path, last, resolvers }: ProbedList,
    proofs: ReadonlyMap<string, ResolverProof>,
  ): Promise<ProbeChange[]> {
    this.found.set(path, Object.fromEntries(proofs));
    const changed = resolvers.flatMap(({ name, list }) => {
      const { outcome, detail, upstream, build } = proofs.get(name)!;
      const old = Object.hasOwn(last, name) ? last[name] : undefined;
      const isSame = old?.outcome === outcome && old.upstream === upstream && old.build === build;
      return isSame ? [] : [{ resolver: name, list, outcome, detail }];
    });
    // A file that is written every minute would wear out a memory card.
    if (changed.length > 0) await rememberProbe(path, Object.fromEntries(proofs), this.host);
    return changed;
  }
}

/** The names of the published build; of one that was never asked about, its canary alone. */
function namesFor(canary: string, names: StoredNames | undefined): ProofNames {
  if (names?.canary === canary) return { ...names, deciding: new Set(names.deciding) };
  const older = names === undefined ? [] : [{ canary: names.canary, of: "before" }, ...names.older];
  return { ...NO_NAMES, canary, older: older.filter((one) => one.canary !== canary) };
}

/** One look at the resolvers of a list. */
class ProbeRound {
  private readonly list: ProbedList;
  private readonly limits: ClientLimits;
  private readonly host: Host;
  private readonly signal: AbortSignal;

  constructor(list: ProbedList, limits: ClientLimits, host: Host, signal: AbortSignal) {
    this.list = list;
    this.limits = limits;
    this.host = host;
    this.signal = signal;
  }

  async proofOf(resolver: Resolver): Promise<readonly [string, ResolverProof]> {
    const { names, last } = this.list;
    const { name } = resolver;
    const old = Object.hasOwn(last, name) ? last[name] : undefined;
    const result = await this.ask(resolver, old?.outcome ?? "proved");
    const {
      resolver: _resolver,
      list: _list,
      ...proof
    } = proofOf(resolver, names, result, this.host);
    return [name, nextProof(proof, old)];
  }

  /** A glance is enough for a resolver that answers as before. */
  private async ask(resolver: Resolver, before: string): Promise<CheckResult> {
    if (before !== "proved") return await this.check(resolver).run();
    const glance = await this.check(resolver).glance();
    if (glance !== undefined) return glance;
    const first = await this.check(resolver).run();
    if (first.outcome === "proved") return first;
    await this.host.wait(CONFIRM_MS, this.signal);
    return await this.check(resolver).run();
  }

  private check(resolver: Resolver): ResolverCheck {
    const { names, others } = this.list;
    const client = new DnsClient(resolver, this.host, this.limits);
    return new ResolverCheck(client, { names, others, signal: this.signal });
  }
}
