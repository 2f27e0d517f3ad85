import { randomInt } from "node:crypto";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";

const TIMEOUT_MS = 3000;
const IDS = 0x1_0000;
const HEADER_BYTES = 12;
const SOA = 6;
const IN = 1;
/** Type, class, TTL and length of a record. */
const RECORD_BYTES = 10;
const POINTER = 0xc0;

/** The serial of a zone on its primary, `192.0.2.1#5353`; undefined if it does not answer, or has no such zone. */
export async function primarySerial(
  primary: string,
  zone: string,
  host: Host,
): Promise<number | undefined> {
  if (host.exchange === undefined) return undefined;
  const [address = "", port = "53"] = primary.split("#");
  const id = randomInt(IDS);
  let answer: Uint8Array = new Uint8Array(0);
  const take = (piece: Uint8Array): boolean => {
    const joined = new Uint8Array(answer.length + piece.length);
    joined.set(answer);
    joined.set(piece, answer.length);
    answer = joined;
    return answer.length >= 2 && answer.length >= 2 + ((answer[0]! << 8) | answer[1]!);
  };
  try {
    const message = questionFor(zone, id);
    const to = { protocol: "tcp", address, port: Number(port) } as const;
    await host.exchange({ ...to, message, timeoutMs: TIMEOUT_MS, take });
    return serialIn(new DataView(answer.buffer, 2), id);
  } catch (error) {
    if (error instanceof HostError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A question as it is sent over a connection, with its length. */
function questionFor(zone: string, id: number): Uint8Array {
  const labels = zone.split(".").filter((label) => label !== "");
  const name = labels.flatMap((label) => [label.length, ...encodeUtf8(label)]);
  const bytes = [id >> 8, id & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, SOA, 0, IN];
  return Uint8Array.from([bytes.length >> 8, bytes.length & 255, ...bytes]);
}

/** Throws a `RangeError` if the message is cut. */
function serialIn(message: DataView, id: number): number | undefined {
  const isGood = message.getUint16(0) === id && (message.getUint8(3) & 15) === 0;
  if (!isGood || message.getUint8(2) < 128) return undefined;
  let at = HEADER_BYTES;
  for (let left = message.getUint16(4); left > 0; left--) at = afterName(message, at) + 4;
  for (let left = message.getUint16(6); left > 0; left--) {
    const data = afterName(message, at) + RECORD_BYTES;
    if (message.getUint16(data - RECORD_BYTES) === SOA)
      return message.getUint32(afterName(message, afterName(message, data)));
    at = data + message.getUint16(data - 2);
  }
  return undefined;
}

/** The offset behind a name, which may end with a pointer. */
function afterName(message: DataView, start: number): number {
  for (let at = start; ;) {
    const length = message.getUint8(at);
    if (length >= POINTER) return at + 2;
    if (length === 0) return at + 1;
    at += length + 1;
  }
}
