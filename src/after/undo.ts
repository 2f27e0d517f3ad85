import { outputFailed } from "../host/files.ts";
import type { Proof } from "../documents/facts.ts";
import type { ListOutcome } from "../builder/build.ts";
import { canaryOf } from "../publish/list-file.ts";
import { rollback } from "../builder/rollback.ts";
import { wholeBuild } from "../builder/state/kept-builds.ts";
import {
  type LastProof,
  type ResolverProof,
  exhaustedBuild,
  readProof,
  rememberBefore,
  rememberUndone,
} from "../builder/state/list-state.ts";
import type { Resolver } from "../config/resolvers.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { printable, someOf } from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import { HistoryLog, keptBuilds, listOf, timestampOf } from "../record/record-file.ts";
import type { AnswerWatch } from "../resolvers/answer-watch.ts";
import { proofDiagnostics, proveResolvers } from "../resolvers/prove.ts";
import { digestOfFile } from "../sources/copies.ts";
import { buildOf } from "../syntax/host-name.ts";
import { reloadStep } from "./hooks.ts";
import type { AfterContext, AfterStep, Publication } from "./registry.ts";

/** Lists that resolvers do not answer from go back to the build before; if that does not help, they do not. */
export const undoStep: AfterStep = {
  name: "undo",
  run: async (publication) => {
    const { context, outcome, undoings } = publication;
    const undone: Undone[] = [];
    for (const one of undoings) {
      if (context.signal.aborted) break;
      const again = await undoBuild(one, context);
      if (again === undefined) continue;
      undone.push(again);
      context.emit({ kind: "list-done", outcome: again.outcome, lists: outcome.lists.length });
    }
    return undone.length === 0 ? publication : await proveAgain(publication, undone);
  },
};

/**
 * Reloads and asks the resolvers of lists that went back to an earlier build. If they do not answer from that one either, the new
 * one is put back.
 */
async function proveAgain(
  publication: Publication,
  undone: readonly Undone[],
): Promise<Publication> {
  const { context, outcome, proofs } = publication;
  const backOf = new Map(undone.map((one) => [one.list.name, one.outcome]));
  let later = await reloadAndAsk(publication, backOf, undone);
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
    const last = await reloadAndAsk(publication, backOf, redone);
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
    ...publication,
    outcome: { ...outcome, lists },
    states: lists.map((one) => stateOf(one, stays.get(one.list))),
    proofs: [...others, ...later],
    isProved: false,
  };
}

async function reloadAndAsk(
  publication: Publication,
  backOf: ReadonlyMap<string, ListOutcome>,
  undone: readonly Undone[],
): Promise<Proof[]> {
  const { outcome, context } = publication;
  const lists = outcome.lists.map((one) => backOf.get(one.list) ?? one);
  const reloadAgain = new Map(
    undone.map(({ list }) => [list.name, new Set(list.resolvers.map(({ name }) => name))]),
  );
  await reloadStep.run({ ...publication, outcome: { ...outcome, lists }, reloadAgain });
  const asked = undone.map(({ list }) => list);
  return await askResolvers(asked, context);
}

