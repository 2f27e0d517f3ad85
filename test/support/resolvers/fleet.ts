import { Buffer } from "node:buffer";
import { type Socket as UdpSocket, createSocket } from "node:dgram";
import { connect } from "node:net";

const SOA = 6;
const IXFR = 251;
const NOTIFY_OPCODE = 4;
/** Serial, refresh, retry, expire and minimum end the data of an SOA record. */
const SOA_TAIL_BYTES = 20;
/** What a real secondary waits before it asks again. */
const RETRY_MS = 5000;
const ASK_AGAIN_MS = 2000;
const SILENT_MS = 30_000;

/** A secondary that keeps nothing but its serial: it asks after a NOTIFY, and fetches the difference. */
interface Secondary {
  readonly socket: UdpSocket;
  readonly primary: number;
  serial: number;
  isFetching: boolean;
  isNotifiedAgain: boolean;
  /** When it had the last version. */
  updatedAt: number;
  asking: NodeJS.Timeout | undefined;
}

/** Thousands of secondaries on this machine, as a primary sees them. Their memory does not grow with the zone. */
export class Fleet {
  /** Transfers that a server refused or broke off. */
  refused = 0;
  /** Bytes of all transfers, and of the largest. */
  bytes = 0;
  largest = 0;
  transfers = 0;
  readonly problems: Set<string> = new Set();
  private readonly secondaries: Secondary[] = [];
  private readonly zone: Buffer;

  private constructor(zone: string) {
    this.zone = nameBytes(zone);
  }

  /** `primaries` are the ports that they ask, in turn; of the first `primaries.length` slices of the fleet. */
  static async start(
    zone: string,
    count: number,
    primaryOf: (index: number) => number,
  ): Promise<Fleet> {
    const fleet = new Fleet(zone);
    for (let index = 0; index < count; index++) {
      const socket = createSocket("udp4");
      const secondary = {
        socket,
        primary: primaryOf(index),
        serial: 0,
        isFetching: false,
        isNotifiedAgain: false,
        updatedAt: 0,
        asking: undefined,
      };
      socket.on("message", (bytes, from) => fleet.heard(secondary, bytes, from.port));
      socket.on("error", (error) => fleet.problems.add(String(error)));
      await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
      fleet.secondaries.push(secondary);
    }
    return fleet;
  }

  get ports(): number[] {
    return this.secondaries.map(({ socket }) => socket.address().port);
  }

  /** All of them have this version, so that they ask for the difference to the next. */
  know(serial: number): void {
    for (const one of this.secondaries) one.serial = serial;
  }

  /** How many have this version. */
  at(serial: number): number {
    return this.secondaries.filter((one) => one.serial === serial).length;
  }

  /** When each had its last version. */
  get times(): number[] {
    return this.secondaries.map(({ updatedAt }) => updatedAt).toSorted((a, b) => a - b);
  }

  close(): void {
    for (const { socket, asking } of this.secondaries) {
      clearInterval(asking);
      socket.close();
    }
  }

  private heard(secondary: Secondary, bytes: Buffer, port: number): void {
    const isAnswer = (bytes[2]! & 0x80) !== 0;
    if (isAnswer) {
      // To the question for the SOA record.
      const soa = firstSoa(bytes);
      clearInterval(secondary.asking);
      if (soa !== undefined && isNewer(soa.serial, secondary.serial)) this.fetch(secondary);
      return;
    }
    if (((bytes[2]! >> 3) & 15) !== NOTIFY_OPCODE) return;
    const reply = Buffer.from(bytes);
    reply[2] = bytes[2]! | 0x84;
    secondary.socket.send(reply.subarray(0, 12 + this.zone.length + 4), port, "127.0.0.1");
    this.ask(secondary);
  }

  /** A datagram may get lost. */
  private ask(secondary: Secondary): void {
    const send = (): void =>
      secondary.socket.send(this.question(SOA), secondary.primary, "127.0.0.1");
    clearInterval(secondary.asking);
    secondary.asking = setInterval(send, ASK_AGAIN_MS).unref();
    send();
  }

  private question(type: number): Buffer {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(Math.floor(Math.random() * 0x1_0000), 0);
    head.writeUInt16BE(1, 4);
    return Buffer.concat([head, this.zone, Buffer.from([0, type, 0, 1])]);
  }

