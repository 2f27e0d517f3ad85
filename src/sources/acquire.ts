import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { HostError } from "../host/host.ts";
import type { DownloadBudget } from "./download-budget.ts";
import type { FetchContext } from "./fetch-text.ts";
import { followSignals } from "./follow-signals.ts";
import { hedgedFetch } from "./hedged-fetch.ts";
import { hideAnswer } from "./hidden-answer.ts";
import { SourceSlots } from "./host-slots.ts";
import { type LoadOptions, SourceList } from "./source-list.ts";
import { EndedError, copyTooOld, offlineError, shownAddress, sourceError } from "./source-error.ts";
import { DAY_MS, type SizeLimits, turnoverOf } from "./size-judge.ts";
import type { SourceState } from "./source-state.ts";
import { staleLimit } from "./stale-limit.ts";
import { SourceGauge, type SourceMeasure, freshSalt } from "./source-gauge.ts";
import type { SourceLedger } from "./source-ledger.ts";
import type { FreedNow } from "./freed-budget.ts";
import {
  HeldError,
  acquireHeld,
  judgeOffer,
  listOf,
  publishedText,
  takeCopy,
} from "./published-text.ts";
import {
  type SourceRecord,
  type SourceStore,
  type StoredFile,
  describeFiles,
  lacksCheck,
} from "./source-store.ts";
import { refuseTruncated } from "./declared-count.ts";
import { refuseEmpty } from "./refuse-empty.ts";
import type { WebAddress } from "./web-text.ts";
import { FetchedTexts } from "./web-texts.ts";

/** After so long, it is reported that a mirror answers instead of a source without a signature. */
const MIRROR_MS = 3 * DAY_MS;

/** A remote source, and the conditions under which it is used. */
export interface RemoteSource {
  readonly url: string;
  readonly mirrors: readonly string[];
  /** Its name in the store. Two feeds from one address have different names, because their lines differ. */
  readonly storeKey: string;
  /** Its name in the ledger. */
  readonly ledgerKey: string;
  /** Its name in the configuration, for people. */
  readonly name: string;
  readonly label: string;
  /** The age, in milliseconds, up to which its last good copy may be used instead; undefined for the usual one. */
  readonly maxStaleMs: number | undefined;
  /** How much it may differ from its published text; undefined for no limit. */
  readonly bounds: SizeLimits | undefined;
  /** Whether each of its lines has a meaning of its own. */
  readonly isLines: boolean;
  /** Codes of the deviations that the user accepts for this run. */
  readonly accept: readonly string[];
  /** The names of the published list that entries of `offer` free which `published` lacks; undefined for what frees none. */
  readonly frees?:
    | ((offer: SourceList, published: SourceList | undefined) => Promise<FreedNow>)
    | undefined;
  /** Checks that it is a list of the expected kind. */
  readonly kind: ListKind;
  /** Whether it must have as many entries as its header names. */
  readonly checksCount: boolean;
  /** Whether it may be empty. */
  readonly mayBeEmpty: boolean;
  /** Whether messages must hide the path of its address too. */
  readonly isSecret: boolean;
  /** The exact files that a lock requires. */
  readonly locked?: readonly StoredFile[] | undefined;
}

/** Distinguishes block-lists from other lists. */
export interface ListKind {
  /** Names that make a list worth a closer look. */
  readonly watched: ReadonlySet<string>;
  /** Rejects with a `CompilerError` when the list is of another kind. `found` are the watched names in its text. */
  judge(found: readonly string[], list: SourceList): Promise<void>;
}

export interface Acquired {
  readonly list: SourceList;
  readonly state: SourceState;
  /** Its files; undefined if unknown. */
  readonly files?: readonly StoredFile[] | undefined;
}

export interface AcquireContext {
  readonly fetch: FetchContext;
  readonly load: LoadOptions;
  readonly store: SourceStore | undefined;
  /** What was published of each source; undefined if nothing is compared. */
  readonly ledger: SourceLedger | undefined;
  readonly budget: DownloadBudget;
  /** Make no requests; use last good copies of any age. */
  readonly offline: boolean;
  /** Called when a copy could not be stored. */
  readonly onStoreError: (error: HostError) => void;
}

/**
 * Fetches a remote source with its includes, checks that it is a list, and stores it. If that fails, or if it differs too much, its
 * published text is used; without one, the copy that was fetched last, as long as it is not too old. Rejects with a `CompilerError`.
 */
