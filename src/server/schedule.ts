import { Cron } from "croner";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";

/** When to compile: a cron pattern. */
export class Schedule {
  readonly pattern: string;
  private readonly cron: Cron;
  private longest: number | undefined;

  /** Throws a `CompilerError` if the pattern or the time zone is invalid, or the pattern never matches. */
  constructor(pattern: string, timeZone?: string) {
    this.pattern = pattern;
    try {
      const zone = timeZone === undefined ? {} : { timezone: timeZone };
      this.cron = new Cron(pattern, { paused: true, ...zone });
      if (this.cron.nextRun() === null) throw new RangeError("it never matches");
    } catch (error) {
      const zoned = timeZone === undefined ? "" : ` in ${printable(timeZone, 60)}`;
      throw new CompilerError([
        errorOf("bad-schedule", `Invalid schedule ${printable(pattern, 60)}${zoned}`, {
          cause: printable((error as Error).message.replace(/^Cron\w+: /, ""), 160),
        }),
      ]);
    }
  }

  /** The first scheduled time after a moment. */
  next(after: number): number {
    if (after === Infinity) return Infinity;
    return this.cron.nextRun(new Date(after))?.getTime() ?? Infinity;
  }

  /** The last scheduled time that is not after a moment. */
  previous(at: number): number {
    // croner returns times strictly before the given one.
    return this.cron.previousRuns(1, new Date(at + 1000))[0]?.getTime() ?? -Infinity;
  }

  /** The longest interval between the next hundred scheduled times, nights and weekends included. */
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

  /** The interval between the next two scheduled times. */
  interval(at: number): number {
    const next = this.next(at);
    return this.next(next) - next;
  }
}
