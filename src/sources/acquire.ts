import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { HostError } from "../host/host.ts";
import type { FetchContext } from "./fetch-text.ts";
import { firstGood } from "./first-good.ts";
import { type LoadOptions, SourceList } from "./load-list.ts";
import { sourceError } from "./source-error.ts";
import {
  type SourceRecord,
  type SourceStore,
  type StoredFile,
  describeFiles,
} from "./source-store.ts";
import { FetchedTexts, StoredTexts } from "./web-texts.ts";

/** What is wanted of a remote source. */
export interface RemoteSource {
  readonly url: string;
  readonly mirrors: readonly string[];
  readonly label: string;
  /** How old its last good copy may be to stand in for it, in milliseconds. */
  readonly maxStaleMs: number;
  /** Whether it may be less than half of what it was. */
  readonly mayShrink: boolean;
  /** Whether it may hold no text at all. */
  readonly mayBeEmpty: boolean;
  /** The files that it must consist of, when nothing else will do. */
  readonly locked?: readonly StoredFile[] | undefined;
}

/** How a source was had. */
export type SourceState =
  | { readonly kind: "local" | "fetched" | "unchanged" | "locked" }
  /** Its last good copy stands in for it. */
  | { readonly kind: "stale"; readonly goodAt: number; readonly causes: readonly Diagnostic[] }
  /** It is optional, and not there. */
  | { readonly kind: "dropped"; readonly causes: readonly Diagnostic[] };

/** Whether a source is not what it should be: a copy stands in for it, or it is left out. */
export function isDegraded(kind: SourceState["kind"]): kind is "stale" | "dropped" {
  return kind === "stale" || kind === "dropped";
}

export interface Acquired {
  readonly list: SourceList;
  readonly state: SourceState;
  /** What it consists of; undefined when nobody knows. */
  readonly files?: readonly StoredFile[] | undefined;
}

export interface AcquireContext {
  readonly fetch: FetchContext;
  readonly load: LoadOptions;
  readonly store: SourceStore | undefined;
  /** Ask nobody; last good copies only, whatever their age. */
  readonly isOffline: boolean;
  /** Told when a copy could not be kept. */
  onStoreError(error: HostError): void;
}

/** A clock that runs this much behind cannot tell how old a copy is. */
const CLOCK_SLACK_MS = 24 * 3600 * 1000;

/**
 * Gets a remote source with all that it includes, looks whether it is a list, and keeps it as the last good copy. When
 * that fails, the copy from before stands in for as long as it may. Rejects with a `CompilerError`.
 */
export async function acquire(source: RemoteSource, context: AcquireContext): Promise<Acquired> {
  const { store, isOffline } = context;
  if (source.locked !== undefined) return await acquireLocked(source, source.locked, context);
  const record = await store?.recordOf(source.url);
  let causes: readonly Diagnostic[];
  try {
    if (isOffline)
      throw sourceError("fetch-failed", `Failed to fetch ${source.label}`, "offline was asked for");
    return await fetchAny(source, record, context);
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    if (context.fetch.signal?.aborted === true) throw error;
    causes = error.diagnostics;
  }
  if (store === undefined || record === undefined) throw new CompilerError(causes);
  const age = context.fetch.host.now().getTime() - record.goodAt;
  if (!isOffline && (age > source.maxStaleMs || age < -CLOCK_SLACK_MS))
    throw new CompilerError([...causes, ...tooOld(source, age).diagnostics]);
  const list = new SourceList(
    { kind: "web", url: source.url },
    source.label,
    context.fetch.host,
    context.load,
    new StoredTexts(store, record),
  );
  try {
    await list.check();
  } catch (error) {
    throw error instanceof CompilerError ? new CompilerError(causes) : error;
  }
  return { list, state: { kind: "stale", goodAt: record.goodAt, causes }, files: record.files };
}

