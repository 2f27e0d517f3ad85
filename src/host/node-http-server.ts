import http from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  type Answerer,
  type ListenAddress,
  type Listening,
  type OnError,
  type WebReply,
  toHostError,
} from "./host.ts";

/** Limits how many waiting tasks continue per turn of the event loop, first come, first served. */
export class LoopThrottle {
  private readonly most: number;
  private readonly waiting: (() => void)[] = [];
  private isDue = false;

  constructor(most: number) {
    this.most = most;
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.plan();
    });
  }

  private plan(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      for (const resolve of this.waiting.splice(0, this.most)) resolve();
      if (this.waiting.length > 0) this.plan();
    });
  }
}

const HEAD_MS = 10_000;
const CLOSE_MS = 1000;
/** Larger bodies are written in parts. One write is a third faster for 700 kB. */
const WHOLE = 1024 * 1024;
/** Small enough to measure how fast the client reads. */
const PART = 256 * 1024;
/**
 * The number of parts written per turn of the event loop. The system buffers megabytes for a new client without a pause, and a
 * turn accepts one connection: without a limit, hundreds of clients would delay a new one by seconds.
 */
const writing = new LoopThrottle(2);

/** node:http with limits, so that slow, silent or greedy clients do not block others. */
export async function listenHttp(
  place: ListenAddress,
  answer: Answerer,
  onError: OnError,
): Promise<Listening> {
  const server = http.createServer({
    headersTimeout: HEAD_MS,
    requestTimeout: 2 * HEAD_MS,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 5000,
    maxHeaderSize: 16 * 1024,
  });
  const open = new OpenConnections(place.connectionsPerClient, (request, response) =>
    respondTo(request, response, { answer, onError }),
  );
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    feedParser(socket);
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) =>
    open.take(request, response),
  );
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  server.once("close", () => open.close());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(toHostError(error)));
    server.listen({ port: place.port, host: place.address }, resolve);
  });
  const { port, address } = server.address() as AddressInfo;
  return { port, address, close: () => close(server) };
}

function close(server: http.Server): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(patience);
      resolve();
    });
    server.closeIdleConnections();
  });
}

interface Answering {
  readonly answer: Answerer;
  readonly onError: OnError;
}

function respondTo(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, onError }: Answering,
): void {
  const reply = (ready: WebReply): void => send(request, response, ready, onError);
  // Node takes the first one, a proxy in front may take the last.
  if (hostLines(request) > 1) return reply(TWO_HOSTS);
  const fail = (error: unknown): void => {
    onError(error);
    if (response.headersSent) response.destroy();
    else reply(INTERNAL_ERROR);
  };
  try {
    const { method = "", url: target = "", socket } = request;
    const headers = request.headers as Record<string, string | undefined>;
    const answered = answer({ method, target, headers, address: socket.remoteAddress ?? "" });
    // Most responses are ready at once; awaiting each would cost a tenth of the requests per second.
    if (answered instanceof Promise) answered.then(reply).catch(fail);
    else reply(answered);
  } catch (error) {
    fail(error);
  }
}

function hostLines({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") count++;
  return count;
}

const TWO_HOSTS: WebReply = {
  status: 400,
  headers: { "content-type": "text/plain", connection: "close" },
  body: "two Host lines\n",
};

const INTERNAL_ERROR: WebReply = {
  status: 500,
  headers: { "content-type": "text/plain" },
  body: "internal error\n",
};

function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: WebReply,
  onError: OnError,
): void {
  const { status, headers, body } = reply;
  response.writeHead(status, headers);
  if (request.method === "HEAD") response.end();
  else if (typeof body === "string") response.end(body);
  else if (body instanceof Uint8Array && body.length <= WHOLE) response.end(body);
  else {
    const pieces = body instanceof Uint8Array ? partsOf(body) : body;
    sendPieces(pieces, response).catch((error: unknown) => {
      // Of a client that has gone, nothing needs to be known.
      if (!response.destroyed) onError(error);
      // The file cannot be read: end the connection, so that the body is known to be incomplete.
      response.destroy();
    });
  }
}

