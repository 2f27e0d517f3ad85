import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { feedParser } from "./parser-feed.ts";
import { LoopThrottle } from "./loop-throttle.ts";
import {
  type Answerer,
  type ListenAddress,
  type Listening,
  type WebReply,
  toHostError,
} from "./host.ts";
import { OpenConnections } from "./open-connections.ts";

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
export async function listenHttp(place: ListenAddress, answer: Answerer): Promise<Listening> {
  const server = http.createServer({
    headersTimeout: HEAD_MS,
    requestTimeout: 2 * HEAD_MS,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 5000,
    maxHeaderSize: 16 * 1024,
  });
  const open = new OpenConnections(place.connectionsPerClient, (request, response) =>
    respond(request, response, answer),
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

function respond(request: IncomingMessage, response: ServerResponse, answer: Answerer): void {
  // Node takes the first one, a proxy in front may take the last.
  if (hostLines(request) > 1) return send(request, response, TWO_HOSTS);
  try {
    const { method = "", url: target = "", socket } = request;
    const headers = request.headers as Record<string, string | undefined>;
    const reply = answer({ method, target, headers, address: socket.remoteAddress ?? "" });
    // Most responses are ready at once; awaiting each would cost a tenth of the requests per second.
    if (reply instanceof Promise) {
      reply.then(
        (later) => send(request, response, later),
        () => send(request, response, INTERNAL_ERROR),
      );
    } else send(request, response, reply);
  } catch {
    send(request, response, INTERNAL_ERROR);
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

function send(request: IncomingMessage, response: ServerResponse, reply: WebReply): void {
  const { status, headers, body } = reply;
  response.writeHead(status, headers);
  if (request.method === "HEAD") response.end();
  else if (typeof body === "string") response.end(body);
  else if (body instanceof Uint8Array && body.length <= WHOLE) response.end(body);
  // The client has gone or the file cannot be read: end the connection, so that the body is known to be incomplete.
  else {
    const pieces = body instanceof Uint8Array ? partsOf(body) : body;
    sendPieces(pieces, response).catch(() => response.destroy());
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
