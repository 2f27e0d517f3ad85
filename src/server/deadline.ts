/** How long aborted work may take to stop before it is abandoned. */
const GIVE_UP_MS = 10_000;
/** The longest delay of a timer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export interface DeadlineResult<T> {
  /** Undefined if the work was abandoned. */
  readonly value: T | undefined;
  readonly isLate: boolean;
}

/** Runs work that can be aborted, and aborts it after a time; 0 means never. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<DeadlineResult<T>> {
  // Not AbortSignal.any: in some versions of Bun and Deno, garbage collection ends the connection between the signals.
  const stop = new AbortController();
  const follow = (): void => stop.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener("abort", follow);
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abandoned = new Promise<undefined>((resolve) => {
    if (ms === 0) return;
    timer = setTimeout(
      () => {
        isLate = true;
        stop.abort();
        timer = setTimeout(() => resolve(undefined), GIVE_UP_MS);
      },
      Math.min(ms, LONGEST_MS),
    );
  });
  try {
    const value = await Promise.race([work(stop.signal), abandoned]);
    return { value, isLate };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}
