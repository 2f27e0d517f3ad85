import { type FetchRequest, HostError, toHostError } from "./host.ts";

/** Does an exchange within its limits. Rejects with a `HostError`: which limit it was, or what went wrong. */
export async function withinLimits<T>(
  request: FetchRequest,
  exchange: (clock: ExchangeClock, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (request.signal?.aborted === true) throw new HostError("ECANCELED", "the run was stopped");
  const stop = new AbortController();
  let reason: HostError | undefined;
  const clock = new ExchangeClock(request, (error) => {
    reason ??= error;
    stop.abort();
  });
  try {
    return await exchange(clock, stop.signal);
  } catch (error) {
    throw reason ?? toHostError(error);
  } finally {
    clock.stop();
    stop.abort();
  }
}

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
    this.total = this.after(request.timeouts.totalMs, "the response was not complete");
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