export async function acquire(source: RemoteSource, context: AcquireContext): Promise<Acquired> {
  const { store, offline } = context;
  if (source.locked !== undefined) return await acquireLocked(source, source.locked, context);
  const record = await store?.recordOf(source.storeKey);
  let causes: readonly Diagnostic[];
  try {
    if (offline) throw offlineError(source.label);
    return await fetchAny(source, record, context);
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    if (context.fetch.signal?.aborted === true) throw error;
    if (error instanceof HeldError) return await acquireHeld(source, error, context);
    causes = error.diagnostics;
  }
  if (store === undefined || causes.some(({ code }) => lacksCheck(code, record)))
    throw new CompilerError(causes);
  const published = await publishedText(source, { ...context, store });
  const known = record ?? published;
  if (known === undefined) throw new CompilerError(causes);
  const { goodAt } = known;
  const age = context.fetch.host.now().getTime() - goodAt;
  const { steps = [] } = context.ledger?.historyOf(source.ledgerKey) ?? {};
  const maxStaleMs = staleLimit(source.maxStaleMs, turnoverOf(steps));
  const until = goodAt + maxStaleMs;
  // A copy from the future, of a wrong clock, counts as one of now.
  if (!offline && age > maxStaleMs) {
    published?.list.close();
    const old = copyTooOld({ label: source.label, maxStaleMs }, age);
    throw new EndedError([...causes, old], until);
  }
  const files = published?.files ?? record!.files;
  const list = published?.list ?? listOf(source, files, { ...context, store });
  try {
    await list.check();
    refuseEmpty(list, source, published === undefined ? record?.measure : undefined);
    // Another command may have stored a list of any kind.
    await source.kind.judge(await list.namesAmong(source.kind.watched), list);
  } catch (error) {
    list.close();
    if (!(error instanceof CompilerError)) throw error;
    const more = causes.some(isAboutKind) ? [] : error.diagnostics.filter(isAboutKind);
    throw new CompilerError([...causes, ...more]);
  }
  const isPublished = published !== undefined;
  if (await takeCopy(source, { list, files, isPublished }, context)) {
    if (offline) return { list, state: { kind: "offline", goodAt }, files };
    return { list, state: { kind: "stale", goodAt, until, causes }, files };
  }
  list.close();
  throw new CompilerError(causes);
}

function isAboutKind({ code }: Diagnostic): boolean {
  return code === "source-not-blocklist";
}

/** Exactly the locked files: from stored copies, or from the network if the digests match. */
async function acquireLocked(
  source: RemoteSource,
  files: readonly StoredFile[],
  context: AcquireContext,
): Promise<Acquired> {
  const { store } = context;
  const state: SourceState = { kind: "locked" };
  if (store !== undefined) {
    const list = listOf(source, files, { ...context, store });
    try {
      await list.check();
      await takeCopy(source, { list, files, isPublished: true }, context);
      return { list, state, files };
    } catch (error) {
      list.close();
      if (!(error instanceof CompilerError)) throw error;
    }
  }
  if (context.offline)
    throw sourceError("lock-mismatch", `The locked version of ${source.label} is not cached`);
  const anything = { ...source.kind, judge: async () => {} };
  const fetched = await fetchAny(
    { ...source, bounds: undefined, kind: anything, checksCount: false },
    undefined,
    context,
  );
  if (digestsOf(fetched.files ?? []) === digestsOf(files)) {
    await takeCopy(source, { list: fetched.list, files, isPublished: true }, context);
    return { ...fetched, state, files };
  }
  fetched.list.close();
  throw sourceError(
    "lock-mismatch",
    `${source.label} does not match the lock`,
    "it has changed since it was locked, and no copy is stored",
  );
}

function digestsOf(files: readonly StoredFile[]): string {
  return files.map(({ key, sha256 }) => `${key} ${sha256}`).join();
}

