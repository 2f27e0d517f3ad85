import type { Proof } from "../documents/facts.ts";
import type { BuildContext, ListOutcome } from "../builder/build.ts";
import { publishedCanary } from "../publish/list-file.ts";
import { type ListPlan, listFiles } from "../builder/plan/list-plan.ts";
import { readProof, readProofs, rememberBefore } from "../builder/state/list-state.ts";
import { resolversOf } from "../config/resolvers.ts";
import { Exit } from "../diagnostics/codes.ts";
import { HostError } from "../host/host.ts";
import { AnswerWatch } from "../resolvers/answer-watch.ts";
import {
  CLIENT_LIMITS,
  type ClientLimits,
  DnsClient,
  QuestionSlots,
} from "../resolvers/dns-client.ts";
import { NO_NAMES, ResolverCheck } from "../resolvers/resolver-check.ts";
import { buildOf } from "../syntax/host-name.ts";
import type { AfterStep, Publication } from "./registry.ts";
import { type ListBefore, type Undoing, askResolvers, planUndoing } from "./undo.ts";

/** Finds the lists that resolvers must answer from, before hooks make the resolvers read them. */
export const expectStep: AfterStep = {
  name: "expect",
  run: async (publication) => {
    const { waitMs, host } = publication.context;
    if (waitMs === undefined) return publication;
    const resolved = await listsBefore(publication);
    const again = resolved.filter((one) => !one.isProved && wasAsked(one));
    const loading = dueLists({ ...publication, resolved }).flatMap(({ resolvers }) => resolvers);
    const watch = waitMs > 0 && loading.length > 0 ? new AnswerWatch(loading, host) : undefined;
    const reloadAgain = new Map(again.map((one) => [one.name, unprovedOf(one)]));
    return { ...publication, resolved, reloadAgain, watch };
  },
};

/**
 * Asks resolvers if a list was published, or if they are not proved with the published list. A resolver that answered from the build
 * before may cause a rollback to it.
 */
export const proveStep: AfterStep = {
  name: "prove",
  run: async (publication) => {
    const { outcome, context, watch } = publication;
    const due = dueLists(publication);
    if (due.length === 0) return publication;
    const held = new Set(outcome.lists.filter(isHeld).map(({ list }) => list));
    let undoings: readonly Undoing[] = [];
    const onProved = async (found: readonly Proof[]): Promise<void> => {
      // A person decided which build of a held list is published.
      const free = due.filter(({ name }) => !held.has(name));
      undoings = await planUndoing(free, found, context);
    };
    const proofs = await askResolvers(due, context, { onProved, watch });
    const isProved = proofs.every((one) => one.outcome === "proved");
    return { ...publication, proofs, isProved, undoings };
  },
};

/** Lists that were published, or whose resolvers are not proved with the published one. */
function dueLists({ outcome, resolved }: Publication): ListBefore[] {
  const published = new Set(
    outcome.lists.filter(({ status }) => status === "published").map(({ list }) => list),
  );
  return resolved.filter(({ name, isProved }) => !isProved || published.has(name));
}

function isHeld({ status }: ListOutcome): boolean {
  return status === "held";
}

function wasAsked({ resolvers, proofs }: ListBefore): boolean {
  return resolvers.some(({ name }) => Object.hasOwn(proofs, name));
}

/** The resolvers that are not proved with the build that is published. */
function unprovedOf(list: ListBefore): Set<string> {
  const names = list.resolvers.map(({ name }) => name);
  return new Set(names.filter((name) => !isProvedNow(name, list)));
}

/** Whether a resolver is proved with the build that is published. */
function isProvedNow(
  name: string,
  { proofs, build }: Pick<ListBefore, "proofs" | "build">,
): boolean {
  const proof = Object.hasOwn(proofs, name) ? proofs[name] : undefined;
  return proof?.outcome === "proved" && proof.build === build;
}

/** The lists that are published and have resolvers. */
async function listsBefore({
  project,
  lists,
  outcome: { lists: outcomes },
  context: { options, host },
}: Publication): Promise<ListBefore[]> {
  const found: ListBefore[] = [];
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
    const isProved = resolvers.every((one) => isProvedNow(one.name, { proofs, build }));
    found.push({ name, path, resolvers, proofs, build, isProved });
  }
  return found;
}

/**
 * Asks the resolvers of a list whether they answer from the published build, before another is published. One that does not is at
 * fault from the start and does not decide about the new build.
 */
export async function askBefore(
  { list: { config, project }, files }: ListPlan,
  canary: string,
  { host, signal }: Pick<BuildContext, "host" | "signal">,
  limits: ClientLimits = CLIENT_LIMITS,
): Promise<void> {
  const resolvers = resolversOf(project.config).filter(({ list }) => list === config.name);
  if (!resolvers.some(({ mayRollBack }) => mayRollBack)) return;
  const shared = { ...limits, slots: new QuestionSlots() };
  const answers = await Promise.all(
    resolvers.map(async (resolver) => {
      const client = new DnsClient(resolver, host, shared);
      const check = new ResolverCheck(client, { names: NO_NAMES, others: [], signal });
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
