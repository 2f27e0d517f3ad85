import { type FetchRequest, HostError } from "./host.ts";

/** The limits of one exchange. Each step takes over from the one before; `expired` is called once, when one is over. */
export class ExchangeClock {
  private readonly request: FetchRequest;
  private readonly expired: (error: HostError) => void;
  private readonly total: ReturnType<typeof setTimeout>;
  private step: ReturnType<typeof setTimeout> | undefined;
  private readonly onAbort = (): void =>
    this.expired(new HostError("ECANCELED", "the run was stopped"));

  constructor(request: FetchRequest, expired: (error: HostError) => void) {
    this.request = request;
    this.expired = expired;
    this.total = this.after(request.timeouts.totalMs, "the answer was not complete");
    request.signal?.addEventListener("abort", this.onAbort);
  }

  connecting(): void {
    this.begin(this.request.timeouts.connectMs, "no connection");
  }

  asking(): void {
    this.begin(this.request.timeouts.headersMs, "no answer");
  }

  receiving(): void {
    this.begin(this.request.timeouts.idleMs, "no data arrived");
  }

  stop(): void {
    clearTimeout(this.total);
    clearTimeout(this.step);
    this.request.signal?.removeEventListener("abort", this.onAbort);
  }

  private begin(ms: number, what: string): void {
    clearTimeout(this.step);
    this.step = this.after(ms, what);
  }

  private after(ms: number, what: string): ReturnType<typeof setTimeout> {
    const text = `${what} within ${ms / 1000} s`;
    return setTimeout(() => this.expired(new HostError("ETIMEDOUT", text)), ms);
  }
}