/** Asks the resolvers of lists, and reports those that do not answer from them. Rejects with a `CompilerError` if they cannot be asked. */
export async function askResolvers(
  lists: readonly ListBefore[],
  { options, host, signal, emit, waitMs = 0, limits }: AfterContext,
  more: {
    readonly onProved?: (proofs: readonly Proof[]) => Promise<void>;
    readonly watch?: AnswerWatch | undefined;
  } = {},
): Promise<Proof[]> {
  try {
    const names = new Set(lists.map(({ name }) => name));
    const how = { waitMs, signal, limits, lists: names, ...more };
    const proofs = await proveResolvers(options, host, how);
    for (const diagnostic of proofs.flatMap(proofDiagnostics))
      emit({ kind: "diagnostic", diagnostic });
    return proofs;
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
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

/** A list that must go back to an earlier build. */
export interface Undoing {
  readonly list: ListBefore;
  /** The build that it goes back to. */
  readonly target: string;
  /** The proofs of resolvers that answered from that build, and do not answer from the published one. */
  readonly failures: readonly Proof[];
}

/** A list that went back. */
interface Undone extends Undoing {
  readonly outcome: ListOutcome;
  /** What happened, for a person. */
  readonly warning: Diagnostic;
}

/** Who asks for these rollbacks, in the log. */
const BY = "proof";

/** An older list does not help a resolver that does not answer. */
const CAUSED_BY_LISTS: ReadonlySet<string> = new Set(["stale", "unfiltered", "wrong"]);

/**
 * The lists that must go back, of those whose resolvers were asked. The decision is stored before the proofs are, so that a later
 * run rolls back if this one is killed meanwhile.
 */
export async function planUndoing(
  lists: readonly ListBefore[],
  proofs: readonly Proof[],
  { host, emit }: Pick<AfterContext, "host" | "emit">,
): Promise<Undoing[]> {
  const undoings: Undoing[] = [];
  for (const list of lists)
    try {
      const { path, build } = list;
      const known = await readProof(path, host);
      const undoing = undoingOf(list, proofs, known);
      const isFinal =
        undoing === undefined ||
        (await isChosen(list, host)) ||
        (await exhaustedBuild(path, build!, host)) !== undefined;
      const before = undoing && { build: undoing.target, resolvers: undoing.voters };
      await rememberBefore(path, isFinal ? undefined : before, host);
      if (!isFinal) undoings.push(undoing);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const failed = outputFailed(`Cannot roll back ${printable(list.name)}`, error);
      for (const diagnostic of (failed as CompilerError).diagnostics)
        emit({ kind: "diagnostic", diagnostic });
    }
  return undoings;
}

/** Whether a person published this build again. Without a hold, later runs may publish another; a rollback may not. */
async function isChosen({ path }: ListBefore, host: Host): Promise<boolean> {
  const entries = await new HistoryLog(path, host).entries();
  const last = entries.findLast(({ to }) => to !== undefined);
  const isPublished = last !== undefined && last.to === (await digestOfFile(path, host));
  return isPublished && last.event === "rolled-back" && last.by !== BY;
}

/**
 * A list goes back if too many of a group of resolvers that may decide do not answer from it: those that answered from the build
 * before when they were asked before the publish, or, if that is unknown, at their last proof.
 */
function undoingOf(
  list: ListBefore,
  proofs: readonly Proof[],
  { before, resolvers: known }: LastProof,
): (Undoing & { readonly voters: readonly string[] }) | undefined {
  const lastOf = (resolver: string): ResolverProof | undefined => {
    const last = Object.hasOwn(known, resolver) ? known[resolver] : undefined;
    return last?.outcome === "proved" ? last : undefined;
  };
  const voting = list.resolvers.filter(
    ({ name, mayRollBack }) =>
      mayRollBack && (before ? before.resolvers.includes(name) : lastOf(name) !== undefined),
  );
  const voters = voting.map(({ name }) => name);
  const buildBefore = (resolver: string): string | null | undefined =>
    before?.build ?? lastOf(resolver)?.build;
  const failed = proofs.filter(({ list: of, resolver, build, outcome }) => {
    if (of !== list.name || !voters.includes(resolver)) return false;
    // Only a canary tells two builds apart.
    return build !== null && build !== buildBefore(resolver) && CAUSED_BY_LISTS.has(outcome);
  });
  const failures = Object.values(Object.groupBy(voting, ({ group }) => group)).flatMap((group) => {
    const names = new Set(group!.map(({ name }) => name));
    const own = failed.filter(({ resolver }) => names.has(resolver));
    return own.length > names.size / 2 ? own : [];
  });
  if (failures.length === 0) return undefined;
  const newest = failures
    .map(({ resolver }) => resolver)
    .toSorted((a, b) => ((lastOf(a)?.at ?? "") < (lastOf(b)?.at ?? "") ? 1 : -1));
  const target = buildBefore(newest[0]!);
  return target ? { list, target, failures, voters } : undefined;
}

/** Publishes the build again that resolvers answered from. Undefined if that is impossible; the new list stays then. */
async function undoBuild(undoing: Undoing, context: AfterContext): Promise<Undone | undefined> {
  const { list, failures, target } = undoing;
  const { name, path, build } = list;
  const { host, emit } = context;
  return await withMessages(name, context, async () => {
    const operand = await operandOf(target, path, host);
    if (operand === undefined) {
      const message = `The last proved build ${target} of ${printable(name)} is not stored`;
      emit({ kind: "diagnostic", diagnostic: errorOf("no-proved-build", message) });
      await rememberBefore(path, undefined, host);
      return undefined;
    }
    await rememberUndone(path, build!, reasonOf(failures), host);
    const outcome = await publishAgain(name, operand, context);
    const message = `${printable(name)} is back at the build ${target}, which was proved before`;
    const warning = warningOf("proof-rollback", message, { cause: reasonOf(failures) });
    emit({ kind: "diagnostic", diagnostic: warning });
    return { ...undoing, outcome, warning };
  });
}

/**
 * If most of the resolvers do not answer from the old build either, the new one is not the cause: it is published again, and the
 * rollback does not count. Undefined if the rollback helped.
 */
async function redoBuild(
  { list: { name, path, build }, failures, target }: Undone,
  later: readonly Proof[],
  context: AfterContext,
): Promise<ListOutcome | undefined> {
  const { host, emit } = context;
  const helped = failures.filter(({ resolver }) =>
    later.some((one) => one.list === name && one.resolver === resolver && one.outcome === "proved"),
  );
  if (helped.length * 2 > failures.length) return undefined;
  return await withMessages(name, context, async () => {
    const operand = await operandOf(build!, path, host);
    if (operand === undefined) return undefined;
    const outcome = await publishAgain(name, operand, context);
    const message = `${printable(name)} is at the build ${build!} again: its resolvers do not answer from ${target} either`;
    emit({ kind: "diagnostic", diagnostic: warningOf("proof-put-back", message) });
    await rememberUndone(path, build!, undefined, host);
    return outcome;
  });
}

/** Reports what cannot be done instead of ending the run. */
async function withMessages<T>(
  name: string,
  { emit }: AfterContext,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const known =
      error instanceof HostError
        ? outputFailed(`Cannot roll back ${printable(name)}`, error)
        : error;
    if (!(known instanceof CompilerError)) throw error;
    for (const diagnostic of known.diagnostics) emit({ kind: "diagnostic", diagnostic });
    return undefined;
  }
}

async function publishAgain(
  name: string,
  build: string,
  context: AfterContext,
): Promise<ListOutcome> {
  const options = { ...context.options, filter: [name], by: BY };
  const {
    of: _of,
    isHeld: _isHeld,
    ...outcome
  } = await rollback({ build }, { ...context, options });
  return outcome;
}

function reasonOf(failures: readonly Proof[]): string {
  return someOf(
    failures.map(({ resolver, outcome }) => `${printable(resolver, 60)} was ${outcome}`),
  );
}

/** How to select the newest stored build with this canary. A run that was killed may have left only a part of a build. */
async function operandOf(build: string, path: string, host: Host): Promise<string | undefined> {
  for (const one of (await keptBuilds(path, host)).toReversed()) {
    const bytes = await listOf(one, host);
    const canary = bytes && canaryOf(bytes);
    if (canary === undefined || buildOf(canary) !== build) continue;
    if ((await wholeBuild(one, host)) !== undefined) return `@${timestampOf(one.stamp)}`;
  }
  return undefined;
}
