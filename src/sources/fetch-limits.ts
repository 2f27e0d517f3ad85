import type { FetchTimeouts } from "../host/host.ts";

/** The limits of a remote source: time, retries, bytes. */
export interface FetchLimits {
  /** For one exchange. */
  readonly timeouts: FetchTimeouts;
  /** For a source with all its retries, redirects, mirrors and includes. */
  readonly sourceMs: number;
  /** Retries after transient failures. */
  readonly retries: number;
  /** The pause before the first retry; it doubles with every further one. */
  readonly pauseMs: number;
  /** The longest pause that a server may ask for. */
  readonly longestPauseMs: number;
  /** How long to wait for a response before the next mirror is tried as well. */
  readonly hedgeMs: number;
  /** Unpacked bytes of a source with its includes: several times the largest list in public use. */
  readonly maxBytes: number;
  /** Lines of a source with its includes: even a short line needs memory. */
  readonly maxLines: number;
  /** The largest compression ratio of a text of more than a megabyte. */
  readonly maxRatio: number;
  readonly redirects: number;
  /** Concurrent requests, in total and per server. */
  readonly atOnce: number;
  readonly atOnceWithHost: number;
}

export const FETCH_LIMITS: FetchLimits = {
  timeouts: { connectMs: 10_000, headersMs: 20_000, idleMs: 30_000, totalMs: 120_000 },
  sourceMs: 120_000,
  retries: 2,
  pauseMs: 500,
  longestPauseMs: 30_000,
  hedgeMs: 5_000,
  maxBytes: 256 * 1024 * 1024,
  maxLines: 25_000_000,
  maxRatio: 100,
  redirects: 5,
  atOnce: 16,
  atOnceWithHost: 6,
};

/** The limits of a source with its own time and bytes. Lines grow with the bytes: who allows a large list allows its lines. */
export function limitsOf(
  limits: FetchLimits,
  {
    timeoutMs,
    maxBytes,
  }: { readonly timeoutMs?: number | undefined; readonly maxBytes?: number | undefined },
): FetchLimits {
  const bytes = maxBytes ?? limits.maxBytes;
  const maxLines = Math.ceil(limits.maxLines * Math.max(1, bytes / limits.maxBytes));
  return { ...limits, sourceMs: timeoutMs ?? limits.sourceMs, maxBytes: bytes, maxLines };
}

/** The message for a source that exceeds its bytes. */
export function tooLargeText({ maxBytes }: Pick<FetchLimits, "maxBytes">): string {
  return `with its includes it is larger than ${maxBytes} bytes`;
}
