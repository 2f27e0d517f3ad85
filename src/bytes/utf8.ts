import * as buffer from "node:buffer";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes a slice. Short ASCII text, the usual case for a rule, does not need the decoder. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (end - start < 48) {
    let text = "";
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte >= 128) return decoder.decode(bytes.subarray(start, end));
      text += String.fromCharCode(byte);
    }
    return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}

/** Whether the bytes are valid UTF-8. Uses the platform's check if available; Deno 2.0 has none. */
export function isValidUtf8(bytes: Uint8Array): boolean {
  if (typeof buffer.isUtf8 === "function") return buffer.isUtf8(bytes);
  const strict = new TextDecoder("utf-8", { fatal: true });
  try {
    // In steps, so that a large list never becomes one large string.
    for (let at = 0; at < bytes.length; at += 65_536)
      strict.decode(bytes.subarray(at, at + 65_536), { stream: true });
    strict.decode();
    return true;
  } catch {
    return false;
  }
}

/** Whether all bytes are ASCII. Uses the platform's check if available. */
export function isAscii(bytes: Uint8Array): boolean {
  if (typeof buffer.isAscii === "function") return buffer.isAscii(bytes);
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! >= 128) return false;
  return true;
}

/** The bytes with invalid UTF-8 replaced by U+FFFD. */
export function repairUtf8(bytes: Uint8Array): Uint8Array {
  return encodeUtf8(decoder.decode(bytes));
}
