import type { EventLog } from "./event-log.ts";

export interface RenewalOptions {
  readonly log: EventLog;
  readonly signal: AbortSignal;
  /** Writes the reports and reads them again. */
  renew(): Promise<void>;
}

/** Writes reports in the background. Lists that are published meanwhile share the next report. */
export class ReportRenewal {
  private readonly options: RenewalOptions;
  private renewing: Promise<void> | undefined;
  private isDue = false;

  constructor(options: RenewalOptions) {
    this.options = options;
  }

  begin(): void {
    this.isDue = true;
    this.renewing ??= this.whileDue().finally(() => (this.renewing = undefined));
  }

  /** Resolves when no report is being written. */
  async settled(): Promise<void> {
    await this.renewing;
  }

  private async whileDue(): Promise<void> {
    const { log, signal } = this.options;
    while (this.isDue && !signal.aborted) {
      this.isDue = false;
      try {
        await this.options.renew();
      } catch (error) {
        log.write("warning", "no-report", { reason: (error as Error).message });
      }
    }
  }
}
