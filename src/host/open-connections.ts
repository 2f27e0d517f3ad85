import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientAddress } from "./client-address.ts";

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
