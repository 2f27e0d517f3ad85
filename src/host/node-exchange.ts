import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Exchange, HostError, toHostError } from "./host.ts";

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

function receive(exchange: Exchange, piece: Uint8Array, { resolve, reject }: Settle): void {
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
  socket.on("message", (piece) => receive(exchange, piece, { resolve, reject }));
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
  socket.on("data", (piece) => receive(exchange, piece, { resolve, reject }));
  socket.on("close", () => reject(new HostError("ECONNRESET", "closed without an answer")));
  return () => void socket.destroy();
}
