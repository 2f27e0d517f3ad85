import type { FetchTimeouts } from "../host/host.ts";

/** What a remote source may take: of time, of tries, of bytes. */
export interface FetchLimits {
  /** For one exchange. */
  readonly timeouts: FetchTimeouts;
  /** For a source with all its tries, redirects, mirrors and includes. */
  readonly sourceMs: number;
  /** Further tries after one that may have been bad luck. */
  readonly retries: number;
  /** The first pause before another try; each next one is twice as long. */
  readonly pauseMs: number;
  /** The longest pause that a server may ask for. */
  readonly longestPauseMs: number;
  /** When the next mirror is asked as well, if the one before has not come yet. */
  readonly hedgeMs: number;
  /** Bytes of a source, unpacked, with all that it includes. Several times the largest list in public use; beyond it something is wrong. */
  readonly maxBytes: number;
  /** Lines of a source with all that it includes: each takes room, however short it is. */
  readonly maxLines: number;
  /** How many times larger than its packed form a text of more than a megabyte may be. */
  readonly maxRatio: number;
  readonly redirects: number;
  /** Exchanges at a time, in all and with one server. */
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

/** Why a source is refused that has more bytes than it may. */
export function tooLargeText({ maxBytes }: Pick<FetchLimits, "maxBytes">): string {
  return `with all that it includes it is larger than ${maxBytes} bytes`;
}
