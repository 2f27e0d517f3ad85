import { Buffer } from "node:buffer";
import { bufferOf } from "../bytes/search.ts";
import { HostError } from "../host/host.ts";
import { ProtobufFields } from "./protobuf-fields.ts";

/** A query in a dnstap file. Texts have one character per byte. */
export interface DnstapQuery {
  readonly name: string;
  readonly client: string;
}

/** What a Dnstap message, and the Message in it, call their fields. */
const MESSAGE = 14;
const Field = { Type: 1, ClientAddress: 4, Query: 10, Response: 14 } as const;
/** Messages between clients and the resolver. */
const CLIENT_QUERY = 5;
const CLIENT_RESPONSE = 6;

const CONTENT_TYPE = "protobuf:dnstap.Dnstap";
/** A message of DNS has at most 64 KiB, and a frame has at most two of them. */
const LONGEST_FRAME = 1024 * 1024;

/** Whether a file begins as a frame stream of dnstap does: with a control frame that names its content. */
export function isDnstap(block: Uint8Array): boolean {
  const head = bufferOf(block).subarray(0, 512);
  return head.length >= 12 && head.readUInt32BE(0) === 0 && head.includes(CONTENT_TYPE);
}

/**
 * Reads a file of frames, each of which has one message, block by block. Counts the queries of clients; the responses in files without
 * queries.
 */
export class DnstapFrames {
  private rest: Buffer = Buffer.alloc(0);
  /** Whether responses are counted; undefined until there is a query or response. */
  private countsResponses: boolean | undefined;
  private readonly byClient: boolean;

  constructor(byClient: boolean) {
    this.byClient = byClient;
  }

  get format(): string {
    return this.countsResponses === true ? "dnstap (responses)" : "dnstap";
  }

  /** The queries in the frames that end in the block. Throws a `HostError` for a damaged file. */
  take(block: Uint8Array): DnstapQuery[] {
    const bytes = this.rest.length === 0 ? bufferOf(block) : Buffer.concat([this.rest, block]);
    const queries: DnstapQuery[] = [];
    const responses: DnstapQuery[] = [];
    let at = 0;
    for (let end = frameEnd(bytes, 0); end !== -1; end = frameEnd(bytes, at)) {
      const message = messageIn(bytes, at, end);
      at = end;
      if (message === undefined) continue;
      const query = this.queryOf(message);
      if (query !== undefined) (message.isResponse ? responses : queries).push(query);
    }
    this.rest = Buffer.from(bytes.subarray(at));
    if (queries.length + responses.length > 0) this.countsResponses ??= queries.length === 0;
    return this.countsResponses === true ? responses : queries;
  }

  private queryOf({ text, client }: ClientMessage): DnstapQuery | undefined {
    const name = questionOf(text);
    if (name === undefined) return undefined;
    return { name, client: this.byClient ? addressText(client) : "" };
  }
}

/** The end of the frame at a position; -1 if it is not complete. */
function frameEnd(bytes: Buffer, at: number): number {
  if (at + 8 > bytes.length) return -1;
  const length = bytes.readUInt32BE(at);
  // A length of 0 announces a control frame, which has its own length.
  const whole = length === 0 ? 8 + bytes.readUInt32BE(at + 4) : 4 + length;
  if (whole > LONGEST_FRAME) throw new HostError("EBADMSG", "a frame is damaged");
  return at + whole > bytes.length ? -1 : at + whole;
}

interface ClientMessage {
  readonly isResponse: boolean;
  /** A message of DNS. */
  readonly text: Buffer;
  readonly client: Buffer;
}

const NOTHING: Buffer = Buffer.alloc(0);

/** The message between a client and the resolver in a frame; undefined for others, and for control frames. */
function messageIn(bytes: Buffer, start: number, end: number): ClientMessage | undefined {
  if (bytes.readUInt32BE(start) === 0) return undefined;
  const outer = new ProtobufFields(bytes, start + 4, end);
  while (outer.next()) {
    if (outer.number !== MESSAGE) continue;
    const inner = new ProtobufFields(bytes, outer.start, outer.end);
    let type = 0;
    let client = NOTHING;
    const texts: Record<number, Buffer> = {};
    while (inner.next())
      if (inner.number === Field.Type) type = inner.value;
      else if (inner.number === Field.ClientAddress)
        client = bytes.subarray(inner.start, inner.end);
      else if (inner.number === Field.Query || inner.number === Field.Response)
        texts[inner.number] = bytes.subarray(inner.start, inner.end);
    const text = texts[Field.Query] ?? texts[Field.Response];
    if (text === undefined || (type !== CLIENT_QUERY && type !== CLIENT_RESPONSE)) return undefined;
    return { isResponse: type === CLIENT_RESPONSE, text, client };
  }
  return undefined;
}

/** The name in the question of a message of DNS, as logs write it: a dot or backslash inside a label has a backslash before it. */
function questionOf(message: Buffer): string | undefined {
  if (message.length < 12 || message.readUInt16BE(4) === 0) return undefined;
  const labels: string[] = [];
  for (let at = 12; at < message.length && at < 12 + 255;) {
    const length = message[at]!;
    if (length === 0) return labels.join(".");
    // A name in a question is not compressed.
    if (length > 63 || at + 1 + length > message.length) return undefined;
    const label = message.toString("latin1", at + 1, at + 1 + length);
    labels.push(/[.\\]/.test(label) ? label.replaceAll(/[.\\]/g, String.raw`\$&`) : label);
    at += 1 + length;
  }
  return undefined;
}

function addressText(address: Buffer): string {
  if (address.length === 4) return address.join(".");
  if (address.length !== 16) return "";
  const groups = Array.from({ length: 8 }, (_, at) => address.readUInt16BE(at * 2).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
