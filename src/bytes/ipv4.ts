import { DOT, isDigit } from "./ascii.ts";

/** Four decimal octets, each at most 255. Octets with leading zeros are decimal too, as in hosts files. */
export function isIpv4(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 7 || end - start > 15) return false;
  let octets = 1;
  let digits = 0;
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === DOT) {
      if (digits === 0 || octets === 4) return false;
      octets++;
      digits = 0;
      value = 0;
    } else if (isDigit(byte) && digits < 3) {
      digits++;
      value = value * 10 + byte - 48;
      if (value > 255) return false;
    } else {
      return false;
    }
  }
  return octets === 4 && digits > 0;
}