function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PART) yield bytes.subarray(at, at + PART);
}

async function sendPieces(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  response: ServerResponse,
): Promise<void> {
  let last: Uint8Array | undefined;
  for await (const piece of pieces) {
    if (last !== undefined) {
      if (response.destroyed) return;
      if (!response.write(last)) await drained(response);
      await writing.next();
    }
    last = piece;
  }
  response.end(last);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    function done(): void {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    }
    response.on("drain", done);
    response.on("close", done);
  });
}

/** One or two requests; the parser creates objects for all its input, even if the connection is closed. */
const PARSER_BYTES = 1024;

/**
 * Passes the input of a client to the HTTP parser in small parts, and nothing after the connection is closed. Otherwise 64 kB
 * of pipelined requests create 2,400 pairs of objects in 40 ms, even if the second request closes the connection.
 */
export function feedParser(socket: Socket): void {
  // The listener of the parser. Some runtimes have none.
  const parse = socket.listeners("data")[0];
  if (parse === undefined) return;
  socket.off("data", parse as (piece: Uint8Array) => void);
  socket.on("data", (piece: Uint8Array) => {
    for (let at = 0; at < piece.length && !socket.destroyed; at += PARSER_BYTES)
      parse.call(socket, piece.subarray(at, at + PARSER_BYTES));
  });
}

/** Systems usually allow 1,024 open files, and lists are files too. */
const MOST_OPEN = 512;
/** Pipelined requests that may wait on one connection. Clients usually send one at a time. */
const MOST_WAITING = 8;
/** Connections that may be about to send their first request. Older ones without a request are the first to be closed. */
const NEWCOMERS = 32;
/** The interval at which the speed of clients is measured. */
const LOOK_MS = 1000;
/** A client that reads faster than this is never closed for others. */
const READS_BYTES_PER_S = 16_384;
/** A client that reads nothing for this long has gone; longer if a large write is under way, which is measured as a whole. */
const SILENCE_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 4;
/** The weight of one second in the measured speed. */
const WEIGHT = 0.2;

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

interface Connection {
  readonly socket: Socket;
  readonly client: string;
  /** When it was opened, or when its current response started. */
  since: number;
  /** The response that was started last. */
  response: ServerResponse | undefined;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  /** Bytes that the client had read at the last measurement; undefined if the current response is younger. */
  taken: number | undefined;
  /** Bytes per second; undefined before the second measurement, because the system takes much of a response at once. */
  speed: number | undefined;
  silentSince: number;
}

/**
 * The connections of a server, oldest first. Requests of a connection are answered one at a time, every client is limited
 * to its share, and if there are too many connections, one is closed that reads nothing.
 */
export class OpenConnections {
  private readonly open = new Map<Socket, Connection>();
  private readonly clients = new Map<string, Set<Connection>>();
  private readonly perClient: number;
  private readonly respond: Respond;
  private readonly looking: ReturnType<typeof setInterval>;

  constructor(perClient: number, respond: Respond) {
    this.perClient = perClient;
    this.respond = respond;
    // Not `server.timeout`: a timer per request costs a tenth of the requests per second.
    this.looking = setInterval(() => this.look(), LOOK_MS);
    this.looking.unref?.();
  }

  add(socket: Socket): void {
    const client = clientAddress(socket.remoteAddress ?? "");
    const since = performance.now();
    const connection: Connection = {
      socket,
      client,
      since,
      response: undefined,
      waiting: [],
      taken: undefined,
      speed: undefined,
      silentSince: since,
    };
    this.open.set(socket, connection);
    const held = this.clients.get(client) ?? new Set();
    this.clients.set(client, held.add(connection));
    socket.once("close", () => this.remove(connection));
    if (held.size > this.perClient) end(firstToGo(held));
    else if (this.open.size > MOST_OPEN) end(firstToGo(this.open.values()));
  }

