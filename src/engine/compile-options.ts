import type { KeyFiles } from "../sources/request-headers.ts";
import type { FetchLimits } from "../sources/fetch-limits.ts";
import type { SizeLimits } from "../sources/size-judge.ts";
import type { SourceLedger } from "../sources/source-ledger.ts";
import type { MemoryOptions } from "./memory-plan.ts";
import type { NameSink } from "./output-stage.ts";
import type { Plugins } from "./plugins.ts";
import type { ProgressEvent } from "./progress-event.ts";
import type { SharedSources } from "./shared-sources.ts";
import type { SourceLock } from "./source-lock.ts";

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
  /** Its exceptions, verbatim; undefined if they need not be known. */
  readonly exceptions?: ReadonlySet<string> | undefined;
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

export interface CompileOptions extends MemoryOptions {
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
  /** Names of the guards to skip in this run. */
  readonly accept?: readonly string[] | undefined;
  /** Whether a list may be made however many sources are left out: nothing will be published. */
  readonly anyMayFail?: boolean | undefined;
  /** Whether all sources may be in private networks: the user just typed their addresses. */
  readonly allowPrivate?: boolean | undefined;
  /** Behave like the reference: every source is fully trusted and may be empty. */
  readonly compat?: boolean | undefined;
  /** Receives the frames of the build record. Each piece is valid until the next call. See `record/record-format.ts`. */
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
