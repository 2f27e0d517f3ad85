import { Cron } from "croner";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";

/** When to compile, as cron says it: moments, the same for everybody who asks. */
export class Schedule {
  readonly pattern: string;
  private readonly cron: Cron;
  private longest: number | undefined;

  /** Throws a `CompilerError` when the pattern or the zone means nothing, or names no moment that ever comes. */
  constructor(pattern: string, timeZone: string | undefined) {
    this.pattern = pattern;
    try {
      const zone = timeZone === undefined ? {} : { timezone: timeZone };
      this.cron = new Cron(pattern, { paused: true, ...zone });
      if (this.cron.nextRun() === null) throw new RangeError("no such moment ever comes");
    } catch (error) {
      const zoned = timeZone === undefined ? "" : ` in ${printable(timeZone, 60)}`;
      throw new CompilerError([
        errorOf("bad-schedule", `Invalid schedule ${printable(pattern, 60)}${zoned}`, {
          cause: printable((error as Error).message.replace(/^Cron\w+: /, ""), 160),
        }),
      ]);
    }
  }

  /** The first moment after another. */
  next(after: number): number {
    if (after === Infinity) return Infinity;
    return this.cron.nextRun(new Date(after))?.getTime() ?? Infinity;
  }

  /** The last moment that is not after another. */
  previous(at: number): number {
    // What it gives lies before the moment it is asked for.
    return this.cron.previousRuns(1, new Date(at + 1000))[0]?.getTime() ?? -Infinity;
  }

  /** The longest time from one moment to the next, nights and weekends included: over the next hundred. */
  get longestInterval(): number {
    if (this.longest === undefined) {
      this.longest = 0;
      let at = this.previous(Date.now());
      if (at === -Infinity) at = this.next(Date.now());
      for (let count = 0; count < 100; count++) {
        const next = this.next(at);
        if (next === Infinity) break;
        this.longest = Math.max(this.longest, next - at);
        at = next;
      }
    }
    return this.longest;
  }

  /** How long it is from one moment to the next, around a time. */
  interval(at: number): number {
    const next = this.next(at);
    return this.next(next) - next;
  }
}
