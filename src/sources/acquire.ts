import { DAY_MS } from "../diagnostics/text.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/render.ts";
import { HostError } from "../host/host.ts";
import {
  type SourceRecord,
  type SourceStore,
  type StoredFile,
  type WebAddress,
  describeFiles,
  lacksCheck,
} from "./copies.ts";
import { type FetchContext, FetchedTexts, type RequestHeaders } from "./fetch-text.ts";
import {
  HeldError,
  acquireHeld,
  judgeOffer,
  listOf,
  publishedText,
  takeCopy,
} from "./held-text.ts";
import type { FreedNow, SourceLedger } from "./ledger.ts";
import {
  type DownloadBudget,
  EndedError,
  SourceSlots,
  UnpublishedError,
  copyTooOld,
  offlineError,
  shownAddress,
  sourceError,
} from "./limits.ts";
import { SourceGauge, type SourceMeasure, freshSalt, refuseTruncated } from "./names-of-source.ts";
import { refuseEmpty } from "./read-file.ts";
import { type SizeLimits, turnoverOf } from "./size-judge.ts";
import { type LoadOptions, SourceList } from "./source-list.ts";

/** After so long, it is reported that a mirror answers instead of a source without a signature. */
const MIRROR_MS = 3 * DAY_MS;

/** A remote source, and the conditions under which it is used. */
export interface RemoteSource {
  readonly url: string;
  readonly mirrors: readonly string[];
  /** Its name in the store. Two feeds from one URL have different names, because their lines differ. */
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
  /** Whether messages must hide the path of its URL too. */
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
  /** Make no requests; use the published text, and nothing else. */
  readonly fromPublished: boolean;
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
  if (context.fromPublished) return await acquirePublished(source, context);
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

/** The text of the last publish. */
async function acquirePublished(source: RemoteSource, context: AcquireContext): Promise<Acquired> {
  const { store } = context;
  const published = store && (await publishedText(source, { ...context, store }));
  if (published === undefined) {
    const message = `The published text of ${source.name} is not stored`;
    const lost = sourceError("published-text-lost", message);
    const isUnpublished =
      context.ledger?.isLost === false && context.ledger.historyOf(source.ledgerKey) === undefined;
    throw isUnpublished ? new UnpublishedError(lost.diagnostics) : lost;
  }
  const { list, files } = published;
  await takeCopy(source, { list, files, isPublished: true }, context);
  return { list, files, state: { kind: "unchanged" } };
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
  // An event comes once: a run may have ended while others were fetched.
  if (signal?.aborted === true) stop();
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

/**
 * A signal that is aborted as soon as one of the given signals is; all of them must be short-lived. Not
 * `AbortSignal.any`: in some versions of Bun and Deno, garbage collection ends the connection between the signals.
 */
function followSignals(signals: readonly AbortSignal[]): AbortSignal {
  const follower = new AbortController();
  for (const signal of signals)
    if (signal.aborted) follower.abort(signal.reason);
    else signal.addEventListener("abort", () => follower.abort(signal.reason), { once: true });
  return follower.signal;
}

/**
 * Tries alternatives in order until one succeeds. The next one starts when the previous one has failed or has taken too
 * long. Attempts that are no longer needed are aborted by their signal. Rejects with the error of the first
 * alternative.
 */
async function hedgedFetch<A, T>(
  alternatives: readonly A[],
  patience: (signal: AbortSignal) => Promise<void>,
  attempt: (alternative: A, signal: AbortSignal) => Promise<T>,
  discard: (late: T) => void,
): Promise<T> {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const running = new Set<Promise<{ good: T } | "failed">>();
  try {
    for (const [index, alternative] of alternatives.entries()) {
      const one = attempt(alternative, stop.signal).then(
        (good) => {
          if (!stop.signal.aborted) return { good };
          discard(good);
          return "failed" as const;
        },
        (error: unknown) => {
          errors[index] = error;
          return "failed" as const;
        },
      );
      running.add(one);
      void one.then((outcome) => outcome === "failed" && running.delete(one));
      const isLast = index === alternatives.length - 1;
      const waiting = new AbortController();
      const outcome = await Promise.race([
        any(running),
        ...(isLast ? [] : [patience(waiting.signal).then(() => "late" as const)]),
        ...(isLast ? [] : [one.then((it) => (it === "failed" ? it : never))]),
      ]);
      waiting.abort();
      if (typeof outcome === "object") return outcome.good;
    }
    throw errors.find((error) => error !== undefined);
  } finally {
    stop.abort();
  }
}

const never = new Promise<never>(() => {});

/** The first success, or `failed` if all have failed. */
async function any<T>(
  running: ReadonlySet<Promise<{ good: T } | "failed">>,
): Promise<{ good: T } | "failed"> {
  return await new Promise((resolve) => {
    let left = running.size;
    for (const one of running)
      void one.then((outcome) => {
        left--;
        if (typeof outcome === "object" || left === 0) resolve(outcome);
      });
  });
}

/** A piece of a key of this length is hidden. Shorter values of headers are not keys. */
const PIECE = 8;

/**
 * The same error without what a server may repeat of a request with keys: the start of its answer, and pieces of the keys anywhere
 * else.
 */
function hideAnswer(
  error: CompilerError,
  keys: RequestHeaders | undefined,
  isSecret: boolean,
): CompilerError {
  if (keys === undefined && !isSecret) return error;
  const pieces = piecesOf(keys);
  const diagnostics = error.diagnostics.map((one): Diagnostic => {
    const { code, message, cause } = one;
    const quotes = code === "source-not-list" || code === "source-is-html";
    const shown = quotes ? "its start is not shown, because it may repeat the key" : cause;
    return {
      ...one,
      message: without(pieces, message),
      ...(shown !== undefined && { cause: without(pieces, shown) }),
    };
  });
  return new CompilerError(diagnostics);
}

/** All pieces of the values, and of what they encode. */
function piecesOf(keys: RequestHeaders | undefined): ReadonlySet<string> {
  const pieces = new Set<string>();
  for (const secret of keys?.headers.values() ?? []) {
    const value = secret.reveal();
    const basic = /^Basic (?<pair>[A-Za-z0-9+/=]+)$/.exec(value)?.groups?.["pair"];
    for (const text of [value, ...(basic === undefined ? [] : decoded(basic))])
      for (let at = 0; at + PIECE <= text.length; at++) pieces.add(text.slice(at, at + PIECE));
  }
  return pieces;
}

function decoded(pair: string): string[] {
  try {
    return [atob(pair)];
  } catch {
    return [];
  }
}

function without(pieces: ReadonlySet<string>, text: string): string {
  let shown = "";
  let hiddenTo = 0;
  for (let at = 0; at < text.length; at++) {
    if (pieces.has(text.slice(at, at + PIECE))) {
      if (at >= hiddenTo) shown += "…";
      hiddenTo = at + PIECE;
    }
    if (at >= hiddenTo) shown += text[at]!;
  }
  return shown;
}

/** How a source was obtained. */
export type SourceState =
  | { readonly kind: "local" | "unchanged" | "locked" }
  /** `mirrorSince`: since when mirrors answer instead of it, if that is to be reported. */
  | { readonly kind: "fetched"; readonly mirrorSince?: number | undefined }
  /** The user asked for copies. */
  | { readonly kind: "offline"; readonly goodAt: number }
  /** It failed, or differs too much from its last good copy; the copy is used until the given timestamp. */
  | {
      readonly kind: "stale" | "held";
      readonly goodAt: number;
      readonly until: number;
      readonly causes: readonly Diagnostic[];
    }
  /** It failed, and there is no copy, or the copy was used until the given timestamp. */
  | {
      readonly kind: "dropped";
      readonly until?: number | undefined;
      readonly causes: readonly Diagnostic[];
    };

export type FailedState = Extract<SourceState, { readonly causes: unknown }>;

/** Whether a source was replaced by a copy or left out, although the user did not ask for it. */
export function isDegraded(kind: string): kind is "stale" | "held" | "dropped" {
  return kind === "stale" || kind === "held" || kind === "dropped";
}

/** Whether the last good copy of a source is used. */
export function isCopy(kind: SourceState["kind"]): kind is "offline" | "stale" | "held" {
  return kind === "offline" || kind === "stale" || kind === "held";
}

/** Names of new domains and of phishing get new owners soon. */
const QUICK_MS = 7 * DAY_MS;
const USUAL_MS = 180 * DAY_MS;

/** The age up to which the last copy of a source that cannot be read is used. `turnover`: the share of its names that changed within 30 days. */
export function staleLimit(maxStaleMs: number | undefined, turnover: number): number {
  return maxStaleMs ?? (turnover > 0.5 ? QUICK_MS : USUAL_MS);
}