  /** Answers a request once the previous response is complete. */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (request.socket.destroyed) return;
    const connection = this.open.get(request.socket);
    // Deno 2.0 does not report connections, so they cannot be limited there.
    if (connection === undefined) return this.respond(request, response);
    if (!isBusy(connection)) return this.answer(connection, request, response);
    const { waiting } = connection;
    if (waiting.length >= MOST_WAITING) return end(connection);
    waiting.push([request, response]);
    if (waiting.length === 1) this.answerAfter(connection);
  }

  close(): void {
    clearInterval(this.looking);
  }

  private answer(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.response = response;
    connection.taken = undefined;
    connection.speed = undefined;
    connection.since = performance.now();
    this.respond(request, response);
  }

  private answerAfter(connection: Connection): void {
    connection.response!.once("close", () => {
      const next = connection.waiting.shift();
      if (next === undefined || connection.socket.destroyed) return;
      this.answer(connection, ...next);
      if (connection.waiting.length > 0) this.answerAfter(connection);
    });
  }

  private remove(connection: Connection): void {
    const { socket, client, waiting } = connection;
    this.open.delete(socket);
    waiting.length = 0;
    const held = this.clients.get(client)!;
    held.delete(connection);
    if (held.size === 0) this.clients.delete(client);
  }

  /** Measures clients, and closes connections whose clients have gone. */
  private look(): void {
    const now = performance.now();
    for (const connection of this.open.values()) {
      if (!isBusy(connection)) {
        connection.taken = undefined;
        continue;
      }
      const { socket, taken } = connection;
      const bytes = socket.bytesWritten - socket.writableLength;
      if (taken !== undefined) {
        connection.speed ??= bytes - taken;
        connection.speed += WEIGHT * (bytes - taken - connection.speed);
      }
      if (taken === undefined || bytes !== taken) connection.silentSince = now;
      else if (
        now - connection.silentSince >
        SILENCE_MS + socket.writableLength / SLOWEST_BYTES_PER_MS
      )
        end(connection);
      connection.taken = bytes;
    }
  }
}

/**
 * The connection to close if there are too many; they come oldest first. First those without a request, except the newest, whose
 * request may be under way; then those that wait for another request; then the slowest reader; then the newest response,
 * which is not measured yet. A client that reads is never closed.
 */
function firstToGo(connections: Iterable<Connection>): Connection | undefined {
  let unasked = 0;
  let silent: Connection | undefined;
  let idle: Connection | undefined;
  let slow: Connection | undefined;
  let young: Connection | undefined;
  for (const connection of connections) {
    const { socket, response, since, speed } = connection;
    if (socket.destroyed) continue;
    if (response === undefined) {
      unasked++;
      silent ??= connection;
    } else if (!isBusy(connection)) {
      if (idle === undefined || since < idle.since) idle = connection;
    } else if (speed === undefined) {
      if (young === undefined || since > young.since) young = connection;
    } else if (speed < (slow?.speed ?? READS_BYTES_PER_S)) slow = connection;
  }
  return unasked > NEWCOMERS ? silent : (idle ?? slow ?? young ?? silent);
}

function isBusy({ response }: Connection): boolean {
  return response !== undefined && !response.writableFinished;
}

/**
 * Resets a connection during a response if the runtime can: one that is merely closed keeps its unread data in memory. After a
 * response, the client may still be reading the end of it.
 */
function end(connection: Connection | undefined): void {
  if (connection === undefined) return;
  const { socket } = connection;
  if (!isBusy(connection)) return void socket.destroy();
  const { resetAndDestroy } = Object(socket) as { resetAndDestroy?: unknown };
  if (resetAndDestroy === undefined) socket.destroy();
  else socket.resetAndDestroy();
}

/** The client that an address belongs to. IPv6 assigns whole networks, so a /64 is one client. */
export function clientAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%")[0]!.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length));
  const groups = [...first, ...zeros.fill("0"), ...last];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
