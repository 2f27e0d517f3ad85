/** A place in a queue. Exclusive work happens between `acquire` and `release`. */
export interface QueueSlot {
  /** Resolves when all earlier slots have been released. */
  acquire(): Promise<void>;
  release(): void;
}

/** Runs exclusive work one at a time, in the order of entry. */
export class OrderedQueue {
  private last: Promise<unknown> = Promise.resolve();

  enter(): QueueSlot {
    const before = this.last;
    const released = Promise.withResolvers<void>();
    // If a slot is released early, the next one still waits for all earlier slots.
    this.last = Promise.all([before, released.promise]);
    return {
      acquire: async () => void (await before),
      release: () => released.resolve(),
    };
  }
}

/** Runs work for every item, at most `most` at a time, starting in order. Rejects after all started work has ended. */
export async function forEachInOrder<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const ends: Promise<R>[] = [];
  let hasFailed = false;
  for (const [index, item] of items.entries()) {
    await ends[index - most]?.catch(() => {});
    if (hasFailed) break;
    const end = work(item);
    end.catch(() => (hasFailed = true));
    ends.push(end);
  }
  await Promise.allSettled(ends);
  return await Promise.all(ends);
}
