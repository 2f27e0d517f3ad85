import { Buffer } from "node:buffer";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** What a text of a state file becomes. */
export type Change = (text: string) => string;

/** Every regular file below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** Changes every text in a file that the program wrote for later runs, whatever its form; returns how many texts changed. */
export function changeState(path: string, change: Change): number {
  const packed = readFileSync(path);
  const packing = /\.(zst|gz)$/.exec(path)?.[1];
  const plain =
    packing === "zst" ? zstdDecompressSync(packed) : packing === "gz" ? gunzipSync(packed) : packed;
  let changed = 0;
  const counted: Change = (text) => {
    const other = change(text);
    if (other !== text) changed++;
    return other;
  };
  const other = changedBytes(plain, counted);
  if (changed === 0 || other === undefined) return 0;
  const bytes =
    packing === "zst" ? zstdCompressSync(other) : packing === "gz" ? gzipSync(other) : other;
  writeFileSync(path, bytes);
  return changed;
}

/** JSON, lines of JSON, JSON before other bytes, or a record: JSON behind other bytes, and its length. */
function changedBytes(bytes: Buffer, change: Change): Buffer | undefined {
  const whole = changedJson(bytes.toString("utf8"), change);
  if (whole !== undefined) return Buffer.from(`${whole}\n`);
  const length = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  const start = bytes.length - 4 - length;
  const header =
    length > 1 && start >= 0
      ? changedJson(bytes.toString("utf8", start, bytes.length - 4), change)
      : undefined;
  if (header !== undefined) {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(Buffer.byteLength(header));
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(header), size]);
  }
  const end = bytes.indexOf(10);
  const first = end < 0 ? undefined : changedJson(bytes.toString("utf8", 0, end), change);
  if (first === undefined) return undefined;
  const rest = bytes.subarray(end + 1);
  const lines = rest.toString("utf8").split("\n");
  const others = lines.map((line) => (line === "" ? "" : changedJson(line, change)));
  const tail = others.includes(undefined) ? rest : Buffer.from(others.join("\n"));
  return Buffer.concat([Buffer.from(`${first}\n`), tail]);
}

function changedJson(text: string, change: Change): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    return JSON.stringify(value, (_key, one: unknown) =>
      typeof one === "string" ? change(one) : one,
    );
  } catch {
    return undefined;
  }
}
