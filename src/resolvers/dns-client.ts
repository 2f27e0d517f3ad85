import type { BuildContext } from "../builder/build.ts";
import { Buffer } from "node:buffer";
import { randomInt } from "node:crypto";
import type { ProjectOptions } from "../builder/plan/build-options.ts";
import { openProject } from "../builder/plan/project.ts";
import { type Resolver, resolversOf } from "../config/resolvers.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf, someOf } from "../diagnostics/text.ts";
import { type Exchange, type Host, HostError } from "../host/host.ts";

/** How long each attempt may take, over UDP and over a connection. */
export interface ClientLimits {
  readonly datagramMs: readonly number[];
  readonly streamMs: number;
  /** Shared by the clients that ask at the same time. */
  readonly slots?: QuestionSlots | undefined;
}

/** More questions at once delay each other until they count as lost, and are asked again. */
const MOST_QUESTIONS = 200;

/** Limits how many questions are open at once. The time that a question waits for its turn does not count. */
export class QuestionSlots {
  private free = MOST_QUESTIONS;
  private readonly waiting: (() => void)[] = [];

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((go) => this.waiting.push(go));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}

export const CLIENT_LIMITS: ClientLimits = { datagramMs: [1000, 2000, 4000], streamMs: 5000 };

const LENGTH_BYTES = 2;
const IDS = 0x1_0000;

interface Question {
  readonly name: string;
  readonly type: RecordType;
  readonly codec: DnsCodec;
  readonly signal: AbortSignal | undefined;
}

/** Asks one resolver. */
export class DnsClient {
  /** How long each answer took, in milliseconds. */
  readonly times: number[] = [];
  private readonly resolver: Resolver;
  private readonly host: Host;
  private readonly limits: ClientLimits;

  constructor(resolver: Resolver, host: Host, limits: ClientLimits = CLIENT_LIMITS) {
    this.resolver = resolver;
    this.host = host;
    this.limits = limits;
  }

  /** `name` is in lower case. Rejects with a `HostError` if there is no valid answer in time. */
  async ask(name: string, type: RecordType, signal?: AbortSignal): Promise<DnsAnswer> {
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
    const { slots } = this.limits;
    const { host } = this;
    if (host.exchange === undefined) throw new HostError("ENOSYS", "no network");
    const send = async (): Promise<void> => {
      const began = host.now().getTime();
      await host.exchange!({ protocol, address, port, serverName, ...what });
      this.times.push(host.now().getTime() - began);
    };
    await (slots === undefined ? send() : slots.run(send));
  }
}

/** What a resolver can be asked for. */
export type RecordType = "A" | "AAAA" | "NS" | "SOA";

