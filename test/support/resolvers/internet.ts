import { createSocket } from "node:dgram";
import dnsPacket, { type Packet, type SoaAnswer } from "dns-packet";

/** Where a test finds the rest of the world. */
export interface Internet {
  readonly port: number;
  /** Whether it answers nothing. */
  isSilent: boolean;
  /** Addresses of names that have another one. */
  readonly addresses: Map<string, string>;
  close(): void;
}

function soa(name: string): SoaAnswer {
  return {
    type: "SOA",
    name,
    ttl: 86_400,
    data: {
      mname: "a.root-servers.net",
      rname: "hostmaster.example",
      serial: 1,
      refresh: 1800,
      retry: 900,
      expire: 604_800,
      minimum: 86_400,
    },
  };
}

/**
 * A server behind the resolvers, like a forwarder to the real one: names below `example`, and those with a label `dead`, do not
 * exist and get the SOA record of the zone above; all others have one address.
 */
export async function startInternet(): Promise<Internet> {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4_000_000 });
  const addresses = new Map<string, string>();
  const internet = { port: 0, isSilent: false, addresses, close: () => void socket.close() };
  socket.on("message", (bytes, { port, address }) => {
    if (internet.isSilent) return;
    const { id, questions = [] } = dnsPacket.decode(bytes);
    const [{ name, type } = { name: "", type: "A" as const }] = questions;
    const labels = name.toLowerCase().split(".");
    const data = addresses.get(name.toLowerCase()) ?? "192.0.2.80";
    const isThere = labels.at(-1) !== "example" && !labels.includes("dead");
    const answer: Packet = {
      type: "response",
      id: id ?? 0,
      flags: isThere ? 0x0180 : 0x0183,
      questions,
      answers: isThere && type === "A" ? [{ type: "A", name, ttl: 60, data }] : [],
      authorities: isThere && type === "A" ? [] : [soa(isThere ? labels.slice(-2).join(".") : ".")],
    };
    socket.send(dnsPacket.encode(answer), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  internet.port = socket.address().port;
  return internet;
}
