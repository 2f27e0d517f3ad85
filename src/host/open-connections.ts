import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientAddress } from "./client-address.ts";

/** Systems usually allow 1,024 open files, and lists are files too. */
const MOST_OPEN = 512;
/** Pipelined requests that may wait on one connection. Clients usually send one at a time. */
const MOST_WAITING = 8;
/** The interval at which the speed of clients is measured. Younger connections have no speed yet. */
const LOOK_MS = 1000;
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
  /** Bytes per second. */
  speed: number;
  silentSince: number;
}

/**
 * The connections of a server, oldest first. Requests of a connection are answered one at a time, every client is limited
 * to its share, and if there are too many connections, the newest one is kept.
 */
export class OpenConnections {
  private readonly open = new Map<Socket, Connection>();
  private readonly clients = new Map<string, Set<Connection>>();
  /** Connections that can be closed, as of the last measurement; the first to be closed is last. */
  private expendable: Connection[] = [];
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
      speed: 0,
      silentSince: since,
    };
    this.open.set(socket, connection);
    const held = this.clients.get(client) ?? new Set();
    this.clients.set(client, held.add(connection));
    socket.once("close", () => this.remove(connection));
    if (held.size > this.perClient) end(firstToGo(expendableOf(held)) ?? firstOf(held));
    else if (this.open.size > MOST_OPEN)
      end(firstToGo(this.expendable) ?? firstOf(this.open.values()));
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
      if (taken === undefined) connection.speed = bytes;
      else connection.speed += WEIGHT * (bytes - taken - connection.speed);
      if (taken === undefined || bytes !== taken) connection.silentSince = now;
      else if (
        now - connection.silentSince >
        SILENCE_MS + socket.writableLength / SLOWEST_BYTES_PER_MS
      )
        end(connection);
      connection.taken = bytes;
    }
    this.expendable = this.open.size < MOST_OPEN / 2 ? [] : expendableOf(this.open.values());
  }
}

/** Measured connections in the order in which they can be closed, the first one last: idle ones, then the slowest. */
function expendableOf(connections: Iterable<Connection>): Connection[] {
  const now = performance.now();
  return [...connections]
    .filter(({ since }) => now - since >= LOOK_MS)
    .map((connection) => ({ connection, worth: isBusy(connection) ? connection.speed : -1 }))
    .toSorted((a, b) => b.worth - a.worth || b.connection.since - a.connection.since)
    .map(({ connection }) => connection);
}

/** Since the last measurement, the connection may have started another response. */
function firstToGo(expendable: Connection[]): Connection | undefined {
  const now = performance.now();
  for (let last = expendable.pop(); last !== undefined; last = expendable.pop())
    if (!last.socket.destroyed && now - last.since >= LOOK_MS) return last;
  return undefined;
}

/** The oldest connection. */
function firstOf(connections: Iterable<Connection>): Connection {
  for (const connection of connections) if (!connection.socket.destroyed) return connection;
  throw new RangeError("no connection is open");
}

function isBusy({ response }: Connection): boolean {
  return response !== undefined && !response.writableFinished;
}

/** Resets it if the runtime can: a connection that is merely closed keeps its unread data in memory. */
function end({ socket }: Connection): void {
  const { resetAndDestroy } = Object(socket) as { resetAndDestroy?: unknown };
  if (resetAndDestroy === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
