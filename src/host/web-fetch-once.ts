import { type FetchRequest, type FetchResponse, HostError, toHostError } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";

/**
 * The same exchange by way of the global `fetch`, for Deno before 2.9: its node:http ends the whole process when a body
 * is cut short. Deno's `fetch` unpacks the body itself, strictly.
 */
export async function webFetchOnce(request: FetchRequest): Promise<FetchResponse> {
  const { timeouts } = request;
  const stop = new AbortController();
  let reason: HostError | undefined;
  function give(up: HostError): void {
    reason ??= up;
    stop.abort();
  }
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  function limit(name: string, what: string, ms: number): void {
    clearTimeout(timers.get(name));
    timers.set(
      name,
      setTimeout(() => give(new HostError("ETIMEDOUT", `${what} within ${ms / 1000} s`)), ms),
    );
  }
  const onAbort = (): void => give(new HostError("ECANCELED", "the run was stopped"));
  request.signal?.addEventListener("abort", onAbort);
  try {
    if (request.signal?.aborted === true) onAbort();
    limit("total", "the answer was not complete", timeouts.totalMs);
    limit("idle", "no data arrived", timeouts.idleMs);
    const response = await fetch(request.url, {
      headers: { ...request.headers },
      redirect: "manual",
      signal: stop.signal,
    });
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of response.body ?? []) {
      limit("idle", "no data arrived", timeouts.idleMs);
      parts.push(part);
      length += part.length;
      if (length > request.maxBytes)
        throw new HostError("EFBIG", `the answer is larger than ${request.maxBytes} bytes`);
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of response.headers)
      if (name !== "content-encoding") headers[name] = value;
    return { status: response.status, headers, body: joinBytes(parts, length) };
  } catch (error) {
    throw reason ?? toHostError(error);
  } finally {
    for (const timer of timers.values()) clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
  }
}
