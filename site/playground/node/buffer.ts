/** As much of `node:buffer` as the engine uses. */

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
/** More arguments of a call may overflow the stack. */
const MOST_CODES = 8192;

type Text = "latin1" | "utf8" | "hex" | "base64";

export class Buffer extends Uint8Array<ArrayBuffer> {
  // An overload of Uint8Array.from, which has other parameters.
  static override from(source: unknown, second?: unknown, length?: unknown): Buffer {
    if (typeof source === "string") return viewOf(bytesOf(source, (second as Text) ?? "utf8"));
    if (source instanceof ArrayBuffer)
      return new Buffer(source, second as number | undefined, length as number | undefined);
    return viewOf(Uint8Array.from(source as ArrayLike<number>));
  }

  static alloc(size: number): Buffer {
    return viewOf(new Uint8Array(size));
  }

  static concat(parts: readonly Uint8Array[]): Buffer {
    const all = Buffer.alloc(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const length = Math.min(a.length, b.length);
    for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1;
    return Math.sign(a.length - b.length);
  }

  equals(other: Uint8Array): boolean {
    return Buffer.compare(this, other) === 0;
  }

  override indexOf(wanted: number | Uint8Array, from = 0): number {
    if (typeof wanted === "number") return super.indexOf(wanted, from);
    const [first] = wanted;
    if (first === undefined) return Math.min(from, this.length);
    const last = this.length - wanted.length;
    for (let at = super.indexOf(first, from); at !== -1; at = super.indexOf(first, at + 1)) {
      if (at > last) return -1;
      let same = 1;
      while (same < wanted.length && this[at + same] === wanted[same]) same++;
      if (same === wanted.length) return at;
    }
    return -1;
  }

  override toString(text: Text = "utf8", start = 0, end: number = this.length): string {
    const part = start === 0 && end === this.length ? this : this.subarray(start, end);
    if (text === "utf8") return utf8.decode(part);
    if (text === "hex")
      return Array.from(part, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return text === "latin1" ? latin1(part) : btoa(latin1(part));
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += MOST_CODES)
    text += String.fromCharCode(...bytes.subarray(at, at + MOST_CODES));
  return text;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return new Buffer(buffer, byteOffset, byteLength);
}

function bytesOf(source: string, text: Text): Uint8Array<ArrayBuffer> {
  if (text === "utf8") return encoder.encode(source);
  if (text === "hex")
    return Uint8Array.from(source.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const codes = text === "base64" ? atob(source) : source;
  return Uint8Array.from(codes, (one) => one.charCodeAt(0));
}
