import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  type Answerer,
  type ListenPlace,
  type Listening,
  type WebReply,
  toHostError,
} from "./host.ts";

/** One connection more, and the oldest that has nothing to wait for goes. Systems allow 1,024 files as a rule. */
const MOST_OPEN = 512;
const HEAD_MS = 10_000;
/** A reader that takes nothing from one look to the next has left. */
const LOOK_MS = 30_000;
const CLOSE_MS = 1000;

/** node:http as it is, made hard to hold up: whoever opens connections and says nothing gets no room from others. */
export async function listenHttp(place: ListenPlace, answer: Answerer): Promise<Listening> {
  const server = http.createServer({
    headersTimeout: HEAD_MS,
    requestTimeout: 2 * HEAD_MS,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 5000,
    maxHeaderSize: 16 * 1024,
  });
  // Connections in the order they came, each with the answer it was given last.
  const open = new Map<Socket, ServerResponse | undefined>();
  const taken = new WeakMap<Socket, number>();
  server.on("connection", (socket: Socket) => {
    open.set(socket, undefined);
    socket.once("close", () => open.delete(socket));
    if (open.size > MOST_OPEN) makeRoom(open);
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    open.set(request.socket, response);
    respond(request, response, answer);
  });
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  // Not `server.timeout`: a timer for each request costs a tenth of them.
  const looking = setInterval(() => endStalled(open, taken), LOOK_MS);
  looking.unref?.();
  server.once("close", () => clearInterval(looking));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(toHostError(error)));
    server.listen({ port: place.port, host: place.address }, resolve);
  });
  const { port, address } = server.address() as AddressInfo;
  return { port, address, close: () => close(server) };
}

/** Ends connections whose readers took nothing since the last look. */
function endStalled(
  open: ReadonlyMap<Socket, ServerResponse | undefined>,
  taken: WeakMap<Socket, number>,
): void {
  for (const [socket, response] of open) {
    const isBusy = response !== undefined && !response.writableFinished;
    const bytes = socket.bytesWritten - socket.writableLength;
    if (isBusy && taken.get(socket) === bytes) socket.destroy();
    else taken.set(socket, isBusy ? bytes : -1);
  }
}

/** Ends the oldest connection that is not being answered; if all are, the oldest. */
function makeRoom(open: ReadonlyMap<Socket, ServerResponse | undefined>): void {
  let victim: Socket | undefined;
  for (const [socket, response] of open) {
    victim ??= socket;
    if (response !== undefined && !response.writableFinished) continue;
    victim = socket;
    break;
  }
  victim?.destroy();
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
  try {
    const { method = "", url: target = "", socket } = request;
    const headers = request.headers as Record<string, string | undefined>;
    const reply = answer({ method, target, headers, address: socket.remoteAddress ?? "" });
    // Most answers are there at once; a promise for each would cost a tenth of all requests a second.
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

const INTERNAL_ERROR: WebReply = {
  status: 500,
  headers: { "content-type": "text/plain" },
  body: "internal error\n",
};

function send(request: IncomingMessage, response: ServerResponse, reply: WebReply): void {
  const { status, headers, body } = reply;
  response.writeHead(status, headers);
  if (request.method === "HEAD") response.end();
  else if (typeof body === "string" || body instanceof Uint8Array) response.end(body);
  // The reader left, or the file could not be read on: a body that ends early is seen to be none.
  else sendPieces(body, response).catch(() => response.destroy());
}

async function sendPieces(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
): Promise<void> {
  for await (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
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
