/**
 * Tries alternatives in order until one succeeds. The next one starts when the previous one has failed or has taken too
 * long. Attempts that are no longer needed are aborted by their signal. Rejects with the error of the first
 * alternative.
 */
export async function hedgedFetch<A, T>(
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
