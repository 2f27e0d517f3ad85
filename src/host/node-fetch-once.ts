import http from "node:http";
import https from "node:https";
import { type FetchRequest, type FetchResponse, HostError, toHostError } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";

/**
 * One GET over node:http(s). Not the runtime's `fetch`: that accepts a gzip body which was cut short, differs between
 * runtimes in proxies and encodings, and offers no say over connect time.
 */
export function fetchOnce(request: FetchRequest): Promise<FetchResponse> {
  const { timeouts } = request;
  if (request.signal?.aborted === true)
    return Promise.reject(new HostError("ECANCELED", "the run was stopped"));
  return new Promise((resolve, reject) => {
    const client = request.url.startsWith("https:") ? https : http;
    const outgoing = client.get(request.url, { headers: request.headers, agent: false });
    let isSettled = false;
    let connectTimer: NodeJS.Timeout | undefined;
    let idleTimer: NodeJS.Timeout | undefined;

    function settle(action: () => void): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(connectTimer);
      clearTimeout(idleTimer);
      clearTimeout(totalTimer);
      request.signal?.removeEventListener("abort", onAbort);
      action();
      outgoing.destroy();
    }
    function fail(error: unknown): void {
      settle(() => reject(toHostError(error)));
    }
    function timedOut(what: string, ms: number): void {
      fail(new HostError("ETIMEDOUT", `${what} within ${ms / 1000} s`));
    }
    function onAbort(): void {
      fail(new HostError("ECANCELED", "the run was stopped"));
    }
    function stayAlive(): void {
      clearTimeout(idleTimer);
      idleTimer = setTimeout(() => timedOut("no data arrived", timeouts.idleMs), timeouts.idleMs);
    }

    const totalTimer = setTimeout(
      () => timedOut("the answer was not complete", timeouts.totalMs),
      timeouts.totalMs,
    );
    request.signal?.addEventListener("abort", onAbort);
    connectTimer = setTimeout(
      () => timedOut("no connection", timeouts.connectMs),
      timeouts.connectMs,
    );
    outgoing.on("error", fail);
    outgoing.on("socket", (socket) => {
      socket.once("connect", () => {
        clearTimeout(connectTimer);
        stayAlive();
      });
    });
    outgoing.on("response", (response) => {
      clearTimeout(connectTimer);
      stayAlive();
      const parts: Uint8Array[] = [];
      let length = 0;
      response.on("data", (part: Uint8Array) => {
        stayAlive();
        length += part.length;
        parts.push(part);
        if (length > request.maxBytes)
          fail(new HostError("EFBIG", `the answer is larger than ${request.maxBytes} bytes`));
      });
      response.on("error", fail);
      response.on("aborted", () => fail(new HostError("ECONNRESET", "the connection was cut")));
      response.on("end", () => {
        const declared = Number(response.headers["content-length"] ?? length);
        if (!response.complete || declared !== length)
          return fail(new HostError("ECONNRESET", `the answer was cut after ${length} bytes`));
        settle(() =>
          resolve({
            status: response.statusCode ?? 0,
            headers: flatHeaders(response.headers),
            body: joinBytes(parts, length),
          }),
        );
      });
    });
  });
}

function flatHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  return flat;
}
