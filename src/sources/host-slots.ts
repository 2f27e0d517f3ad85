import type { FetchLimits } from "./fetch-limits.ts";

/** Lets so many exchanges happen at a time, in all and with one server; the others wait in order. */
export class HostSlots {
  private readonly limits: FetchLimits;
  private inUse = 0;
  private readonly byHost = new Map<string, number>();
  private readonly waiting: { readonly host: string; readonly go: () => void }[] = [];

  constructor(limits: FetchLimits) {
    this.limits = limits;
  }

  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    if (this.isFree(host)) this.take(host);
    else await new Promise<void>((go) => this.waiting.push({ host, go }));
    try {
      return await work();
    } finally {
      this.inUse--;
      this.byHost.set(host, this.byHost.get(host)! - 1);
      const next = this.waiting.findIndex((one) => this.isFree(one.host));
      if (next !== -1) {
        const [one] = this.waiting.splice(next, 1);
        this.take(one!.host);
        one!.go();
      }
    }
  }

  private isFree(host: string): boolean {
    const { atOnce, atOnceWithHost } = this.limits;
    return this.inUse < atOnce && (this.byHost.get(host) ?? 0) < atOnceWithHost;
  }

  private take(host: string): void {
    this.inUse++;
    this.byHost.set(host, (this.byHost.get(host) ?? 0) + 1);
  }
}
