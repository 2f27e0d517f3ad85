import { Buffer } from "node:buffer";
import { type Socket, createSocket } from "node:dgram";

/** What a resolver made of a question. */
export type Said = "blocked" | "passed" | "listed" | "failed" | "silent";

/** The address that the server behind the resolvers has for every name. */
export const UPSTREAM_ADDRESS = "192.0.2.80";
const UPSTREAM = Buffer.from([192, 0, 2, 80]);
/** What rbldnsd has for what is listed. */
const LISTED = Buffer.from([127, 0, 0, 2]);
const WAIT_MS = 1500;
const TRIES = 4;

function question(id: number, name: string): Buffer {
  const labels = name.split(".");
  const bytes = Buffer.alloc(12 + name.length + 2 + 4);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(0x0100, 2);
  bytes.writeUInt16BE(1, 4);
  let at = 12;
  for (const label of labels) {
    bytes[at++] = label.length;
    at += bytes.write(label, at, "latin1");
  }
  bytes.writeUInt16BE(1, at + 1);
  bytes.writeUInt16BE(1, at + 3);
  return bytes;
}

/** Anything but the address of the server behind it means that the name is blocked. */
function meaning(answer: Buffer): Said {
  const count = answer.readUInt16BE(6);
  const isServerFailure = (answer[3]! & 15) === 2;
  if (isServerFailure) return "failed";
  if (count > 0 && answer.includes(LISTED, 12)) return "listed";
  return count > 0 && answer.includes(UPSTREAM, 12) ? "passed" : "blocked";
}

/** A way to ask over UDP. */
export interface Protocol<T = Said> {
  question(id: number, name: string): Buffer;
  idOf(answer: Buffer): number;
  meaning(answer: Buffer): T;
}

/** A server of the zone itself has a record for what is blocked, and none for anything else. */
export const ZONE: Protocol = {
  question,
  idOf: (answer) => answer.readUInt16BE(0),
  meaning: (answer) => (answer.readUInt16BE(6) > 0 ? "blocked" : "passed"),
};

const DNS: Protocol = { question, meaning, idOf: (answer) => answer.readUInt16BE(0) };

/** Asks a server on this machine about many names at a time. */
export async function askAll(
  port: number,
  names: readonly string[],
  atOnce = 64,
  protocol: Protocol = DNS,
): Promise<Said[]> {
  return await askWith(protocol, port, names, atOnce);
}

/** What a server on this machine makes of many questions. */
export async function askWith<T>(
  protocol: Protocol<T>,
  port: number,
  names: readonly string[],
  atOnce: number,
): Promise<(T | "silent")[]> {
  const answers: (T | "silent")[] = Array.from({ length: names.length }, () => "silent" as const);
  const socket = createSocket({ type: "udp4", recvBufferSize: 4_000_000 });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  const waiting = new Map<number, { index: number; tries: number; due: number }>();
  let next = 0;
  let nextId = 0;
  await new Promise<void>((done) => {
    const send = (index: number, tries: number): void => {
      do nextId = (nextId + 1) & 0xffff;
      while (waiting.has(nextId));
      waiting.set(nextId, { index, tries, due: Date.now() + WAIT_MS });
      socket.send(protocol.question(nextId, names[index]!), port, "127.0.0.1");
    };
    const more = (): void => {
      while (waiting.size < atOnce && next < names.length) send(next++, 1);
      if (waiting.size === 0) {
        clearInterval(timer);
        socket.close();
        done();
      }
    };
    const timer = setInterval(() => {
      const now = Date.now();
      for (const [id, { index, tries, due }] of waiting) {
        if (due > now) continue;
        waiting.delete(id);
        if (tries < TRIES) send(index, tries + 1);
      }
      more();
    }, 100);
    socket.on("message", (answer) => {
      const id = protocol.idOf(answer);
      const asked = waiting.get(id);
      if (asked === undefined) return;
      waiting.delete(id);
      answers[asked.index] = protocol.meaning(answer);
      more();
    });
    more();
  });
  return answers;
}

/** A server behind the resolvers: it has the same address for every name. */
export async function startUpstream(): Promise<{ port: number; close(): void }> {
  const socket: Socket = createSocket({ type: "udp4", recvBufferSize: 4_000_000 });
  socket.on("message", (asked, { port, address }) => {
    const isAddress = asked.readUInt16BE(asked.indexOf(0, 12) + 1) === 1;
    const end = asked.indexOf(0, 12) + 5;
    const head = Buffer.from(asked.subarray(0, end));
    head.writeUInt16BE(0x8580, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(isAddress ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...UPSTREAM]);
    socket.send(isAddress ? Buffer.concat([head, record]) : head, port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  return { port: socket.address().port, close: () => socket.close() };
}