async function fetchAny(
  source: RemoteSource,
  record: SourceRecord | undefined,
  context: AcquireContext,
): Promise<Acquired> {
  const { host, limits, signal } = context.fetch;
  const deadline = new AbortController();
  const isOver = (): boolean => signal?.aborted !== true && deadline.signal.aborted;
  const stop = (): void => deadline.abort();
  signal?.addEventListener("abort", stop);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turn = new SourceSlots(() => {
    timer = setTimeout(stop, limits.sourceMs);
  });
  const account = context.budget.open(stop);
  try {
    const acquired = await hedgedFetch(
      [source.url, ...source.mirrors],
      (tired) => host.wait(limits.hedgeMs, tired),
      (url, unneeded) => {
        const either = followSignals([deadline.signal, unneeded]);
        return fetchFrom(url, source, record, {
          ...context,
          fetch: { ...context.fetch, signal: either, turn, account, isSecret: source.isSecret },
        });
      },
      ({ list }) => list.close(),
    );
    account.settle();
    // The download may be complete, but its space was already promised to others.
    if (account.isStopped) acquired.list.close();
    else return acquired;
    throw new Error(account.reason);
  } catch (error) {
    account.close();
    if (account.isStopped)
      throw sourceError("download-too-large", `Failed to fetch ${source.label}`, account.reason);
    if (!isOver()) throw error;
    const reason = `the source took longer than ${limits.sourceMs / 1000} s`;
    throw sourceError("fetch-timeout", `Connection timeout: ${source.label}`, reason);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

async function fetchFrom(
  url: string,
  source: RemoteSource,
  record: SourceRecord | undefined,
  context: AcquireContext,
): Promise<Acquired> {
  const { store, fetch, load } = context;
  // A mirror does not know the validators of the source's server.
  const isSameServer = url === source.url && store !== undefined && record !== undefined;
  const texts = new FetchedTexts(fetch, isSameServer ? { store, record } : undefined);
  const place = { kind: "web", url, id: source.url } as const;
  const { maxBytes, maxLines } = fetch.limits;
  const limited = { ...load, maxBytes, maxLines };
  const list = new SourceList({ location: place, label: source.label, texts }, fetch.host, limited);
  try {
    const { kind } = source;
    let measure = record?.measure;
    const { salt = measure?.salt ?? freshSalt() } =
      context.ledger?.historyOf(source.ledgerKey) ?? {};
    const isKnown = isSameServer && measure?.salt === salt;
    if (isKnown && measure !== undefined && (await isAsBefore(place, texts, record)))
      list.assume(record.size);
    else {
      const gauge = new SourceGauge(salt, kind.watched);
      await list.check(gauge);
      measure = gauge.measure;
      if (source.checksCount) refuseTruncated(source.label, gauge.counted, gauge.declared?.number);
    }
    refuseEmpty(list, source, measure);
    await kind.judge(measure.watched, list);
    const now = fetch.host.now().getTime();
    const mirrorSince = url === source.url ? undefined : Math.min(record?.mirrorSince ?? now, now);
    const files = await keep(source, { texts, measure, mirrorSince }, context);
    await judgeOffer(source, { list, measure, files }, context);
    if (texts.isUnchanged) return { list, state: { kind: "unchanged" }, files };
    const isLong = fetch.signers === undefined && now - (mirrorSince ?? now) > MIRROR_MS;
    return { list, state: { kind: "fetched", ...(isLong && { mirrorSince }) }, files };
  } catch (error) {
    texts.close();
    if (!(error instanceof CompilerError) || error instanceof HeldError) throw error;
    throw hideAnswer(error, fetch.keys, source.isSecret);
  }
}

/** An unchanged list without includes was checked when it was stored. */
async function isAsBefore(
  place: WebAddress,
  texts: FetchedTexts,
  record: SourceRecord,
): Promise<boolean> {
  if (record.files.length !== 1) return false;
  await texts.get(place);
  return texts.isUnchanged;
}

/** A source that cannot be stored can still be used in this run. */
async function keep(
  source: RemoteSource,
  {
    texts,
    measure,
    mirrorSince,
  }: Pick<SourceRecord, "mirrorSince"> & {
    readonly texts: FetchedTexts;
    readonly measure: SourceMeasure;
  },
  { store, fetch, onStoreError }: AcquireContext,
): Promise<StoredFile[]> {
  // The source's server does not know the validators of a mirror.
  const files = [...texts.files.values()].map((text) =>
    mirrorSince === undefined ? text : { ...text, validators: {} },
  );
  if (store === undefined) return await describeFiles(files);
  try {
    const shown = shownAddress(source.url, source.isSecret);
    const checks = [
      ...(fetch.allowPrivate ? [] : ["public" as const]),
      ...(source.checksCount ? ["complete" as const] : []),
    ];
    const known = { measure, checks, mirrorSince };
    const stored = await store.keep({ url: source.storeKey, shown }, files, known);
    if (fetch.signal?.aborted !== true) await texts.moveInto(store, stored);
    return stored;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    onStoreError(error);
    return await describeFiles(files);
  }
}
