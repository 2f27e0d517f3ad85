import { randomInt } from "node:crypto";
import type { Resolver } from "../config/resolvers.ts";
import { type Exchange, type Host, HostError } from "../host/host.ts";
import {
  type AddressType,
  type DnsAnswer,
  type DnsCodec,
  MAX_ANSWER_BYTES,
  dnsCodec,
} from "./dns-message.ts";

/** How long each attempt may take, over UDP and over a connection. */
export interface ClientLimits {
  readonly datagramMs: readonly number[];
  readonly streamMs: number;
}

export const CLIENT_LIMITS: ClientLimits = { datagramMs: [1000, 2000, 4000], streamMs: 5000 };

const LENGTH_BYTES = 2;
const IDS = 0x1_0000;

interface Question {
  readonly name: string;
  readonly type: AddressType;
  readonly codec: DnsCodec;
  readonly signal: AbortSignal | undefined;
}

/** Asks one resolver. */
export class DnsClient {
  private readonly resolver: Resolver;
  private readonly host: Host;
  private readonly limits: ClientLimits;

  constructor(resolver: Resolver, host: Host, limits: ClientLimits = CLIENT_LIMITS) {
    this.resolver = resolver;
    this.host = host;
    this.limits = limits;
  }

  /** `name` is in lower case. Rejects with a `HostError` if there is no valid answer in time. */
  async ask(name: string, type: AddressType, signal?: AbortSignal): Promise<DnsAnswer> {
    const codec = await dnsCodec();
    const question = { name, type, codec, signal };
    if (this.resolver.protocol !== "udp") return await this.askStream(question);
    const answer = await this.askDatagrams(question);
    return answer.isTruncated ? await this.askStream(question) : answer;
  }

  /** Datagrams get lost, so the question is asked again, each time from another port and with another id. */
  private async askDatagrams({ codec, signal, ...question }: Question): Promise<DnsAnswer> {
    let last: unknown;
    for (const timeoutMs of this.limits.datagramMs) {
      const asked = { ...question, id: randomInt(IDS) };
      let answer: DnsAnswer | undefined;
      // Anything but the answer is dropped, and the answer still awaited.
      const take = (piece: Uint8Array): boolean =>
        (answer = codec.read(piece, asked)) !== undefined;
      try {
        await this.exchange("udp", { message: codec.bytesOf(asked), timeoutMs, signal, take });
        return answer!;
      } catch (error) {
        if (!(error instanceof HostError) || error.code !== "ETIMEDOUT") throw error;
        last = error;
      }
    }
    throw last;
  }

  private async askStream({ codec, signal, ...question }: Question): Promise<DnsAnswer> {
    const asked = { ...question, id: randomInt(IDS) };
    const bytes = codec.bytesOf(asked);
    const message = new Uint8Array(LENGTH_BYTES + bytes.length);
    new DataView(message.buffer).setUint16(0, bytes.length);
    message.set(bytes, LENGTH_BYTES);
    const buffer = new Uint8Array(LENGTH_BYTES + MAX_ANSWER_BYTES);
    let filled = 0;
    const end = (): number => LENGTH_BYTES + ((buffer[0]! << 8) | buffer[1]!);
    const take = (piece: Uint8Array): boolean => {
      const room = piece.subarray(0, buffer.length - filled);
      buffer.set(room, filled);
      filled += room.length;
      return filled >= LENGTH_BYTES && (filled >= end() || end() > buffer.length);
    };
    const { streamMs: timeoutMs } = this.limits;
    const protocol = this.resolver.protocol === "tls" ? "tls" : "tcp";
    await this.exchange(protocol, { message, timeoutMs, signal, take });
    const answer = codec.read(buffer.subarray(LENGTH_BYTES, end()), asked);
    if (answer !== undefined && end() <= buffer.length) return answer;
    throw new HostError("EPROTO", "the answer is malformed or belongs to another question");
  }

  private async exchange(
    protocol: Resolver["protocol"],
    what: Pick<Exchange, "message" | "timeoutMs" | "signal" | "take">,
  ): Promise<void> {
    const { address, port, serverName } = this.resolver;
    if (this.host.exchange === undefined) throw new HostError("ENOSYS", "no network");
    await this.host.exchange({ protocol, address, port, serverName, ...what });
  }
}
