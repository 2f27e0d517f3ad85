import { publishedCanary } from "../publish/list-file.ts";
import type { ProjectOptions } from "../builder/plan/build-options.ts";
import { listFiles } from "../builder/plan/list-plan.ts";
import { type ListConfig, openProject } from "../builder/plan/project.ts";
import {
  type StoredProofs,
  newestOf,
  readProofs,
  rememberProofs,
} from "../builder/state/list-state.ts";
import type { Config } from "../config/lists.ts";
import { type Resolver, resolversOf } from "../config/resolvers.ts";
import type { Code } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import type { Host } from "../host/host.ts";
import { buildOf } from "../syntax/host-name.ts";
import { AnswerWatch } from "./answer-watch.ts";
import { CLIENT_LIMITS, type ClientLimits, DnsClient, QuestionSlots } from "./dns-client.ts";
import { type OtherCanary, type ProofNames, proofNames } from "./proof-names.ts";
import {
  type CheckOptions,
  type CheckResult,
  NO_UPSTREAM,
  ResolverCheck,
} from "./resolver-check.ts";
import type { Proof, ProofOutcome, ResolverState } from "../documents/facts.ts";

interface ProveOptions {
  /** How long a resolver may take to load the list. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ClientLimits | undefined;
  /** Called after each look at a resolver, which may be followed by others. */
  readonly onLook?: ((resolver: string, outcome: ProofOutcome) => void) | undefined;
  /** The lists whose resolvers are asked; all by default. */
  readonly lists?: ReadonlySet<string> | undefined;
  /** Measures how long the resolvers do not answer; of its own if none is given and they may take some time. */
  readonly watch?: AnswerWatch | undefined;
  /** Called with the proofs before they are kept. */
  readonly onProved?: ((proofs: readonly Proof[]) => Promise<void>) | undefined;
}

const PAUSE_MS = 500;

/** A list that resolvers answer from. */
interface ProvenList {
  readonly name: string;
  readonly path: string;
  readonly names: ProofNames;
}

/**
 * Asks the resolvers of a configuration whether they answer from the published lists, and keeps the outcomes beside the lists.
 * Rejects with a `CompilerError` if the configuration has no resolvers or a list is not published.
 */
export async function proveResolvers(
  options: ProjectOptions,
  host: Host,
  how: ProveOptions,
): Promise<Proof[]> {
  const { project, lists } = await openProject(options, host);
  const selected = new Map(lists.map((one) => [one.config.name, one]));
  const all = resolversOf(project.config);
  const isWanted = (list: string): boolean => how.lists?.has(list) ?? true;
  const resolvers = all.filter(({ list }) => selected.has(list) && isWanted(list));
  if (resolvers.length === 0)
    throw new CompilerError([
      errorOf("no-resolvers", `${printable(options.configPath)} names no resolver to ask`),
    ]);
  const published = new Map<string, ProvenList>();
  for (const { list } of resolvers)
    if (!published.has(list)) published.set(list, await listOf(selected.get(list)!, options, host));
  const canaries = await otherCanaries(project.config, options, host);
  const checkOf = ({ list }: Resolver): CheckOptions => ({
    names: published.get(list)!.names,
    others: canaries.filter(({ of }) => of !== list),
    signal: how.signal,
  });
  const slots = new QuestionSlots();
  const watch = how.watch ?? (how.waitMs > 0 ? new AnswerWatch(resolvers, host) : undefined);
  const proveOne = async (one: Resolver): Promise<Proof> =>
    await prove(one, { ...checkOf(one), slots }, host, { ...how, watch });
  let proofs: Proof[];
  try {
    proofs = await Promise.all(resolvers.map(proveOne));
  } finally {
    await watch?.stop();
  }
  how.signal?.throwIfAborted();
  await how.onProved?.(proofs);
  for (const { name, path } of published.values()) {
    const own = proofs.filter(({ list }) => list === name);
    const known = new Set(all.filter(({ list }) => list === name).map((one) => one.name));
    const kept = own.map(({ resolver, list: _list, ...proof }) => [resolver, proof] as const);
    await rememberProofs(
      path,
      { proofs: new Map(kept), known, names: published.get(name)!.names },
      host,
    );
  }
  return proofs;
}

async function listOf(
  { config }: ListConfig,
  options: ProjectOptions,
  host: Host,
): Promise<ProvenList> {
  const [file] = listFiles(config.name, options, host);
  if (file === undefined || !(await host.exists(file.path)))
    throw new CompilerError([
      errorOf("not-published", `The list ${printable(config.name)} is not published`, {
        ...(file && { cause: `${printable(file.name)} does not exist` }),
      }),
    ]);
  return { name: config.name, path: file.path, names: await proofNames(file.path, config, host) };
}

/** The canaries of all published lists of the configuration. */
export async function otherCanaries(
  config: Config,
  options: ProjectOptions,
  host: Host,
): Promise<OtherCanary[]> {
  const canaries: OtherCanary[] = [];
  for (const { name } of config.lists ?? []) {
    const [file] = listFiles(name, options, host);
    const canary = file && (await publishedCanary(file.path, host));
    if (canary !== undefined) canaries.push({ canary, of: name });
  }
  return canaries;
}

