/** One place in a queue: exclusive work happens between `acquire` and `release`. */
export interface QueueSlot {
  /** Resolves when all that entered before have released. */
  acquire(): Promise<void>;
  release(): void;
}

/** Lets one at a time do exclusive work, in the order in which they entered. */
export class OrderedQueue {
  private last: Promise<unknown> = Promise.resolve();

  enter(): QueueSlot {
    const before = this.last;
    const released = Promise.withResolvers<void>();
    // One that releases early does not let the next one in before those who are still at work.
    this.last = Promise.all([before, released.promise]);
    return {
      acquire: async () => void (await before),
      release: () => released.resolve(),
    };
  }
}

/** Does work for every item, at most `most` at a time, beginning in order. Rejects once all that began has ended. */
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
