/** A place in a row: what must be done one after the other is done between `come` and `pass`. */
export interface Turn {
  /** Resolves when all before it have passed. */
  come(): Promise<void>;
  pass(): void;
}

/** How many may be at it at a time: one at what is done in turns, the others wait for the disk before or after that. */
const MOST = 4;

/** Does work for every item, a few at a time, and in order what is done in turns. Rejects when all that began has ended. */
export async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T, turn: Turn) => Promise<R>,
): Promise<R[]> {
  const ends: Promise<R>[] = [];
  let before: Promise<unknown> = Promise.resolve();
  let hasFailed = false;
  for (const [index, item] of items.entries()) {
    await ends[index - MOST]?.catch(() => {});
    if (hasFailed) break;
    const mine = before;
    const passed = Promise.withResolvers<void>();
    // One that passes early does not let the next one in before those who are still at it.
    before = Promise.all([mine, passed.promise]);
    const end = work(item, {
      come: async () => void (await mine),
      pass: () => passed.resolve(),
    });
    end.catch(() => (hasFailed = true)).finally(() => passed.resolve());
    ends.push(end);
  }
  await Promise.allSettled(ends);
  return await Promise.all(ends);
}
