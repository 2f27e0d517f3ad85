import { type PlannedSource, allEntryFiles } from "../engine/plan.ts";
import { storeKeyOf } from "../engine/source-key.ts";
import { SourceReader } from "../engine/source-reader.ts";
import { isAddress } from "../sources/location.ts";
import type { BuildContext } from "./build-context.ts";
import type { ListOutcome } from "./build-outcome.ts";
import { buildList } from "./build-list.ts";
import { cachedOutcome } from "./cached-outcome.ts";
import type { ListPlan } from "./list-plan.ts";
import { LockSession, saveLock } from "./lock-session.ts";
import { forEachInOrder } from "./ordered-queue.ts";
import { noteListAlone, planLists } from "./plan-lists.ts";
import type { ListConfig } from "./project.ts";
import { BuildSession } from "./session.ts";
import { BuildCache } from "./state/build-cache.ts";
import { Conditions } from "./state/conditions.ts";

/** Maximum number of concurrent lists: one compiles, the others wait for the disk. */
const MOST = 4;

/**
 * Builds lists in order. A list that fails or is refused does not stop the others. Each outcome is pushed to `outcomes`, so that
 * the caller has them even if the run is interrupted.
 */
export async function buildLists(
  lists: readonly ListConfig[],
  context: BuildContext,
  outcomes: ListOutcome[],
): Promise<void> {
  noteListAlone(lists, context);
  const session = new BuildSession(await planLists(lists, context.options, context.host), context);
  const ends = new Map<string, Promise<unknown>>();
  try {
    if (session.hasSeveral) await fetchAhead(session);
    await forEachInOrder(session.plans, MOST, async (plan) => {
      const end = buildOne(plan, session, async (names) => {
        await Promise.allSettled(names.flatMap((name) => ends.get(name) ?? []));
      });
      ends.set(plan.list.config.name, end);
      const outcome = await end;
      outcomes.push(outcome);
      context.emit({ kind: "list-done", outcome, lists: lists.length });
    });
    await saveLocks(session);
    await session.saveLedger();
  } finally {
    const names = lists.map(({ config }) => config.name);
    outcomes.sort((one, other) => names.indexOf(one.list) - names.indexOf(other.list));
    session.close();
  }
}

async function buildOne(
  plan: ListPlan,
  session: BuildSession,
  whenDone: (lists: readonly string[]) => Promise<void>,
): Promise<ListOutcome> {
  const slot = session.queue.enter();
  try {
    const { host, options, covers } = session;
    const { name } = plan.list.config;
    const started = host.now().getTime();
    // A covered list may change in this run although this list does not.
    const coveredDone = (): Promise<void> => whenDone([...plan.covers.keys()]);
    const cache = await BuildCache.open(session.hasSeveral ? name : undefined, options, host);
    let cached = await cache?.get();
    if (cached !== undefined && plan.covers.size > 0) {
      await coveredDone();
      cached = await cache?.get();
    }
    if (cached !== undefined && session.hasSeveral && cached.web === webOf(plan, session)) {
      covers.unchanged.add(name);
      const diagnostics = await new Conditions(plan.files[0]?.path, host).last();
      session.tell(diagnostics);
      const seconds = (host.now().getTime() - started) / 1000;
      return cachedOutcome({ ...cached, diagnostics }, name, seconds);
    }
    return await buildList(plan, session, { cache, cached, slot, coveredDone });
  } finally {
    slot.release();
  }
}

/** A single list has its own lock. Several lists share one, which keeps the locked files of lists that were not built. */
async function saveLocks(session: BuildSession): Promise<void> {
  const [first] = session.plans;
  if (first === undefined || session.locks.length === 0) return;
  const { folder } = first.list.project;
  if (!session.hasSeveral) return await saveLock(folder, session.locks[0], session);
  const lock = await LockSession.open(first.list, session);
  await saveLock(folder, lock.joined(session.locks), session);
}

/** Digest of everything that a list uses from the web; undefined if it is not known before the compile. */
function webOf({ list, compile }: ListPlan, { sources }: BuildSession): string | undefined {
  if (allEntryFiles(list.config).some(({ source }) => isAddress(source))) return undefined;
  return sources?.webOf(compile.sources);
}

/** Fetches the sources of all lists in advance, into the cache. Without a cache, each list fetches its own. */
async function fetchAhead(session: BuildSession): Promise<void> {
  const { options, host, signal, emit, plans, sources } = session;
  const { cacheDir, offline, accept, compat, frozen, update } = options;
  const all = plans.flatMap(({ compile }) => compile.sources);
  const remote = [
    ...new Map<string, PlannedSource>(
      all.map((one) => [storeKeyOf(one.source, one), one]),
    ).values(),
  ]
    .filter(({ source }) => isAddress(source))
    .map((source, index) => ({ ...source, index }));
  // Each list looks up its own locked files, so there is nothing to fetch in advance.
  if (cacheDir === undefined || remote.length === 0 || frozen || update !== undefined) return;
  const configFolder = plans[0]!.list.project.folder;
  const ledger = await session.ledger();
  const own = { configFolder, signal, shared: sources, ledger };
  const fetchOptions = { cacheDir, offline, accept, compat, ...own };
  const reader = new SourceReader(host, {
    ...fetchOptions,
    onProgress: (event) => emit({ kind: "progress", event }),
  });
  emit({ kind: "reading", sources: remote.length, lists: plans.length });
  try {
    await reader.fetch(remote);
  } finally {
    emit({ kind: "read" });
    reader.close();
  }
}
