import type { BuildContext, BuildOutcome, ListOutcome } from "../builder/build.ts";
import { publishedCanary } from "../builder/draft/prepare.ts";
import { type ListPlan, listFiles } from "../builder/plan/list-plan.ts";
import { openProject } from "../builder/plan/project.ts";
import {
  type ResolverProof,
  readProof,
  readProofs,
  rememberBefore,
} from "../builder/state/list-state.ts";
import { type Resolver, resolversOf } from "../config/resolvers.ts";
import { Exit } from "../diagnostics/codes.ts";
import { CompilerError } from "../diagnostics/render.ts";
import { HostError } from "../host/host.ts";
import { type ClientLimits, DnsClient } from "../resolvers/dns-client.ts";
import { type Proof, proofDiagnostics, proveResolvers } from "../resolvers/prove.ts";
import { NO_NAMES, ResolverCheck } from "../resolvers/resolver-check.ts";
import { buildOf } from "../syntax/host-name.ts";
import { type Undoing, type Undone, planUndoing, redoBuild, undoBuild } from "./undo-build.ts";

export interface ProofContext extends BuildContext {
  /** How long a resolver may take to load a list. */
  readonly waitMs: number;
  readonly limits?: ClientLimits;
  /** Runs the hooks of published files. Those that reload run again for lists in `unproved`, too. */
  readonly reload: (outcome: BuildOutcome, unproved: ReadonlySet<string>) => Promise<void>;
}

/** A build whose lists resolvers were asked about. */
export interface ProvedBuild {
  /** With what was published last: a list may have been rolled back. A list that was refused or failed stays so. */
  readonly outcome: BuildOutcome;
  /** The same for hooks of states: a list that was rolled back is refused. */
  readonly state: BuildOutcome;
  /** Of the resolvers that were asked. */
  readonly proofs: readonly Proof[];
  /** Whether every resolver that was asked answers from the list that the build made. */
  readonly isProved: boolean;
}

/** A list that resolvers must answer from, before they are asked. */
export interface ListBefore {
  readonly name: string;
  readonly path: string;
  readonly resolvers: readonly Resolver[];
  readonly proofs: Readonly<Record<string, ResolverProof>>;
  /** The published build; null for a list without a canary. */
  readonly build: string | null;
  /** Whether all of them are proved with the list that is published now. */
  readonly isProved: boolean;
}

/**
 * Reloads and asks resolvers after a build: if a list was published, or a resolver is not proved with the published list. A resolver
 * that answered from the build before may cause a rollback to it.
 */
export async function proveAfterBuild(
  outcome: BuildOutcome,
  context: ProofContext,
): Promise<ProvedBuild> {
  const lists = await listsBefore(outcome, context);
  const unproved = lists.filter((one) => !one.isProved);
  await context.reload(outcome, new Set(unproved.filter(wasAsked).map(({ name }) => name)));
  const published = new Set(
    outcome.lists.filter(({ status }) => status === "published").map(({ list }) => list),
  );
  const due = lists.filter((one) => !one.isProved || published.has(one.name));
  if (due.length === 0) return { outcome, state: outcome, proofs: [], isProved: true };
  const held = new Set(
    outcome.lists.filter(({ status }) => status === "held").map(({ list }) => list),
  );
  let undoings: Undoing[] = [];
  const proofs = await prove(due, context, async (found) => {
    // A person decided which build of a held list is published.
    const free = due.filter(({ name }) => !held.has(name));
    undoings = await planUndoing(free, found, context);
  });
  report(proofs, context);
  const undone: Undone[] = [];
  for (const one of undoings) {
    if (context.signal.aborted) break;
    const again = await undoBuild(one, context);
    if (again === undefined) continue;
    undone.push(again);
    context.emit({ kind: "list-done", outcome: again.outcome, lists: outcome.lists.length });
  }
  if (undone.length > 0) return await proveAgain(outcome, undone, proofs, context);
  const isProved = proofs.every((one) => one.outcome === "proved");
  return { outcome, state: outcome, proofs, isProved };
}

/**
 * Reloads and asks the resolvers of lists that went back to an earlier build. If they do not answer from that one either, the new
 * one is put back.
 */
async function proveAgain(
  outcome: BuildOutcome,
  undone: readonly Undone[],
  proofs: readonly Proof[],
  context: ProofContext,
): Promise<ProvedBuild> {
  const backOf = new Map(undone.map((one) => [one.list.name, one.outcome]));
  let later = await reloadAndProve(outcome, backOf, undone, context);
  const redone: Undone[] = [];
  for (const one of undone) {
    if (context.signal.aborted) break;
    const again = await redoBuild(one, later, context);
    if (again === undefined) continue;
    redone.push(one);
    backOf.set(one.list.name, again);
    context.emit({ kind: "list-done", outcome: again, lists: outcome.lists.length });
  }
  if (redone.length > 0) {
    const names = new Set(redone.map(({ list }) => list.name));
    const last = await reloadAndProve(outcome, backOf, redone, context);
    later = [...later.filter(({ list }) => !names.has(list)), ...last];
  }
  // Everything is decided. Until now, the next run would have made up for a run that was killed.
  for (const { list } of undone)
    await rememberBefore(list.path, undefined, context.host).catch(ignoreHostError);
  const others = proofs.filter(({ list }) => !backOf.has(list));
  const lists = outcome.lists.map((one) => (isBad(one) ? one : (backOf.get(one.list) ?? one)));
  const stays = new Map(
    undone.filter((one) => !redone.includes(one)).map((one) => [one.list.name, one]),
  );
  return {
    outcome: { ...outcome, lists },
    state: { ...outcome, lists: lists.map((one) => stateOf(one, stays.get(one.list))) },
    proofs: [...others, ...later],
    isProved: false,
  };
}

