import { Buffer } from "node:buffer";

/** A type of address record. */
export type AddressType = "A" | "AAAA";

/** The parts of an answer that show whether a policy made it. */
export interface DnsAnswer {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED`, … */
  readonly rcode: string;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly addresses: readonly string[];
  /** Targets of the CNAME records, by owner, in lower case; absent without such records. */
  readonly aliases?: ReadonlyMap<string, string>;
  /** Whether the answer has records other than addresses. */
  readonly hasOthers: boolean;
  /** The owner of the SOA record in the authority section, in lower case. */
  readonly soa: string | undefined;
  /** The same in the additional section, where policies put their zone. */
  readonly policySoa: string | undefined;
  /** Codes of Extended DNS Errors (RFC 8914). */
  readonly errors: readonly number[];
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
  readonly type: AddressType;
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
  const options = additionals.flatMap((one) => (one.type === "OPT" ? one.options : []));
  return {
    rcode: (packet as unknown as { readonly rcode: string }).rcode,
    isAuthoritative: packet.flag_aa,
    isTruncated: packet.flag_tc,
    addresses,
    ...(aliases.length > 0 && { aliases: new Map(aliases) }),
    hasOthers: addresses.length < answers.length,
    soa: soaIn(authorities),
    policySoa: soaIn(additionals),
    errors: options.flatMap((option) => {
      const { code, data } = option as { readonly code: unknown; readonly data?: Buffer };
      const isError = Number(code) === EXTENDED_ERROR && (data?.length ?? 0) >= 2;
      return isError ? data!.readUInt16BE(0) : [];
    }),
  };
}

function soaIn(records: Records): string | undefined {
  return records.find(({ type }) => type === "SOA")?.name.toLowerCase();
}
