/** Whoever is told to stop gets a few seconds for it; after these it is given up. */
const GIVE_UP_MS = 10_000;
/** Timers cannot wait longer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export interface Ended<T> {
  /** What it came to; undefined when it did not stop although it was told to. */
  readonly value: T | undefined;
  readonly isLate: boolean;
}

/** Does something that can be told to stop, and tells it so after a time; 0 is never. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Ended<T>> {
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lost = new Promise<undefined>((resolve) => {
    if (ms === 0) return;
    timer = setTimeout(
      () => {
        late.abort();
        timer = setTimeout(() => resolve(undefined), GIVE_UP_MS);
      },
      Math.min(ms, LONGEST_MS),
    );
  });
  try {
    const value = await Promise.race([work(AbortSignal.any([signal, late.signal])), lost]);
    return { value, isLate: late.signal.aborted };
  } finally {
    clearTimeout(timer);
  }
}
