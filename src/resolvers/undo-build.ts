import { canaryOf } from "../build/list-canary.ts";
import type { ListOutcome } from "../build/build-outcome.ts";
import { rollback } from "../build/rollback.ts";
import { keptStates } from "../build/state/kept-build.ts";
import { type ResolverProof, readUndone, rememberUndone } from "../build/state/last-proof.ts";
import { CompilerError, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { type Host, HostError } from "../host/host.ts";
import { outputFailed } from "../publish/output-failed.ts";
import { buildOf } from "../syntax/canary-name.ts";
import type { ListBefore, ProofContext } from "./prove-after-build.ts";
import type { Proof } from "./prove.ts";

/** A resolver that was proved with the build before and does not answer from the new one. */
export interface Failure {
  readonly proof: Proof;
  readonly before: ResolverProof;
}

/** An older list does not help a resolver that does not answer. */
const CAUSED_BY_LISTS: ReadonlySet<string> = new Set(["stale", "unfiltered", "wrong"]);

/**
 * The failures for which a build is rolled back. A build is rolled back at most once. A list is not the
 * cause if the state of a resolver was bad before, or got bad without a publish.
 */
export async function undoneFailures(
  { name, path, resolvers, proofs: known }: ListBefore,
  proofs: readonly Proof[],
  host: Host,
): Promise<Failure[]> {
  const failures = resolvers
    .filter(({ mayRollBack }) => mayRollBack)
    .flatMap(({ name: resolver }): Failure[] => {
      const proof = proofs.find((one) => one.list === name && one.resolver === resolver);
      const before = Object.hasOwn(known, resolver) ? known[resolver] : undefined;
      const isBad = proof !== undefined && CAUSED_BY_LISTS.has(proof.outcome);
      const wasProved = before?.outcome === "proved" && before.build !== null;
      return isBad && wasProved && before.build !== proof.build ? [{ proof, before }] : [];
    });
  const build = failures[0]?.proof.build;
  const isKnown = (await readUndone(path, host)).some((one) => one.build === build);
  // Only a canary tells two builds apart.
  return isKnown || typeof build !== "string" ? [] : failures;
}

/** Publishes the last proved build again. Undefined if that is impossible; the new list stays then. */
export async function undoBuild(
  { name, path }: ListBefore,
  failures: readonly Failure[],
  context: ProofContext,
): Promise<ListOutcome | undefined> {
  const { options, host, emit } = context;
  const [last] = failures.toSorted((a, b) => (a.before.at < b.before.at ? 1 : -1));
  const target = last!.before.build!;
  try {
    const build = await operandOf(target, path, host);
    if (build === undefined) {
      const message = `The last proved build ${target} of ${printable(name)} is not stored`;
      emit({ kind: "diagnostic", diagnostic: errorOf("no-proved-build", message) });
      return undefined;
    }
    // First, so that a run that is killed now does not cause a second rollback.
    await rememberUndone(path, undoneBuild(failures, true, host), host);
    const own = { ...options, filter: [name], by: "proof" };
    const {
      of: _of,
      isHeld: _isHeld,
      ...done
    } = await rollback({ build }, { ...context, options: own });
    const message = `${printable(name)} is back at the build ${target}, which was proved before`;
    emit({
      kind: "diagnostic",
      diagnostic: warningOf("proof-rollback", message, { cause: reasonOf(failures) }),
    });
    return done;
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
  { path }: ListBefore,
  failures: readonly Failure[],
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

function undoneBuild(
  failures: readonly Failure[],
  isRefused: boolean,
  host: Host,
): Parameters<typeof rememberUndone>[1] {
  const { build } = failures[0]!.proof;
  const at = host.now().toISOString();
  return { build: build!, at, reason: reasonOf(failures), isRefused };
}

function reasonOf(failures: readonly Failure[]): string {
  return someOf(
    failures.map(({ proof }) => `${printable(proof.resolver, 60)} was ${proof.outcome}`),
  );
}

/** How to select the newest stored build with this canary. */
async function operandOf(build: string, path: string, host: Host): Promise<string | undefined> {
  for await (const { at, state } of keptStates(path, host)) {
    const canary = canaryOf(state.bytes);
    if (canary !== undefined && buildOf(canary) === build) return `@${at}`;
  }
  return undefined;
}
