import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf, withoutCredentials } from "../diagnostics/text.ts";
import { feedFormats } from "../feeds/registry.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { type Host, HostError, type Scratch } from "../host/host.ts";
import type { KernelMemory } from "../kernel/kernel.ts";
import type { MemoryBudget } from "../kernel/paged-lists.ts";
import type { SourceState } from "../sources/acquire.ts";
import type { StoredFile } from "../sources/copies.ts";
import { type KeyFiles, type RequestHeaders, readRequestHeaders } from "../sources/fetch-text.ts";
import type { SourceLedger } from "../sources/ledger.ts";
import type { FetchLimits } from "../sources/limits.ts";
import type { SizeLimits } from "../sources/size-judge.ts";
import type { LoadOptions } from "../sources/source-list.ts";
import type { TrafficReader } from "../traffic/traffic-reader.ts";
import type { NameSink } from "./output-stage.ts";
import type { PlannedSource } from "./plan.ts";
import type { Plugins } from "./plugins.ts";
import type { SharedSources } from "./shared-sources.ts";
import { type FileRole, storeKeyOf } from "./source-state.ts";

/** Names that new exceptions of a source freed. */
export interface FreedNamesOf {
  /** In its displayed form. */
  readonly source: string;
  readonly names: readonly string[];
}

/** The names in query logs. */
export interface AskedNames {
  /** How often each was asked for. */
  readonly names: ReadonlyMap<string, number>;
  /** All queries. */
  readonly queries: number;
  /** Why a source must not newly block so many of them; undefined if it may. */
  excess(blocked: number): string | undefined;
}

