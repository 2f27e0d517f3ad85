import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import dns from "node:dns";
import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { connect, isIP } from "node:net";
import { type Duplex, Readable, pipeline } from "node:stream";
import tls from "node:tls";
import { connect as connectTls } from "node:tls";
import {
  type Exchange,
  type FetchRequest,
  type FetchResponse,
  type Host,
  HostError,
  joinBytes,
  toHostError,
} from "./host.ts";
import { bareHost, isPublicAddress, literalAddress } from "./network.ts";

/**
 * One exchange over node:http(s). Not the runtime's `fetch`: that accepts a gzip body which was cut short, differs between
 * runtimes in proxies and encodings, and has no option for the connect timeout or for the addresses of a name.
 */
export async function fetchOnce(request: FetchRequest): Promise<FetchResponse> {
  const url = new URL(request.url);
  return await withinLimits(request, async (clock, signal) => {
    if (request.onlyPublic) refusePrivateName(url.hostname);
    clock.connecting();
    return await fetchDirectly(request, url, clock, signal);
  });
}

async function fetchDirectly(
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
  announce(headers, request);
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

function announce(headers: Readonly<Record<string, string>>, { expect }: FetchRequest): void {
  const bytes = Number(headers["content-length"] ?? 0);
  if (bytes > 0) expect?.(bytes);
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

/** Runs an exchange within its time limits. Rejects with a `HostError` that names the limit or the failure. */
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

/** The time limits of one exchange, one per phase; `expired` is called once, when a limit is exceeded. */
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

/** Names of this machine or its network, whatever they resolve to. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)\.?$/i;

/** Checks the address without resolving it. Names are checked again when they are resolved. */
export function refusePrivateName(hostname: string): void {
  const literal = literalAddress(hostname);
  if (literal === undefined ? LOCAL_NAME.test(hostname) : !isPublicAddress(literal))
    throw notPublic(literal ?? hostname);
}

type LookupDone = (
  error: Error | null,
  address: string | dns.LookupAddress[],
  family?: number,
) => void;

/** Resolves a name for a connection, and rejects it if any of its addresses is not public. */
export function publicLookup(
  hostname: string,
  options: dns.LookupOptions,
  found: LookupDone,
): void {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, []);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused !== undefined)
      return found(notPublic(`${hostname} is ${refused.address}, which`), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return found(null, addresses);
    return found(null, first.address, first.family);
  });
}

function notPublic(what: string): HostError {
  return new HostError("EPRIVATE", `${what} is not a public IP address`);
}

/** Opens a tunnel through the proxy, and TLS to the server inside it. */
export async function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Duplex> {
  const target = `${url.hostname}:${url.port || "443"}`;
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const client = proxy.protocol === "https:" ? https : http;
    const asking = client.request({
      ...addressOf(proxy),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...credentialsOf(proxy) },
      agent: false,
      signal,
    });
    asking.on("error", reject);
    asking.on("response", ({ statusCode }) => reject(refusal(statusCode)));
    asking.on("connect", ({ statusCode }, connection: Duplex) => {
      if (statusCode === 200) resolve(connection);
      else {
        connection.destroy();
        reject(refusal(statusCode));
      }
    });
    asking.end();
  });
  const servername = bareHost(url.hostname);
  return await new Promise((resolve, reject) => {
    const secure = tls.connect({
      socket,
      ALPNProtocols: ["http/1.1"],
      // A name is checked against the certificate; an address may not be sent as one.
      ...(/^[\d.:]+$/.test(servername) ? { host: servername } : { servername }),
    });
    const stopped = new HostError("ECONNRESET", "the proxy closed the tunnel");
    secure.once("secureConnect", () => resolve(secure));
    secure.once("error", reject);
    secure.once("close", () => reject(stopped));
    signal.addEventListener(
      "abort",
      () => {
        secure.destroy();
        reject(stopped);
      },
      { once: true },
    );
  });
}

/** A plain HTTP request sends the complete address to the proxy. */
export function forwardRequest(
  proxy: URL,
  url: URL,
  options: https.RequestOptions,
): http.RequestOptions {
  const bare = new URL(url);
  bare.username = bare.password = "";
  const credentials = url.username === "" ? {} : { authorization: `Basic ${basic(url)}` };
  return {
    ...options,
    ...addressOf(proxy),
    path: bare.href,
    headers: { host: url.host, ...options.headers, ...credentials, ...credentialsOf(proxy) },
  };
}

function addressOf(proxy: URL): http.RequestOptions {
  const isSecure = proxy.protocol === "https:";
  return {
    protocol: proxy.protocol,
    host: bareHost(proxy.hostname),
    port: Number(proxy.port) || (isSecure ? 443 : 80),
  };
}

function credentialsOf(proxy: URL): Record<string, string> {
  return proxy.username === "" ? {} : { "proxy-authorization": `Basic ${basic(proxy)}` };
}

function basic({ username, password }: URL): string {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return Buffer.from(pair).toString("base64");
}

function refusal(status: number | undefined): HostError {
  if (status === 407) return new HostError("EPROXY", "the proxy rejected the credentials");
  return new HostError("EPROXY", `the proxy responded with status ${status ?? "none"}`);
}

