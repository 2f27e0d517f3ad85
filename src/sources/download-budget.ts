import type { Host } from "../host/host.ts";

/** The share of the free space in the temporary folder that all downloads together may use. */
const SHARE = 0.25;

/**
 * Limits the space that all downloads of a run use in the temporary folder. If they exceed it, the largest download is
 * stopped: an endless source must not starve the others.
 */
export class DownloadBudget {
  readonly limit: number;
  private total = 0;
  /** Downloads that can be stopped. */
  private readonly running = new Set<DownloadAccount>();

  constructor(limit: number) {
    this.limit = limit;
  }

  static async of(host: Host): Promise<DownloadBudget> {
    return new DownloadBudget(Math.floor((await host.scratchSpace()).free * SHARE));
  }

  /** The account of one download; `stop` is called if it must free its space for others. */
  open(stop: () => void): DownloadAccount {
    const account = new DownloadAccount(this, stop);
    this.running.add(account);
    return account;
  }

  /** Called when the total of all accounts has changed. */
  changed(bytes: number): void {
    this.total += bytes;
    while (this.total > this.limit && this.running.size > 0) this.largest().stop();
  }

  /** The account can no longer be stopped. */
  settle(account: DownloadAccount): void {
    this.running.delete(account);
  }

  private largest(): DownloadAccount {
    return [...this.running].reduce((a, b) => (b.bytes > a.bytes ? b : a));
  }
}

/** The space of one source in the temporary folder. */
export class DownloadAccount {
  bytes = 0;
  /** Whether it was stopped to free space. */
  isStopped = false;
  private isClosed = false;
  private readonly budget: DownloadBudget;
  private readonly onStop: () => void;

  constructor(budget: DownloadBudget, onStop: () => void) {
    this.budget = budget;
    this.onStop = onStop;
  }

  /** Throws if there is no space left. */
  take(bytes: number): void {
    this.change(bytes);
    if (this.isStopped) throw new Error(this.reason);
  }

  give(bytes: number): void {
    this.change(-bytes);
  }

  /** The download is complete; its bytes count until they are released. */
  settle(): void {
    this.budget.settle(this);
  }

  stop(): void {
    this.isStopped = true;
    this.close();
    this.onStop();
  }

  /** The download failed or was stopped; its bytes no longer count. */
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
