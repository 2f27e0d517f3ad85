import type { FetchLimits } from "../sources/fetch-limits.ts";
import type { SourceBounds } from "../sources/source-hold.ts";
import type { MemoryOptions } from "./memory-plan.ts";
import type { ListSpool } from "./output-stage.ts";
import type { Plugins } from "./plugins.ts";
import type { ProgressEvent } from "./progress-event.ts";
import type { SharedSources } from "./shared-sources.ts";
import type { SourceLock } from "./source-lock.ts";

/** By which the new exceptions of sources are told from those that were there before. */
export interface PublishedExceptions {
  /** The exceptions of the published list, as they are written. */
  readonly texts: ReadonlySet<string>;
  /** The sources that it was made from, as they are shown. */
  readonly sources: ReadonlySet<string>;
}

export interface CompileOptions extends MemoryOptions {
  /** Folder that relative paths start from; the working directory without it. */
  readonly configFolder?: string;
  readonly signal?: AbortSignal;
  /** Told what happens while it happens. */
  readonly onProgress?: (event: ProgressEvent) => void;
  /** Bytes of a file that are worked on at a time. */
  readonly blockBytes?: number;
  /** Where last good copies of remote sources are kept; without it there are none. */
  readonly cacheDir?: string | undefined;
  /** Fetch nothing; last good copies only, whatever their age. */
  readonly offline?: boolean | undefined;
  /** Guards that may be passed this time, by name. */
  readonly accept?: readonly string[] | undefined;
  /** Whether all sources may be in private networks: somebody typed their addresses just now. */
  readonly allowPrivate?: boolean | undefined;
  /** As the reference does it: every source is trusted, wherever it is, and may be empty. */
  readonly compat?: boolean | undefined;
  /** Takes the frames of the build record, piece by piece; a piece is good until the next. See `record/record-format.ts`. */
  readonly record?: ((bytes: Uint8Array) => void) | undefined;
  /** Takes the rules of the list for other formats. */
  readonly spool?: ListSpool | undefined;
  readonly lock?: SourceLock | undefined;
  /** The moment for the list's header, instead of now. */
  readonly builtAt?: Date | undefined;
  /** Further lines of the list's header. */
  readonly headerLines?: readonly string[] | undefined;
  /** Transformations of the user's own. */
  readonly plugins?: Plugins | undefined;
  /** What this list has in common with others that are compiled in the same run. */
  readonly shared?: SharedSources | undefined;
  /** Instead of the usual ones; for tests. */
  readonly fetchLimits?: Partial<FetchLimits> | undefined;
}

const DAY_MS = 86_400_000;
export const MAX_STALE_MS: number = 7 * DAY_MS;

/** The usual limits; a source that stays different for three days is meant to be. */
export const SOURCE_BOUNDS: SourceBounds = {
  size: { shrink: 50, growth: 200, slack: 10 },
  holdMs: 3 * DAY_MS,
  isVolatile: false,
};

/** For files of entries, which the configuration says no more of. */
export const FETCH_DEFAULTS: {
  readonly mirrors: readonly string[];
  readonly isOptional: boolean;
  readonly maxStaleMs: number;
  readonly timeoutMs: number | undefined;
  readonly allowPrivate: boolean;
  readonly isSecret: boolean;
  readonly type: "adblock";
  readonly bounds: SourceBounds;
  readonly mayBlock: undefined;
} = {
  mirrors: [],
  isOptional: false,
  maxStaleMs: MAX_STALE_MS,
  timeoutMs: undefined,
  allowPrivate: false,
  isSecret: false,
  type: "adblock",
  bounds: SOURCE_BOUNDS,
  mayBlock: undefined,
};
