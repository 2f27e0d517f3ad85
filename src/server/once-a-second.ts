const SECOND = 1000;

/** Caches an expensive value for a second, however many clients request it. */
export function onceASecond<T>(now: () => number, make: () => T): () => T {
  let made: { readonly value: T; readonly at: number } | undefined;
  return () => {
    const at = now();
    // A clock may be set back.
    if (made === undefined || Math.abs(at - made.at) >= SECOND) made = { value: make(), at };
    return made.value;
  };
}