/** Asks until the resolver is proved or the time is over: it may still load the list. */
async function prove(
  resolver: Resolver,
  check: CheckOptions & { readonly slots: QuestionSlots },
  host: Host,
  { waitMs, signal, limits, onLook, watch }: ProveOptions,
): Promise<Proof> {
  const deadline = host.now().getTime() + waitMs;
  let result: CheckResult;
  for (;;) {
    const left = deadline - host.now().getTime();
    const own = limits ?? limitsWithin(waitMs === 0 ? Infinity : left);
    const client = new DnsClient(resolver, host, { ...own, slots: check.slots });
    result = await new ResolverCheck(client, check).run();
    onLook?.(resolver.name, result.outcome);
    const isOver = host.now().getTime() + PAUSE_MS > deadline;
    if (result.outcome === "proved" || isOver || signal?.aborted === true) break;
    await host.wait(PAUSE_MS, signal);
  }
  const proof = proofOf(resolver, check.names, result, host);
  return { ...proof, unansweredMs: watch?.unansweredMs(resolver) ?? null };
}

/** What a look at a resolver proves now. */
export function proofOf(
  { name, list }: Resolver,
  { canary }: ProofNames,
  { outcome, detail, latencyMs, upstream }: CheckResult,
  host: Host,
): Proof {
  return {
    resolver: name,
    list,
    outcome,
    detail,
    build: canary === undefined ? null : buildOf(canary),
    at: host.now().toISOString(),
    latencyMs: latencyMs ?? null,
    upstream,
    unansweredMs: null,
  };
}

/** The shortest time for an answer. */
const LEAST_MS = 250;

/** The usual limits, as far as they fit into the time that is left. */
function limitsWithin(leftMs: number): ClientLimits {
  let left = Math.max(leftMs, LEAST_MS);
  const datagramMs = CLIENT_LIMITS.datagramMs.flatMap((usual) => {
    const one = Math.min(usual, left);
    left -= one;
    return one > 0 ? [one] : [];
  });
  return { datagramMs, streamMs: Math.min(CLIENT_LIMITS.streamMs, Math.max(leftMs, LEAST_MS)) };
}

const CODES: Readonly<Record<Exclude<ProofOutcome, "proved">, Code>> = {
  stale: "resolver-stale",
  unfiltered: "resolver-unfiltered",
  wrong: "resolver-wrong",
  unreachable: "resolver-unreachable",
};

/** The problem of a resolver; empty if it is proved. */
export function proofDiagnostics({ resolver, outcome, detail }: Proof): Diagnostic[] {
  if (outcome === "proved") return [];
  const message = `The resolver ${printable(resolver, 60)} is ${outcome}`;
  const hint = detail === NO_UPSTREAM && {
    hint: "Check the servers that it forwards to, and the network between",
  };
  return [errorOf(CODES[outcome], message, { cause: detail, ...hint })];
}

/** Whether the last proof of a resolver failed. */
export function lacksProof({ outcome }: Pick<ResolverState, "outcome">): boolean {
  return outcome !== null && outcome !== "proved";
}

type LastState = Omit<ResolverState, "resolver" | "list">;

const NEVER_ASKED: LastState = {
  outcome: null,
  detail: null,
  build: null,
  at: null,
  since: null,
  latencyMs: null,
  upstream: null,
  unansweredMs: null,
  lastProved: null,
};

/** The last proofs of all resolvers of these lists, in the order of the configuration. `latest` are some that are not stored. */
export async function lastProofs(
  lists: readonly ListConfig[],
  options: ProjectOptions,
  host: Host,
  latest?: (path: string) => StoredProofs | undefined,
): Promise<ResolverState[]> {
  const states: ResolverState[] = [];
  for (const { project, config } of lists) {
    const resolvers = resolversOf(project.config).filter(({ list }) => list === config.name);
    const [file] = listFiles(config.name, options, host);
    const stored = resolvers.length === 0 || !file ? {} : await readProofs(file.path, host);
    const proofs = newestOf(stored, (file && latest?.(file.path)) ?? {}, host);
    const canary = Object.keys(proofs).length > 0 && (await publishedCanary(file!.path, host));
    const build = canary ? buildOf(canary) : null;
    for (const { name, list } of resolvers) {
      const proof = Object.hasOwn(proofs, name) ? proofs[name] : undefined;
      const state = stateOf({ ...NEVER_ASKED, ...proof }, build);
      states.push({ resolver: name, list, ...state });
    }
  }
  return states;
}

/** A proof says nothing about a list that was published later. A failure lasts until the resolver is proved again. */
function stateOf(proof: LastState, build: string | null): LastState {
  if (proof.outcome !== "proved" || proof.build === build) return proof;
  const detail = "not asked since another build was published";
  return { ...proof, outcome: null, detail, build, since: null, latencyMs: null };
}
