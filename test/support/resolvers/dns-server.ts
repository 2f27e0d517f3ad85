import { type Socket as UdpSocket, createSocket } from "node:dgram";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { TestContext } from "node:test";
import dnsPacket, { type DecodedPacket, type Packet } from "dns-packet";
import type { Resolver } from "../../../src/config/resolvers.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "./test-certificate.ts";

/** The bytes of an answer. */
export function answerTo(
  asked: Uint8Array,
  more: Packet & { readonly rcode?: number },
): Uint8Array {
  const { id, questions = [] } = decoded(asked);
  const { rcode = 0, ...fields } = more;
  return dnsPacket.encode({
    type: "response",
    id: id ?? 0,
    flags: 0x0180 | rcode,
    questions,
    ...fields,
  });
}

export function decoded(bytes: Uint8Array): DecodedPacket {
  return dnsPacket.decode(Buffer.from(bytes));
}

/** A resolver of the configuration on this machine. */
export function localResolver(
  protocol: Resolver["protocol"],
  port: number,
  more: Partial<Resolver> = {},
): Resolver {
  const base = { name: "it", address: "127.0.0.1", serverName: undefined, list: "List" };
  return { ...base, group: "", mayRollBack: false, protocol, port, ...more };
}

/** A real UDP socket that calls `answer` for each question. */
export async function udpServer(
  context: TestContext,
  answer: (
    asked: Uint8Array,
    reply: (bytes: Uint8Array) => void,
    from: { port: number },
    socket: UdpSocket,
  ) => void,
  port = 0,
): Promise<number> {
  const socket = createSocket("udp4");
  socket.on("message", (asked, from) => {
    answer(asked, (bytes) => socket.send(bytes, from.port, from.address), from, socket);
  });
  await new Promise<void>((bound) => socket.bind(port, "127.0.0.1", bound));
  context.after(() => void socket.close());
  return socket.address().port;
}

/** A real TCP or TLS server that calls `answer` for each whole question. */
export async function streamServer(
  context: TestContext,
  protocol: "tcp" | "tls",
  answer: (asked: Uint8Array, socket: Socket) => void,
  port = 0,
): Promise<number> {
  const open = (socket: Socket): void => {
    let bytes = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      if (bytes.length > 2 && bytes.length >= 2 + bytes.readUInt16BE(0))
        answer(bytes.subarray(2), socket);
    });
  };
  const server: Server =
    protocol === "tcp"
      ? createServer(open)
      : createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY, ALPNProtocols: ["dot"] }, open);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A message with its length before it. */
export function framed(bytes: Uint8Array): Uint8Array {
  const message = Buffer.alloc(2 + bytes.length);
  message.writeUInt16BE(bytes.length, 0);
  message.set(bytes, 2);
  return message;
}
