import { canaryOf } from "../build/list-canary.ts";
import type { ListOutcome } from "../build/build-outcome.ts";
import { rollback } from "../build/rollback.ts";
import { wholeBuild } from "../build/state/kept-draft.ts";
import {
  type ResolverProof,
  type UndoneBuild,
  forgetUndone,
  readUndone,
  rememberUndone,
} from "../build/state/last-proof.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { type Host, HostError } from "../host/host.ts";
import { HistoryLog } from "../record/history-log.ts";
import { keptBuilds, listOf, momentOf } from "../record/kept-builds.ts";
import { outputFailed } from "../publish/output-failed.ts";
import { digestOfFile } from "../sources/source-store.ts";
import { buildOf } from "../syntax/canary-name.ts";
import type { ListBefore, ProofContext } from "./prove-after-build.ts";
import type { Proof } from "./prove.ts";

/** A resolver that does not answer from the published build, and the build that it was proved with before. */
export interface Failure {
  readonly proof: Proof;
  readonly before: { readonly at: string; readonly build: string };
}

/** A list that must go back to an earlier build. */
export interface Undoing {
  readonly list: ListBefore;
  readonly failures: readonly Failure[];
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
      await settle(list, host);
      const failures = await undoneFailures(list, proofs, host);
      if (failures.length === 0 || (await isChosen(list, host))) continue;
      await rememberUndone(
        list.path,
        { ...undoneBuild(failures, true, host), isPending: true },
        host,
      );
      undoings.push({ list, failures });
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const failed = outputFailed(`Cannot roll back ${printable(list.name)}`, error);
      for (const diagnostic of (failed as CompilerError).diagnostics)
        emit({ kind: "diagnostic", diagnostic });
    }
  return undoings;
}

/** A run that was killed may have rolled back without saying so: then, another build is published. */
async function settle({ path, build }: ListBefore, host: Host): Promise<void> {
  for (const { isPending, ...one } of await readUndone(path, host))
    if (isPending === true && one.build !== build) await rememberUndone(path, one, host);
}

/** Whether a person published this build again. Without a hold, later runs may publish another; a rollback may not. */
async function isChosen({ path }: ListBefore, host: Host): Promise<boolean> {
  const entries = await new HistoryLog(path, host).entries();
  const last = entries.findLast(({ to }) => to !== undefined);
  const isPublished = last !== undefined && last.to === (await digestOfFile(path, host));
  return isPublished && last.event === "rolled-back" && last.by !== BY;
}

/**
 * The failures for which a build is rolled back. A build is rolled back at most once. A list is not the
 * cause if the state of a resolver was bad before, or got bad without a publish.
 */
async function undoneFailures(
  { name, path, resolvers, proofs: known }: ListBefore,
  proofs: readonly Proof[],
  host: Host,
): Promise<Failure[]> {
  const undone = await readUndone(path, host);
  const failures = resolvers
    .filter(({ mayRollBack }) => mayRollBack)
    .flatMap(({ name: resolver }): Failure[] => {
      const proof = proofs.find((one) => one.list === name && one.resolver === resolver);
      // Only a canary tells two builds apart.
      if (proof === undefined || proof.build === null) return [];
      const decided = undone.find(({ build }) => build === proof.build);
      if (!CAUSED_BY_LISTS.has(proof.outcome) || (decided && decided.isPending !== true)) return [];
      const last = Object.hasOwn(known, resolver) ? known[resolver] : undefined;
      const before =
        decided === undefined ? provedNow(last) : (provedNow(last) ?? last?.lastProved);
      const build = before?.build ?? proof.build;
      return build === proof.build ? [] : [{ proof, before: { at: before!.at, build } }];
    });
  return failures;
}

function provedNow(last: ResolverProof | undefined): ResolverProof | undefined {
  return last?.outcome === "proved" ? last : undefined;
}

/** Publishes the last proved build again. Undefined if that is impossible; the new list stays then. */
export async function undoBuild(
  undoing: Undoing,
  context: ProofContext,
): Promise<Undone | undefined> {
  const { list, failures } = undoing;
  const { name, path } = list;
  const { options, host, emit } = context;
  const [last] = failures.toSorted((a, b) => (a.before.at < b.before.at ? 1 : -1));
  const target = last!.before.build;
  try {
    const build = await operandOf(target, path, host);
    if (build === undefined) {
      const message = `The last proved build ${target} of ${printable(name)} is not stored`;
      emit({ kind: "diagnostic", diagnostic: errorOf("no-proved-build", message) });
      await forgetUndone(path, failures[0]!.proof.build!, host);
      return undefined;
    }
    const own = { ...options, filter: [name], by: BY };
    const {
      of: _of,
      isHeld: _isHeld,
      ...outcome
    } = await rollback({ build }, { ...context, options: own });
    const message = `${printable(name)} is back at the build ${target}, which was proved before`;
    const warning = warningOf("proof-rollback", message, { cause: reasonOf(failures) });
    emit({ kind: "diagnostic", diagnostic: warning });
    await rememberUndone(path, undoneBuild(failures, true, host), host);
    return { ...undoing, outcome, warning };
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

/** Keeps whether the rollback helped. If it did not, the list is not the cause, and the next run publishes it again. */
export async function rememberEffect(
  { list: { path }, failures }: Undoing,
  later: readonly Proof[],
  host: Host,
): Promise<void> {
  const hasHelped = failures.every(({ proof }) =>
    later.some((one) => one.resolver === proof.resolver && one.outcome === "proved"),
  );
  if (hasHelped) return;
  await rememberUndone(path, undoneBuild(failures, false, host), host).catch((error: unknown) => {
    // The list is then refused until its rules change.
    if (!(error instanceof HostError)) throw error;
  });
}

function undoneBuild(failures: readonly Failure[], isRefused: boolean, host: Host): UndoneBuild {
  const { build } = failures[0]!.proof;
  const at = host.now().toISOString();
  return { build: build!, at, reason: reasonOf(failures), isRefused };
}

function reasonOf(failures: readonly Failure[]): string {
  return someOf(
    failures.map(({ proof }) => `${printable(proof.resolver, 60)} was ${proof.outcome}`),
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
