import { Buffer } from "node:buffer";
import { deflateRawSync } from "node:zlib";

export type Files = readonly (readonly [string, string | Uint8Array])[];

/** What a hostile archive changes in each file's entry, or at its end. */
export interface ZipChanges {
  readonly method?: number;
  readonly flags?: number;
  readonly flagsOf?: (name: string) => number;
  readonly methodOf?: (name: string) => number;
  readonly size?: number;
  readonly packedSize?: number;
  readonly crc?: number;
  readonly header?: number;
  readonly count?: number;
  readonly directory?: number;
  readonly directorySize?: number;
  readonly stored?: boolean;
}

/** Deno 2.0 has no `crc32` in `node:zlib`. */
function crc32(data: Uint8Array): number {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export function zip(files: Files, changes: ZipChanges = {}): Uint8Array {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [path, text] of files) {
    const name = Buffer.from(path);
    const data = Buffer.from(text);
    const packed = changes.stored === true ? data : deflateRawSync(data);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(changes.flags ?? changes.flagsOf?.(path) ?? 0, 8);
    entry.writeUInt16LE(
      changes.method ?? changes.methodOf?.(path) ?? (changes.stored === true ? 0 : 8),
      10,
    );
    entry.writeUInt32LE(changes.crc ?? crc32(data), 16);
    entry.writeUInt32LE(changes.packedSize ?? packed.length, 20);
    entry.writeUInt32LE(changes.size ?? data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(changes.header ?? at, 42);
    parts.push(local, name, packed);
    entries.push(entry, name);
    at += 30 + name.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(changes.count ?? files.length, 10);
  end.writeUInt32LE(changes.directorySize ?? directory.length, 12);
  end.writeUInt32LE(changes.directory ?? at, 16);
  return Buffer.concat([...parts, directory, end]);
}

export interface TarChanges {
  readonly type?: string;
  readonly size?: string;
  readonly sum?: string;
  readonly noEnd?: boolean;
}

export function tar(files: Files, changes: TarChanges = {}): Uint8Array {
  const parts: Buffer[] = [];
  for (const [path, text] of files) {
    const data = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(path.slice(0, 100), 0);
    header.write("0000644\0", 100);
    header.write(changes.size ?? `${data.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write(changes.type ?? "0", 156);
    header.write("ustar\0\x30\x30", 257);
    header.write("        ", 148);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(changes.sum ?? `${sum.toString(8).padStart(6, "0")}\0 `, 148);
    parts.push(header, data, Buffer.alloc((512 - (data.length % 512)) % 512));
  }
  return Buffer.concat([...parts, Buffer.alloc(changes.noEnd === true ? 0 : 1024)]);
}
