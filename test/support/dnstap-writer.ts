import { Buffer } from "node:buffer";
import type { LoggedQuery } from "./query-logs.ts";

/** Files of dnstap, written from its protobuf schema and the description of frame streams, apart from the reader. */

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function bytesField(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function numberField(number: number, value: number): Buffer {
  return Buffer.from([...varint(number * 8), ...varint(value)]);
}

function fixedField(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return Buffer.concat([Buffer.from(varint(number * 8 + 5)), bytes]);
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A query for an address, with EDNS behind the question. */
function message(name: string, flags: number): Buffer {
  const labels = name
    .split(".")
    .flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]);
  const head = Buffer.from([0x12, 0x34, flags, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
  const opt = Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, 1, 0, 1]), opt]);
}

function groups(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function addressBytes(client: string): Buffer {
  if (!client.includes(":")) return Buffer.from(client.split(".").map(Number));
  const [head = "", tail = ""] = client.split("::");
  const [before, after] = [groups(head), groups(tail)];
  const middle = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from(
    [...before, ...middle, ...after].flatMap((group) => [group >> 8, group & 255]),
  );
}

/** A frame with a message of a type: 5 is a query of a client, 6 a response to it, 3 a query of the resolver. */
export function dnstapFrame({ name, client }: LoggedQuery, type: number): Buffer {
  const isResponse = type % 2 === 0;
  const inner = Buffer.concat([
    numberField(1, type),
    numberField(2, client.includes(":") ? 2 : 1),
    numberField(3, 1),
    bytesField(4, addressBytes(client)),
    numberField(6, 45_678),
    numberField(8, 1_794_856_651),
    fixedField(9, 123_456_789),
    bytesField(isResponse ? 14 : 10, message(name, isResponse ? 0x81 : 1)),
    bytesField(99, Buffer.from("from a later version")),
  ]);
  const frame = Buffer.concat([
    bytesField(1, Buffer.from("router")),
    bytesField(2, Buffer.from("a resolver 1.0")),
    bytesField(14, inner),
    numberField(15, 1),
  ]);
  return Buffer.concat([bigEndian(frame.length), frame]);
}

const CONTENT = Buffer.from("protobuf:dnstap.Dnstap");
const START = [0, 12 + CONTENT.length, 2, 1, CONTENT.length].map(bigEndian);
const STOP = [0, 4, 3].map(bigEndian);

/** A whole file. */
export function dnstapFile(frames: readonly Buffer[]): Buffer {
  return Buffer.concat([...START, CONTENT, ...frames, ...STOP]);
}
