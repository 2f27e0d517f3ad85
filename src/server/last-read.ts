import type { Host } from "../host/host.ts";

const SECOND = 1000;

/** Facts that other processes may change, as last read. Each look begins a new read, at most once a second. */
export class LastRead<Fact> {
  /** The facts when they were last read. */
  all: readonly Fact[] = [];
  private readonly read: () => Promise<readonly Fact[]>;
  private readonly host: Host;
  private begunAt = -Infinity;
  private reading: Promise<void> | undefined;

  constructor(read: () => Promise<readonly Fact[]>, host: Host) {
    this.read = read;
    this.host = host;
  }

  look(): readonly Fact[] {
    if (Math.abs(this.host.now().getTime() - this.begunAt) >= SECOND) void this.refresh();
    return this.all;
  }

  /** Like `refresh`, but sees everything that happened before the call. */
  async refreshNow(): Promise<void> {
    await this.reading;
    await this.refresh();
  }

  /** Resolves when the facts have been read. */
  async refresh(): Promise<void> {
    this.begunAt = this.host.now().getTime();
    this.reading ??= this.read()
      .then((all) => void (this.all = all))
      // Files that cannot be read now are read again at the next look.
      .catch(() => {})
      .finally(() => (this.reading = undefined));
    await this.reading;
  }
}