/**
 * The same exchange with the global `fetch`, for Deno before 2.9: its node:http ends the whole process if a body is
 * truncated. Deno's `fetch` unpacks the body strictly and reads the proxy from the environment. Names are resolved twice,
 * for the check and for the connection, because `fetch` does not accept an address.
 */
export async function webFetchOnce(request: FetchRequest): Promise<FetchResponse> {
  return await withinLimits(request, async (clock, signal) => {
    clock.asking();
    if (request.onlyPublic) await refusePrivateHost(new URL(request.url).hostname, request);
    const response = await fetch(request.url, {
      method: request.method ?? "GET",
      headers: { ...request.headers },
      ...(request.body && { body: await wholeBody(request.body) }),
      redirect: "manual",
      signal,
    });
    clock.receiving();
    const headers: Record<string, string> = {};
    for (const [name, value] of response.headers)
      if (name !== "content-encoding") headers[name] = value;
    if (response.status !== 200 && request.takesAnyStatus !== true) {
      await response.body?.cancel();
      return { status: response.status, headers };
    }
    let length = 0;
    // The pieces are decoded, so their bytes differ from those that are announced.
    if (!response.headers.has("content-encoding")) announce(headers, request);
    for await (const piece of response.body ?? []) {
      clock.receiving();
      length += piece.length;
      if (length > request.maxBytes)
        throw new HostError("EFBIG", `the response is larger than ${request.maxBytes} bytes`);
      request.take(piece);
    }
    return { status: response.status, headers };
  });
}

/** Deno 2.0 sends an iterable without its length, which stores reject. */
async function wholeBody(
  body: NonNullable<FetchRequest["body"]>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body instanceof Uint8Array) return body.slice();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece.slice());
    length += piece.length;
  }
  return joinBytes(pieces, length).slice();
}

async function refusePrivateHost(hostname: string, { proxy }: FetchRequest): Promise<void> {
  refusePrivateName(hostname);
  if (proxy !== undefined) return;
  await new Promise<void>((resolve, reject) => {
    publicLookup(bareHost(hostname), {}, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** One exchange whose body is small enough to be kept. Rejects with a `HostError`. */
export async function fetchBody(
  request: Omit<FetchRequest, "take">,
  host: Host,
): Promise<FetchResponse & { readonly body: Uint8Array }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const response = await host.fetch({
    ...request,
    take(piece) {
      pieces.push(piece.slice());
      length += piece.length;
    },
  });
  return { ...response, body: joinBytes(pieces, length) };
}

/** A transport that is open: how to close it. */
type Close = () => void;

/** Sends one message over UDP, TCP or TLS. */
export async function exchangeOnce(exchange: Exchange): Promise<void> {
  const { address, timeoutMs, signal } = exchange;
  if (signal?.aborted === true) throw new HostError("ECANCELED", "stopped");
  let close: Close | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown): void => reject(toHostError(error));
      timer = setTimeout(() => fail(new HostError("ETIMEDOUT", "no answer in time")), timeoutMs);
      stop = () => fail(new HostError("ECANCELED", "stopped"));
      signal?.addEventListener("abort", stop);
      // A name may take as long as the time limit, or for ever.
      ipOf(address)
        .then((ip) => {
          const open = exchange.protocol === "udp" ? openDatagrams : openStream;
          close = open(exchange, ip, { resolve, reject: fail });
        })
        .catch(fail);
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop!);
    close?.();
  }
}

async function ipOf(address: string): Promise<string> {
  return isIP(address) === 0 ? (await lookup(address)).address : address;
}

interface Settle {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

function receiveExchange(exchange: Exchange, piece: Uint8Array, { resolve, reject }: Settle): void {
  try {
    if (exchange.take(piece)) resolve();
  } catch (error) {
    reject(error);
  }
}

/** A socket of its own for each message, with a port that the system chooses at random. */
function openDatagrams(exchange: Exchange, ip: string, { resolve, reject }: Settle): Close {
  const { port, message } = exchange;
  const socket = createSocket(isIP(ip) === 6 ? "udp6" : "udp4");
  socket.on("error", reject);
  socket.on("message", (piece) => receiveExchange(exchange, piece, { resolve, reject }));
  // Connected, so that the system drops datagrams from any other address or port.
  socket.connect(port, ip, () => {
    socket.send(message, (error) => {
      if (error !== null) reject(error);
    });
  });
  return () => {
    try {
      socket.close();
    } catch {
      // It did not open.
    }
  };
}

function openStream(exchange: Exchange, ip: string, { resolve, reject }: Settle): Close {
  const { protocol, address, port, serverName, message } = exchange;
  const send = (): void => void socket.write(message);
  const name = serverName ?? address;
  const socket =
    protocol === "tcp"
      ? connect(port, ip, send)
      : connectTls(
          {
            host: ip,
            port,
            ALPNProtocols: ["dot"],
            // The certificate of an address without a name must be for that address.
            ...(isIP(name) === 0 && { servername: name }),
          },
          send,
        );
  socket.setNoDelay(true);
  socket.on("error", reject);
  socket.on("data", (piece) => receiveExchange(exchange, piece, { resolve, reject }));
  socket.on("close", () => reject(new HostError("ECONNRESET", "closed without an answer")));
  return () => void socket.destroy();
}