async function reloadAndProve(
  outcome: BuildOutcome,
  backOf: ReadonlyMap<string, ListOutcome>,
  lists: readonly Undone[],
  context: ProofContext,
): Promise<Proof[]> {
  const published = outcome.lists.map((one) => backOf.get(one.list) ?? one);
  const names = new Set(lists.map(({ list }) => list.name));
  await context.reload({ ...outcome, lists: published }, names);
  const proofs = await prove(
    lists.map(({ list }) => list),
    context,
  );
  report(proofs, context);
  return proofs;
}

/** The next run asks again which resolvers answer. */
function ignoreHostError(error: unknown): void {
  if (!(error instanceof HostError)) throw error;
}

function isBad({ status }: ListOutcome): boolean {
  return status === "refused" || status === "failed";
}

/** A list that went back is refused: the new one waits for the next run. */
function stateOf(list: ListOutcome, back: Undone | undefined): ListOutcome {
  if (back === undefined) return list;
  const { status, diagnostics } = list;
  return isBad(list)
    ? { ...list, status, diagnostics: [...diagnostics, back.warning] }
    : { ...list, status: "refused", diagnostics: [back.warning] };
}

function wasAsked({ resolvers, proofs }: ListBefore): boolean {
  return resolvers.some(({ name }) => Object.hasOwn(proofs, name));
}

function report(proofs: readonly Proof[], { emit }: ProofContext): void {
  for (const diagnostic of proofs.flatMap(proofDiagnostics))
    emit({ kind: "diagnostic", diagnostic });
}

/** The lists of a build that are published and have resolvers. */
async function listsBefore(
  { status, lists: outcomes }: BuildOutcome,
  { options, host }: ProofContext,
): Promise<ListBefore[]> {
  if (status === "interrupted" || options.inputs.length > 0) return [];
  const found: ListBefore[] = [];
  try {
    const { project, lists } = await openProject(options, host);
    for (const { config } of lists) {
      const { name } = config;
      const resolvers = resolversOf(project.config).filter(({ list }) => list === name);
      const [file] = listFiles(name, options, host);
      const outcome = outcomes.find(({ list }) => list === name);
      // Another run that builds the list asks by itself.
      if (resolvers.length === 0 || outcome === undefined || outcome.exit === Exit.Locked) continue;
      // No hook has reloaded them.
      if (outcome.isIncomplete === true) continue;
      if (file === undefined || !(await host.exists(file.path))) continue;
      const { path } = file;
      const proofs = await readProofs(path, host);
      const canary = await publishedCanary(path, host);
      const build = canary === undefined ? null : buildOf(canary);
      const isProved = resolvers.every(({ name: resolver }) => {
        const proof = Object.hasOwn(proofs, resolver) ? proofs[resolver] : undefined;
        return proof?.outcome === "proved" && proof.build === build;
      });
      found.push({ name, path, resolvers, proofs, build, isProved });
    }
  } catch (error) {
    // The configuration changed after the build read it; the next run reports its problems.
    if (!(error instanceof CompilerError)) throw error;
    return [];
  }
  return found;
}

async function prove(
  lists: readonly ListBefore[],
  { options, host, signal, waitMs, limits }: ProofContext,
  onProved?: (proofs: readonly Proof[]) => Promise<void>,
): Promise<Proof[]> {
  try {
    const names = new Set(lists.map(({ name }) => name));
    return await proveResolvers(options, host, { waitMs, signal, limits, lists: names, onProved });
  } catch (error) {
    if (signal.aborted || error instanceof CompilerError) return [];
    throw error;
  }
}

/**
 * Asks the resolvers of a list whether they answer from the published build, before another is published. One that does not is at
 * fault from the start and does not decide about the new build.
 */
export async function askBefore(
  { list: { config, project }, files }: ListPlan,
  canary: string,
  { host, signal }: Pick<BuildContext, "host" | "signal">,
  limits?: ClientLimits,
): Promise<void> {
  const resolvers = resolversOf(project.config).filter(({ list }) => list === config.name);
  if (!resolvers.some(({ mayRollBack }) => mayRollBack)) return;
  const answers = await Promise.all(
    resolvers.map(async (resolver) => {
      const client = new DnsClient(resolver, host, limits);
      const check = new ResolverCheck(client, { names: NO_NAMES, others: [], signal }, host);
      return (await check.answersFrom(canary)) ? [resolver.name] : [];
    }),
  );
  const { path } = files[0]!;
  const build = buildOf(canary);
  const { before } = await readProof(path, host);
  // A run that was killed published this build again, and may not have reloaded the resolvers that answered from it.
  const known = before?.build === build ? before.resolvers : [];
  const all = [...new Set([...known, ...answers.flat()])];
  await rememberBefore(path, { build, resolvers: all }, host).catch((error: unknown) => {
    // The last proofs then decide.
    if (!(error instanceof HostError)) throw error;
  });
}
