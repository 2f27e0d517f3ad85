import { HostError } from "./host.ts";

/** The result of work with files; undefined if it ends with a `HostError`, for example because a file is missing. */
export async function ifAvailable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