/** The published list, for the guards. */
export interface PublishedRules {
  /** Reads its exceptions, verbatim; undefined if it cannot be read. */
  readonly exceptions?: (() => Promise<ReadonlySet<string> | undefined>) | undefined;
  /** Names that new exceptions freed within 30 days, by source. */
  readonly freed?: readonly FreedNamesOf[];
  /** Popular names that lists before it blocked within 30 days. */
  readonly blockedLately?: Iterable<string>;
  /** What clients asked for, if the list must not break it. */
  readonly asked?: AskedNames | undefined;
  /** Its file. */
  readonly path?: string | undefined;
  /** Its sources, in their displayed form: how many names that people need each of them blocks, by kind. */
  readonly sources?: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

export interface EngineOptions extends MemoryOptions {
  /** Base folder for relative paths. Default: the working directory. */
  readonly configFolder?: string;
  readonly signal?: AbortSignal;
  /** Receives events during the compile. */
  readonly onProgress?: (event: ProgressEvent) => void;
  /** Bytes of a file per read. */
  readonly blockBytes?: number;
  /** Folder for the last good copies of remote sources. Default: no copies. */
  readonly cacheDir?: string | undefined;
  /** What was published of each source. Without it, sources are not compared with anything. */
  readonly ledger?: SourceLedger | undefined;
  /** The published lists that a file of names, as written in the configuration, has an effect on. */
  readonly listsWith?: ((file: string) => readonly string[]) | undefined;
  /** Make no requests; use last good copies of any age. */
  readonly offline?: boolean | undefined;
  /** Make no requests; use the published text of each source, and nothing else. */
  readonly fromPublished?: boolean | undefined;
  /** Names of the guards to skip in this run. */
  readonly accept?: readonly string[] | undefined;
  /** Whether a list may be made however many sources are left out: nothing will be published. */
  readonly anyMayFail?: boolean | undefined;
  /** Whether all sources may be in private networks: the user just typed their addresses. */
  readonly allowPrivate?: boolean | undefined;
  /** Behave like the reference: every source is fully trusted and may be empty. */
  readonly compat?: boolean | undefined;
  /** Receives the frames of the build record. Each piece is valid until the next call. See `record/build-record.ts`. */
  readonly record?: ((bytes: Uint8Array) => void) | undefined;
  /** Receives the rules of the list for other formats. */
  readonly names?: NameSink | undefined;
  readonly lock?: SourceLock | undefined;
  /** The time in the list's header. Default: now. */
  readonly builtAt?: Date | undefined;
  /** Extra lines for the list's header. */
  readonly headerLines?: readonly string[] | undefined;
  /** User-defined transformations. */
  readonly plugins?: Plugins | undefined;
  /** Opens query logs, by their absolute paths. Several lists of a run share them. Default: they are not shared. */
  readonly logs?: ((paths: readonly string[]) => TrafficReader) | undefined;
  /** State shared with the other lists of the same run. */
  readonly shared?: SharedSources | undefined;
  /** Overrides the default limits, for tests. */
  readonly fetchLimits?: Partial<FetchLimits> | undefined;
}

/** Default limits of a source. */
export const SOURCE_BOUNDS: SizeLimits = { shrink: 50, growth: 200 };

/** For files of entries, which have no options in the configuration. */
export const FETCH_DEFAULTS: {
  readonly mirrors: readonly string[];
  readonly isRequired: boolean;
  readonly maxStaleMs: undefined;
  readonly timeoutMs: number | undefined;
  readonly allowPrivate: boolean;
  readonly isSecret: boolean;
  readonly type: "adblock";
  readonly feed: undefined;
  readonly maxBytes: undefined;
  readonly member: undefined;
  readonly checksCount: boolean;
  readonly keyFiles: KeyFiles;
  readonly signers: undefined;
  readonly bounds: SizeLimits;
  readonly mayBlock: undefined;
} = {
  mirrors: [],
  isRequired: false,
  maxStaleMs: undefined,
  timeoutMs: undefined,
  allowPrivate: false,
  isSecret: false,
  type: "adblock",
  feed: undefined,
  maxBytes: undefined,
  member: undefined,
  checksCount: true,
  keyFiles: { headers: undefined, bearer: undefined, basic: undefined },
  signers: undefined,
  bounds: SOURCE_BOUNDS,
  mayBlock: undefined,
};

const MEGABYTE = 1024 * 1024;

/** Memory of the runtime and the program before the first line, plus garbage. */
const BASE = 100 * MEGABYTE;
/** Minimum for the work, whatever limit the user sets. */
const LEAST = 16 * MEGABYTE;
/** The kernel can address 4 GiB. */
const MOST_PAGES = 1536 * MEGABYTE;
const MOST_CHUNKS = 1792 * MEGABYTE;
/** Default share of the machine's memory. */
const SHARE = 0.5;

/** Where data is stored. Every plan gives the same list. */
export interface MemoryPlan {
  /** Bytes of chunks that stay in memory. */
  readonly chunksLimit: number;
  readonly budget: MemoryBudget;
  /** Closes all open scratch files and discards their content. */
  close(): void;
}

interface MemoryOptions {
  /** Soft limit for the process, in bytes. */
  readonly memory?: number | undefined;
  /** Overrides the limits derived from `memory`, for tests. */
  readonly limits?: Partial<MemoryLimits> | undefined;
}

interface MemoryLimits {
  readonly chunks: number;
  readonly pages: number;
  readonly pageBytes: number;
  readonly partitions: number;
  /** Unused bytes at the start of the arena, to test addresses above 2 GiB with small lists. */
  readonly unused: number;
}

export function memoryPlan(
  { memory, limits }: MemoryOptions,
  host: Host,
  kernel: KernelMemory,
): MemoryPlan {
  const { chunks, pages, pageBytes, partitions, unused } = {
    ...limitsOf(memory ?? host.memoryLimit() * SHARE),
    ...limits,
  };
  if (unused > 0) kernel.allocate(unused);
  const open = new Set<Scratch>();
  return {
    close() {
      for (const scratch of open) scratch.close();
      open.clear();
    },
    chunksLimit: chunks,
    budget: {
      kernel,
      partitions,
      pageBytes,
      pagesLimit: pages,
      openScratch() {
        const scratch = scratchOf(host);
        open.add(scratch);
        return {
          ...scratch,
          close() {
            if (open.delete(scratch)) scratch.close();
          },
        };
      },
    },
  };
}

/** The rest is for the current partition and its table. */
function limitsOf(memory: number): MemoryLimits {
  const work = Math.max(LEAST, memory - BASE);
  return {
    chunks: Math.min(work * 0.3, MOST_CHUNKS),
    pages: Math.min(work * 0.2, MOST_PAGES),
    // Each partition has a page open, so little memory needs small pages.
    pageBytes: work < 256 * MEGABYTE ? 16_384 : 65_536,
    partitions: 256,
    unused: 0,
  };
}

/** Bytes of chunks per byte of text: the text, and 29 bytes of columns per line of about 24. */
const CHUNK_FACTOR = 2.2;
/** Bytes of records per byte of text: a name, and 16 bytes with it. */
const RECORD_FACTOR = 1.8;

/** Grows the arena for this much text, up to its limit. */
export function expectText(textBytes: number, { chunksLimit, budget }: MemoryPlan): void {
  const chunks = Math.min(textBytes * CHUNK_FACTOR, chunksLimit);
  const records = Math.min(textBytes * RECORD_FACTOR, budget.pagesLimit);
  budget.kernel.expect((chunks + records) * 1.2 + 16 * MEGABYTE);
}

/** Estimated bytes that go to scratch files; 0 if everything fits into memory. */
export function scratchNeed(textBytes: number, { chunksLimit, budget }: MemoryPlan): number {
  const chunks = Math.max(0, textBytes * CHUNK_FACTOR - chunksLimit);
  const records = Math.max(0, textBytes * RECORD_FACTOR - budget.pagesLimit);
  return chunks + records;
}

/** A scratch file whose errors mention its purpose. */
export function scratchOf(host: Host): Scratch {
  const scratch = attempt(() => host.openScratch());
  return {
    append: (bytes) => attempt(() => scratch.append(bytes)),
    rewrite: (position, bytes) => attempt(() => scratch.rewrite(position, bytes)),
    read: (position, into) => attempt(() => scratch.read(position, into)),
    close: () => attempt(() => scratch.close()),
  };
}

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("scratch-failed", "Cannot write to the temporary folder", {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}

/** Events during a compile. */
export type ProgressEvent =
  | { readonly kind: "source-started"; readonly source: number; readonly label: string }
  /** More bytes were received, of a total that the server announced. */
  | {
      readonly kind: "source-arriving";
      readonly source: number;
      readonly bytes: number;
      readonly total?: number;
    }
  /** A request failed. It is retried after a pause. */
  | {
      readonly kind: "source-retried";
      readonly source: number;
      readonly label: string;
      readonly retry: number;
      readonly pauseMs: number;
      readonly cause: string;
    }
  /** The source, or its replacement, is complete. */
  | {
      readonly kind: "source-fetched";
      readonly source: number;
      readonly label: string;
      readonly state: SourceState["kind"];
      readonly bytes: number;
      readonly ms: number;
    }
  | {
      readonly kind: "source-read";
      readonly source: number;
      readonly label: string;
      readonly bytes: number;
      /** Whether its last good copy was read. */
      readonly isCopy: boolean;
    }
  | { readonly kind: "source-failed"; readonly source: number; readonly label: string }
  /** Memory is too small: about this many bytes go to this folder temporarily. */
  | {
      readonly kind: "needs-scratch";
      readonly bytes: number;
      readonly folder: string;
      readonly free: number;
    }
  | { readonly kind: "compiling"; readonly lines: number }
  /** Time of a transformation, for one source or (without a label) for the whole list. */
  | { readonly kind: "step"; readonly name: string; readonly label?: string; readonly ms: number };

/** The files that sources must consist of. */
export interface SourceLock {
  /** The name of the lockfile, for messages. */
  readonly name: string;
  /** By `storeKeyOf` the source as written in the configuration. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** Whether a source without an entry is an error; otherwise it may have any content. */
  readonly isComplete: boolean;
}

/** The files that a source must consist of; undefined if any content is allowed. Throws a `CompilerError`. */
export function lockedFiles(
  lock: SourceLock | undefined,
  wish: SourceOptions,
): readonly StoredFile[] | undefined {
  const { source, isSecret } = wish;
  // What a source keeps is not from its server.
  const files = lock?.files.get(storeKeyOf(source, wish))?.filter(({ role }) => role === undefined);
  if (files !== undefined || lock?.isComplete !== true) return files;
  const shown = printable(withoutCredentials(source, isSecret));
  throw new CompilerError([errorOf("lock-mismatch", `${shown} is not in ${lock.name}`)]);
}

/** The options for obtaining a source. */
export type SourceOptions = Pick<
  PlannedSource,
  | "source"
  | "label"
  | "shown"
  | "isSecret"
  | "type"
  | "feed"
  | "mirrors"
  | "isRequired"
  | "maxStaleMs"
  | "timeoutMs"
  | "maxBytes"
  | "member"
  | "keyFiles"
  | "signers"
  | "allowPrivate"
  | "bounds"
  | "checksCount"
  | "mayBlock"
> & {
  /** For a file of names. */
  readonly role?: FileRole | undefined;
};

/** How the text of a source is read. */
export function readingOf({ type, feed, isSecret, member }: SourceOptions): LoadOptions {
  const isJson = feed === undefined ? type === "json" : feedFormats.get(feed.type)!.isJson === true;
  return { json: isJson, feed, isSecret, member };
}

/** Whether each line of a source has a meaning of its own, and is a rule. */
export function hasPlainLines({ type, feed, member, role }: SourceOptions): boolean {
  const isTranslated = feed !== undefined || type === "json" || foreignFormats.has(type);
  return !isTranslated && member === undefined && role === undefined;
}

/** The headers with keys for the requests of a source. Rejects with a `CompilerError`. */
export async function keysOf(
  url: string,
  { keyFiles }: SourceOptions,
  { folder, host }: { readonly folder: string; readonly host: Host },
  warn: (warning: Diagnostic) => void,
): Promise<RequestHeaders | undefined> {
  const inFolder = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : host.path.resolve(folder, file);
  const { headers, bearer, basic } = keyFiles;
  const files = { headers: inFolder(headers), bearer: inFolder(bearer), basic: inFolder(basic) };
  return await readRequestHeaders(url, files, host, warn);
}
