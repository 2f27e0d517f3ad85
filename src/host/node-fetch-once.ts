import http from "node:http";
import https from "node:https";
import { type Duplex, Readable, pipeline } from "node:stream";
import { type ExchangeClock, withinLimits } from "./exchange-clock.ts";
import { type FetchRequest, type FetchResponse, HostError } from "./host.ts";
import { refusePrivateName, publicLookup } from "./public-lookup.ts";
import { forwardRequest, openTunnel } from "./proxy-connection.ts";

/**
 * One exchange over node:http(s). Not the runtime's `fetch`: that accepts a gzip body which was cut short, differs between
 * runtimes in proxies and encodings, and has no option for the connect timeout or for the addresses of a name.
 */
export async function fetchOnce(request: FetchRequest): Promise<FetchResponse> {
  const url = new URL(request.url);
  return await withinLimits(request, async (clock, signal) => {
    if (request.onlyPublic) refusePrivateName(url.hostname);
    clock.connecting();
    return await exchange(request, url, clock, signal);
  });
}

async function exchange(
  request: FetchRequest,
  url: URL,
  clock: ExchangeClock,
  signal: AbortSignal,
): Promise<FetchResponse> {
  const { proxy } = request;
  const isSecure = url.protocol === "https:";
  let tunnel: Duplex | undefined;
  if (proxy !== undefined && isSecure) tunnel = await openTunnel(proxy, url, signal);
  return new Promise((resolve, reject) => {
    const { method = "GET", headers } = request;
    const options: https.RequestOptions = { method, headers, agent: false, signal };
    if (request.onlyPublic && proxy === undefined) options.lookup = publicLookup;
    if (tunnel !== undefined) options.createConnection = () => tunnel;
    let outgoing: http.ClientRequest;
    if (proxy !== undefined && !isSecure)
      outgoing = (proxy.protocol === "https:" ? https : http).request(
        forwardRequest(proxy, url, options),
      );
    else outgoing = (isSecure ? https : http).request(url, options);
    if (tunnel !== undefined) clock.asking();
    // Errors of a socket after the response is complete do not matter.
    outgoing.on("error", reject);
    outgoing.on("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => clock.asking());
    });
    outgoing.on("response", (response) => {
      clock.receiving();
      if (method === "HEAD") {
        // It has no body. Some servers send the end of one, which is an error of the next event.
        resolve({ status: response.statusCode ?? 0, headers: flatHeaders(response.headers) });
        response.on("error", () => {}).resume();
      } else receive(response, request, clock).then(resolve, reject);
    });
    const { body } = request;
    if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
    // Its errors are those of the request.
    else pipeline(Readable.from(body), outgoing, (error) => error && outgoing.destroy(error));
  });
}

async function receive(
  response: http.IncomingMessage,
  request: FetchRequest,
  clock: ExchangeClock,
): Promise<FetchResponse> {
  const status = response.statusCode ?? 0;
  const headers = flatHeaders(response.headers);
  // The body of any other response is not needed; closing is cheaper than waiting for it.
  if (status !== 200 && request.takesAnyStatus !== true) return { status, headers };
  let length = 0;
  try {
    for await (const piece of response as AsyncIterable<Uint8Array>) {
      clock.receiving();
      length += piece.length;
      if (length > request.maxBytes)
        throw new HostError("EFBIG", `the response is larger than ${request.maxBytes} bytes`);
      request.take(piece);
    }
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE") throw cutAfter(length);
    throw error;
  }
  const declared = Number(headers["content-length"] ?? length);
  if (!response.complete || declared !== length) throw cutAfter(length);
  const isFramed =
    headers["content-length"] !== undefined ||
    /\bchunked\b/i.test(headers["transfer-encoding"] ?? "");
  return { status, headers, isUnframed: !isFramed };
}

function cutAfter(length: number): HostError {
  return new HostError("ECONNRESET", `the response ended after ${length} bytes`);
}

function flatHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  return flat;
}
