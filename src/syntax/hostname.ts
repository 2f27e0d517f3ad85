import { DOT, HYPHEN, isAlphanumeric } from "../bytes/ascii.ts";

/** How a slice reads as a domain name. */
export const DomainShape = {
  No: 0,
  /** Labels of 1–63 letters, digits and inner hyphens (RFC 1123 §2.1), at least two of them, 255 bytes at the most */
  Plain: 1,
  /** The same with a final dot; one label is enough then (`org.`) */
  FinalDot: 2,
} as const;

/** Judges a slice that holds only letters, digits, dots and hyphens. */
export function domainShape(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > 255 || end === start) return DomainShape.No;
  let labelStart = start;
  let hasDot = false;
  for (let at = start; at < end; at++) {
    if (bytes[at] !== DOT) continue;
    if (!isLabel(bytes, labelStart, at)) return DomainShape.No;
    hasDot = true;
    labelStart = at + 1;
  }
  if (labelStart === end) return hasDot ? DomainShape.FinalDot : DomainShape.No;
  return hasDot && isLabel(bytes, labelStart, end) ? DomainShape.Plain : DomainShape.No;
}

function isLabel(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  return length > 0 && length < 64 && bytes[start] !== HYPHEN && bytes[end - 1] !== HYPHEN;
}

/** Whether every byte may stand in the host of `||host^`: letters, digits, dots, hyphens. */
export function isSimpleHost(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (!isAlphanumeric(byte) && byte !== DOT && byte !== HYPHEN) return false;
  }
  return end > start;
}
