/**
 * A signal that is aborted as soon as one of the given signals is; all of them must be short-lived. Not
 * `AbortSignal.any`: in some versions of Bun and Deno, garbage collection ends the connection between the signals.
 */
export function followSignals(signals: readonly AbortSignal[]): AbortSignal {
  const follower = new AbortController();
  for (const signal of signals)
    if (signal.aborted) follower.abort(signal.reason);
    else signal.addEventListener("abort", () => follower.abort(signal.reason), { once: true });
  return follower.signal;
}
