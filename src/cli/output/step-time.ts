/** A time as a person reads it: nothing below a millisecond, and no more digits than matter. */
export function timeText(ms: number): string {
  if (ms < 1) return "<1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