/** The parts of an answer that show whether a policy made it. */
export interface DnsAnswer {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED`, … */
  readonly rcode: string;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly addresses: readonly string[];
  /** Targets of the CNAME records, by owner, in lower case; absent without such records. */
  readonly aliases?: ReadonlyMap<string, string>;
  /** Name servers in the answer, in lower case; absent without any. */
  readonly servers?: readonly string[];
  /** Whether the answer has records other than addresses. */
  readonly hasOthers: boolean;
  /** The owner of the SOA record in the authority section, in lower case. */
  readonly soa: string | undefined;
  /** The same in the additional section, where policies put their zone. */
  readonly policySoa: string | undefined;
  /** Extended DNS Errors (RFC 8914). */
  readonly errors: readonly DnsError[];
}

/** Why an answer is what it is. The text is of the server, so it may contain anything. */
export interface DnsError {
  readonly code: number;
  readonly text: string;
}

/** Larger answers are rejected. An answer with addresses has a few hundred bytes. */
export const MAX_ANSWER_BYTES = 16_384;

const HEADER_BYTES = 12;
/** Of the third byte: an answer, the kind of question, and whether the answer was truncated. */
const RESPONSE = 0x80;
const OPCODE = 0x78;
const TRUNCATED = 0x02;
/** Where the header counts records. */
const RECORD_COUNTS = 6;
/** The size that passes every network unfragmented (RFC 9715). */
const UDP_BYTES = 1232;
const EXTENDED_ERROR = 15;

/** A question as it was sent. */
export interface Asked {
  readonly id: number;
  readonly name: string;
  readonly type: RecordType;
}

/** Writes questions and reads answers. */
export interface DnsCodec {
  bytesOf(asked: Asked): Uint8Array;
  /** Undefined if the bytes are malformed, or answer another question. */
  read(bytes: Uint8Array, asked: Asked): DnsAnswer | undefined;
}

/** Loads the library when a resolver is asked. */
export async function dnsCodec(): Promise<DnsCodec> {
  const { encode, decode } = (await import("dns-packet")).default;
  return {
    bytesOf: ({ id, name, type }) =>
      encode({
        type: "query",
        id,
        flags: 0x0100,
        questions: [{ name, type, class: "IN" }],
        additionals: [
          // Without the DO bit: a policy may leave answers alone that the client wants to validate.
          {
            type: "OPT",
            name: ".",
            udpPayloadSize: UDP_BYTES,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ],
      }),
    read(bytes, { id, name, type }) {
      if (bytes.length < HEADER_BYTES || bytes.length > MAX_ANSWER_BYTES) return undefined;
      const flags = bytes[2]!;
      if (((bytes[0]! << 8) | bytes[1]!) !== id) return undefined;
      if ((flags & RESPONSE) === 0 || (flags & OPCODE) !== 0) return undefined;
      const copy = Buffer.from(bytes);
      // The records may end anywhere.
      if ((flags & TRUNCATED) !== 0) copy.fill(0, RECORD_COUNTS, HEADER_BYTES);
      try {
        const packet = decode(copy);
        const [question, ...more] = packet.questions ?? [];
        const isSame = question?.name.toLowerCase() === name && question.type === type;
        return isSame && more.length === 0 ? answerOf(packet) : undefined;
      } catch {
        // The library throws for everything that it cannot read.
        return undefined;
      }
    },
  };
}

type Packet = ReturnType<(typeof import("dns-packet"))["decode"]>;
type Records = NonNullable<Packet["answers"]>;

function answerOf(packet: Packet): DnsAnswer {
  const { answers = [], authorities = [], additionals = [] } = packet;
  const addresses = answers.flatMap((one) =>
    one.type === "A" || one.type === "AAAA" ? one.data : [],
  );
  const aliases = answers.flatMap((one) =>
    one.type === "CNAME" ? [[one.name.toLowerCase(), one.data.toLowerCase()] as const] : [],
  );
  const servers = answers.flatMap((one) => (one.type === "NS" ? one.data.toLowerCase() : []));
  const options = additionals.flatMap((one) => (one.type === "OPT" ? one.options : []));
  return {
    rcode: (packet as unknown as { readonly rcode: string }).rcode,
    isAuthoritative: packet.flag_aa,
    isTruncated: packet.flag_tc,
    addresses,
    ...(aliases.length > 0 && { aliases: new Map(aliases) }),
    ...(servers.length > 0 && { servers }),
    hasOthers: addresses.length < answers.length,
    soa: soaIn(authorities),
    policySoa: soaIn(additionals),
    errors: options.flatMap((option) => {
      const { code, data } = option as { readonly code: unknown; readonly data?: Buffer };
      const isError = Number(code) === EXTENDED_ERROR && (data?.length ?? 0) >= 2;
      return isError ? { code: data!.readUInt16BE(0), text: data!.toString("utf8", 2) } : [];
    }),
  };
}

function soaIn(records: Records): string | undefined {
  return records.find(({ type }) => type === "SOA")?.name.toLowerCase();
}

/** Resolvers follow about as many. */
const LONGEST = 16;
const NAME = /^(?=.{1,253}$)[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/;

/** The names, each followed by those that it is an alias of, as a resolver says. */
export async function withAliases(
  names: readonly string[],
  resolver: string,
  { options, host, signal }: Pick<BuildContext, "options" | "host" | "signal">,
): Promise<string[]> {
  const found = await resolverNamed(resolver, options, host);
  const chains: string[] = [];
  for (const name of names) chains.push(...(await cnameChain(name, found, host, { signal })));
  return [...new Set(chains)];
}

/** The resolver of a configuration with this name. Rejects with a `CompilerError` if it does not exist. */
async function resolverNamed(name: string, options: ProjectOptions, host: Host): Promise<Resolver> {
  const { project } = await openProject({ ...options, filter: [] }, host);
  const resolvers = resolversOf(project.config);
  const found = resolvers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = resolvers.map((one) => one.name);
  throw new CompilerError([
    errorOf("no-resolvers", `No resolver has the name ${printable(name, 60)}`, {
      ...(names.length > 0 && { hint: `Resolvers: ${someOf(names)}` }),
      all: names,
    }),
  ]);
}

/**
 * A name and the names that it is an alias of, in order, as a resolver sees them. A resolver that blocks one of them may hide the
 * rest. Rejects with a `CompilerError` if the resolver does not answer.
 */
export async function cnameChain(
  name: string,
  resolver: Resolver,
  host: Host,
  how: { readonly signal?: AbortSignal; readonly limits?: ClientLimits } = {},
): Promise<string[]> {
  const client = new DnsClient(resolver, host, how.limits);
  const chain = [name];
  try {
    const { aliases = new Map<string, string>() } = await client.ask(name, "A", how.signal);
    for (let next = aliases.get(name); next !== undefined; next = aliases.get(next)) {
      // The answer is not trusted: names may repeat and contain any byte.
      if (chain.length === LONGEST || chain.includes(next) || !NAME.test(next)) break;
      chain.push(next);
    }
    return chain;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("resolver-unreachable", `${printable(resolver.name, 60)} does not answer`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
