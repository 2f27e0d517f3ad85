import { Buffer } from "node:buffer";
import { withAncestors } from "./names.ts";

/** A constant database, read by its specification, slowly: https://cr.yp.to/cdb/cdb.txt */
export class CdbReader {
  private readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get(key: string): string | undefined {
    const { bytes } = this;
    const wanted = Buffer.from(key, "latin1");
    let hash = 5381n;
    for (const byte of wanted) hash = (((hash << 5n) + hash) & 0xffffffffn) ^ BigInt(byte);
    const table = Number(hash % 256n);
    const position = bytes.readUInt32LE(table * 8);
    const slots = bytes.readUInt32LE(table * 8 + 4);
    for (let step = 0; step < slots; step++) {
      const slot = (Number((hash / 256n) % BigInt(slots)) + step) % slots;
      const at = bytes.readUInt32LE(position + slot * 8 + 4);
      if (at === 0) return undefined;
      if (bytes.readUInt32LE(position + slot * 8) !== Number(hash)) continue;
      const keyEnd = at + 8 + bytes.readUInt32LE(at);
      if (!bytes.subarray(at + 8, keyEnd).equals(wanted)) continue;
      return bytes.toString("latin1", keyEnd, keyEnd + bytes.readUInt32LE(at + 4));
    }
    return undefined;
  }

  /** What the generated Lua file makes dnsdist find for a name. */
  valueOf(name: string): string | undefined {
    const keys = [name, ...withAncestors(name).map(wireName)];
    return keys.map((key) => this.get(key)).find((value) => value !== undefined);
  }

  /** Whether a list, counted from 0, blocks a name. */
  isBlocked(name: string, list = 0): boolean {
    const digit = Number.parseInt(this.valueOf(name)?.[Math.floor(list / 4)] ?? "0", 16);
    return ((digit >> (list % 4)) & 1) === 1;
  }
}

function wireName(name: string): string {
  const labels = name.split(".").map((label) => String.fromCharCode(label.length) + label);
  return `${labels.join("")}\0`;
}
