import type { ListOutcome } from "../builder/build.ts";
import { canaryOf } from "../builder/draft/prepare.ts";
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
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { printable, someOf } from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import { outputFailed } from "../publish/list-file.ts";
import { HistoryLog, keptBuilds, listOf, momentOf } from "../record/record-file.ts";
import type { Proof } from "../resolvers/prove.ts";
import { digestOfFile } from "../sources/copies.ts";
import { buildOf } from "../syntax/host-name.ts";
import type { ListBefore, ProofContext } from "./prove-after-build.ts";

/** A list that must go back to an earlier build. */
export interface Undoing {
  readonly list: ListBefore;
  /** The build that it goes back to. */
  readonly target: string;
  /** The proofs of resolvers that answered from that build, and do not answer from the published one. */
  readonly failures: readonly Proof[];
}

/** A list that went back. */
export interface Undone extends Undoing {
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
  { host, emit }: Pick<ProofContext, "host" | "emit">,
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
 * A list goes back if more than half of the resolvers that may decide do not answer from it: those that answered from the build
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
  const voters = list.resolvers
    .filter(({ mayRollBack }) => mayRollBack)
    .map(({ name }) => name)
    .filter((name) => (before ? before.resolvers.includes(name) : lastOf(name) !== undefined));
  const buildBefore = (resolver: string): string | null | undefined =>
    before?.build ?? lastOf(resolver)?.build;
  const failures = proofs.filter(({ list: of, resolver, build, outcome }) => {
    if (of !== list.name || !voters.includes(resolver)) return false;
    // Only a canary tells two builds apart.
    return build !== null && build !== buildBefore(resolver) && CAUSED_BY_LISTS.has(outcome);
  });
  if (failures.length * 2 <= voters.length) return undefined;
  const newest = failures
    .map(({ resolver }) => resolver)
    .toSorted((a, b) => ((lastOf(a)?.at ?? "") < (lastOf(b)?.at ?? "") ? 1 : -1));
  const target = buildBefore(newest[0]!);
  return target ? { list, target, failures, voters } : undefined;
}

/** Publishes the build again that resolvers answered from. Undefined if that is impossible; the new list stays then. */
export async function undoBuild(
  undoing: Undoing,
  context: ProofContext,
): Promise<Undone | undefined> {
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
export async function redoBuild(
  { list: { name, path, build }, failures, target }: Undone,
  later: readonly Proof[],
  context: ProofContext,
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
  { emit }: ProofContext,
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
  context: ProofContext,
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
    if ((await wholeBuild(one, host)) !== undefined) return `@${momentOf(one.stamp)}`;
  }
  return undefined;
}
