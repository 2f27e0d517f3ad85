/** As much of `node:util` as the engine uses. */
type Done<T> = (error: Error | null, value: T) => void;

export function promisify<A extends unknown[], T>(
  call: (...args: [...A, Done<T>]) => void,
): (...args: A) => Promise<T> {
  return async (...args) =>
    await new Promise<T>((resolve, reject) => {
      call(...args, (error, value) => (error === null ? resolve(value) : reject(error)));
    });
}
