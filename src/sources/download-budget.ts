import type { Host } from "../host/host.ts";

/** Of what is free in the temporary folder, for all downloads together. */
const SHARE = 0.25;

/**
 * Limits what the downloads of a run put into the temporary folder together. When they exceed it, the largest download is
 * stopped: a source that sends without end must not take the room of the others.
 */
export class DownloadBudget {
  readonly limit: number;
  private total = 0;
  /** Those that can be stopped. */
  private readonly running = new Set<DownloadAccount>();

  constructor(limit: number) {
    this.limit = limit;
  }

  static async of(host: Host): Promise<DownloadBudget> {
    return new DownloadBudget(Math.floor((await host.scratchSpace()).free * SHARE));
  }

  /** The account of one download; `stop` is called when it has to make room for others. */
  open(stop: () => void): DownloadAccount {
    const account = new DownloadAccount(this, stop);
    this.running.add(account);
    return account;
  }

  /** What accounts hold together has changed. */
  changed(bytes: number): void {
    this.total += bytes;
    while (this.total > this.limit && this.running.size > 0) this.largest().stop();
  }

  /** The account is not to be stopped any more. */
  settle(account: DownloadAccount): void {
    this.running.delete(account);
  }

  private largest(): DownloadAccount {
    return [...this.running].reduce((a, b) => (b.bytes > a.bytes ? b : a));
  }
}

/** What one source has in the temporary folder. */
export class DownloadAccount {
  bytes = 0;
  /** Whether it had to make room. */
  isStopped = false;
  private isClosed = false;
  private readonly budget: DownloadBudget;
  private readonly onStop: () => void;

  constructor(budget: DownloadBudget, onStop: () => void) {
    this.budget = budget;
    this.onStop = onStop;
  }

  /** Throws when there is no room for it. */
  take(bytes: number): void {
    this.change(bytes);
    if (this.isStopped) throw new Error(this.reason);
  }

  give(bytes: number): void {
    this.change(-bytes);
  }

  /** The download is done; what it holds counts until it is given back. */
  settle(): void {
    this.budget.settle(this);
  }

  stop(): void {
    this.isStopped = true;
    this.close();
    this.onStop();
  }

  /** The download has failed, or was stopped: nothing of it counts any more. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.budget.settle(this);
    this.budget.changed(-this.bytes);
  }

  get reason(): string {
    return `all downloads together may put ${this.budget.limit} bytes into the temporary folder, a quarter of what is free there`;
  }

  private change(bytes: number): void {
    if (this.isClosed) return;
    this.bytes += bytes;
    this.budget.changed(bytes);
  }
}
