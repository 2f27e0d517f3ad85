import type { Reporter } from "./reporter.ts";

/** A time as a person reads it: nothing below a millisecond, and no more digits than matter. */
export function timeText(ms: number): string {
  if (ms < 1) return "<1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Does a step of a run, and tells with `--debug` how it ended and how long it took. */
export async function timedStep<T>(
  name: string,
  reporter: Reporter,
  work: () => Promise<T>,
  outcome: (result: T) => string,
): Promise<T> {
  const started = performance.now();
  const result = await work();
  reporter.debug(`${name}: ${outcome(result)}, ${timeText(performance.now() - started)}`);
  return result;
}