function days(ms: number): string {
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

function tooOld({ label, maxStaleMs }: RemoteSource, age: number): CompilerError {
  const reason =
    age < 0
      ? "it is from the future: the clock is wrong"
      : `it is ${days(age)} old and may be ${days(maxStaleMs)}`;
  return sourceError("copy-too-old", `The last good copy of ${label} cannot be used`, reason);
}

/** The very files that were locked: kept copies, or the network's if they are the same. */
async function acquireLocked(
  source: RemoteSource,
  files: readonly StoredFile[],
  context: AcquireContext,
): Promise<Acquired> {
  const { store, fetch, load } = context;
  const state: SourceState = { kind: "locked" };
  if (store !== undefined) {
    const texts = new StoredTexts(store, { files });
    const location = { kind: "web", url: source.url } as const;
    const list = new SourceList(location, source.label, fetch.host, load, texts);
    try {
      await list.check();
      return { list, state, files };
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
    }
  }
  if (context.isOffline)
    throw sourceError("lock-mismatch", `There is no copy of ${source.label} as it is locked`);
  const fetched = await fetchAny({ ...source, mayShrink: true }, undefined, context);
  if (digestsOf(fetched.files ?? []) === digestsOf(files)) return { ...fetched, state, files };
  fetched.list.close();
  throw sourceError(
    "lock-mismatch",
    `${source.label} is not what it was when it was locked`,
    "it has changed since, and there is no copy",
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
  const timer = setTimeout(stop, limits.sourceMs);
  try {
    return await firstGood(
      [source.url, ...source.mirrors],
      (tired) => host.wait(limits.hedgeMs, tired),
      (url, unneeded) => {
        const either = AbortSignal.any([deadline.signal, unneeded]);
        return fetchFrom(url, source, record, {
          ...context,
          fetch: { ...context.fetch, signal: either },
        });
      },
      ({ list }) => list.close(),
    );
  } catch (error) {
    if (!isOver()) throw error;
    const reason = `the source was not complete within ${limits.sourceMs / 1000} s`;
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
  const texts = new FetchedTexts(fetch, store, record);
  const list = new SourceList({ kind: "web", url }, source.label, fetch.host, load, texts);
  try {
    if (await isAsBefore(url, texts, record)) list.assume(record!.size);
    else await list.check();
    refuseEmpty(list, source);
    const size = [...texts.files.values()].reduce((sum, text) => sum + text.size, 0);
    refuseShrunk(size, source, record);
    const files = await keep(source, url, texts, store, context);
    return { list, state: { kind: texts.isUnchanged ? "unchanged" : "fetched" }, files };
  } catch (error) {
    texts.close();
    throw error;
  }
}

/** A list that includes nothing and has not changed was checked when it was kept. */
async function isAsBefore(
  url: string,
  texts: FetchedTexts,
  record: SourceRecord | undefined,
): Promise<boolean> {
  if (record?.files.length !== 1) return false;
  await texts.get(url);
  return texts.isUnchanged;
}

function refuseEmpty(list: SourceList, { label, mayBeEmpty }: RemoteSource): void {
  if (!list.hasText && !mayBeEmpty)
    throw sourceError("source-empty", `Nothing in ${label}`, "the answer holds no text at all");
}

function refuseShrunk(
  size: number,
  { label, mayShrink }: RemoteSource,
  record: SourceRecord | undefined,
): void {
  if (record === undefined || mayShrink || size * 2 >= record.size) return;
  throw sourceError(
    "source-shrunk",
    `Less than half is left of ${label}`,
    `it has ${size} bytes; when it was last good it had ${record.size}`,
  );
}

/** A source that cannot be kept is no worse for it today. */
async function keep(
  source: RemoteSource,
  url: string,
  texts: FetchedTexts,
  store: SourceStore | undefined,
  context: AcquireContext,
): Promise<StoredFile[] | undefined> {
  const files = [...texts.files].map(([asked, text]) => {
    if (asked !== url || url === source.url) return { asked, text };
    // From a mirror: it stands for the source, but what the mirror calls this version means nothing there.
    return { asked: source.url, text: { ...text, validators: {} } };
  });
  try {
    return await (store === undefined ? describeFiles(files) : store.keep(source.url, files));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    context.onStoreError(error);
    return await describeFiles(files);
  }
}