  private fetch(secondary: Secondary): void {
    if (secondary.isFetching) {
      secondary.isNotifiedAgain = true;
      return;
    }
    secondary.isFetching = true;
    const end = (serial: number | undefined, bytes: number): void => {
      secondary.isFetching = false;
      if (serial === undefined) {
        this.refused++;
        setTimeout(() => this.fetch(secondary), RETRY_MS).unref();
        return;
      }
      this.transfers++;
      this.bytes += bytes;
      this.largest = Math.max(this.largest, bytes);
      Object.assign(secondary, { serial, updatedAt: performance.now() });
      if (!secondary.isNotifiedAgain) return;
      secondary.isNotifiedAgain = false;
      this.ask(secondary);
    };
    const request = this.question(IXFR);
    request.writeUInt16BE(1, 8);
    const soa = Buffer.alloc(12 + SOA_TAIL_BYTES);
    // The name of the question, type SOA, class IN, no time to live, two names of the root, and the serial.
    soa.writeUInt16BE(0xc00c, 0);
    soa.writeUInt16BE(SOA, 2);
    soa.writeUInt16BE(1, 4);
    const owner = Buffer.concat([soa.subarray(0, 10), Buffer.alloc(2), soa.subarray(12)]);
    owner.writeUInt16BE(2 + SOA_TAIL_BYTES, 10);
    const data = Buffer.alloc(2 + SOA_TAIL_BYTES);
    data.writeUInt32BE(secondary.serial, 2);
    const message = Buffer.concat([request, owner.subarray(0, 12), data]);
    transfer(secondary.primary, message, this.problems, end);
  }
}

/** Fetches a zone or a difference, and counts. It ends at the third SOA record of the new version, of a whole zone at the second. */
// oxlint-disable-next-line max-params -- one transfer
function transfer(
  port: number,
  message: Buffer,
  problems: Set<string>,
  end: (serial: number | undefined, bytes: number) => void,
): void {
  const socket = connect({ port, host: "127.0.0.1" });
  let held: Buffer = Buffer.alloc(0);
  let bytes = 0;
  let serial: number | undefined;
  let tail: Buffer = Buffer.alloc(0);
  let missing = 3;
  let isOver = false;
  const over = (found: number | undefined, problem = ""): void => {
    if (isOver) return;
    isOver = true;
    if (problem !== "") problems.add(problem);
    socket.destroy();
    end(found, bytes);
  };
  const take = (answer: Buffer): void => {
    if (isOver) return;
    const code = answer[3]! & 15;
    if (code !== 0) return over(undefined, `answered with code ${code}`);
    if (serial === undefined) {
      const first = firstSoa(answer);
      if (first === undefined) return over(undefined, "begins without an SOA record");
      ({ serial, tail } = first);
      missing = first.isWhole ? 2 : 3;
    }
    for (let at = answer.indexOf(tail); at !== -1; at = answer.indexOf(tail, at + 1)) missing--;
    if (missing <= 0) over(serial);
  };
  socket.setTimeout(SILENT_MS, () => over(undefined, "silent"));
  socket.on("error", (error) => over(undefined, String(error)));
  socket.on("close", () => over(undefined, "closed early"));
  socket.on("connect", () => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length, 0);
    socket.write(Buffer.concat([length, message]));
  });
  socket.on("data", (piece: Buffer) => {
    bytes += piece.length;
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    while (held.length > 2 && held.length >= 2 + held.readUInt16BE(0)) {
      const next = 2 + held.readUInt16BE(0);
      take(held.subarray(2, next));
      held = held.subarray(next);
    }
  });
}

/** The SOA record that begins the answers, and whether a record of the whole zone follows. */
function firstSoa(answer: Buffer): { serial: number; tail: Buffer; isWhole: boolean } | undefined {
  let at = 12;
  for (let left = answer.readUInt16BE(4); left > 0; left--) at = afterName(answer, at) + 4;
  if (answer.readUInt16BE(6) === 0) return undefined;
  at = afterName(answer, at);
  if (answer.readUInt16BE(at) !== SOA) return undefined;
  const next = at + 10 + answer.readUInt16BE(at + 8);
  const tail = Buffer.from(answer.subarray(next - SOA_TAIL_BYTES, next));
  const isWhole =
    answer.readUInt16BE(6) > 1 && answer.readUInt16BE(afterName(answer, next)) !== SOA;
  return { serial: tail.readUInt32BE(0), tail, isWhole };
}

function afterName(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const length = bytes[at]!;
    if (length >= 0xc0) return at + 2;
    if (length === 0) return at + 1;
    at += 1 + length;
  }
}

function nameBytes(name: string): Buffer {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([...labels, 0]);
}

/** RFC 1982. */
function isNewer(serial: number, than: number): boolean {
  return serial !== than && (serial - than) >>> 0 < 0x8000_0000;
}
