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
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abandoned = new Promise<undefined>((resolve) => {
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
    const value = await Promise.race([work(AbortSignal.any([signal, late.signal])), abandoned]);
    return { value, isLate: late.signal.aborted };
  } finally {
    clearTimeout(timer);
  }
}
