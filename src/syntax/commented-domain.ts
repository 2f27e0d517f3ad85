import { HASH, isAlphanumeric } from "../bytes/ascii.ts";
import { blankAt, skipBlanks } from "../bytes/blank.ts";
import type { Chunk } from "../rules/chunk.ts";
import { DomainShape, domainShape, isSimpleHost } from "./hostname.ts";
import { isIpv4 } from "./ip.ts";

/** Where the domain of `domain # note` ends, or -1 when the row does not read so. */
export function commentedDomainEnd(chunk: Chunk, row: number): number {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (start === end || !isAlphanumeric(bytes[start]!)) return -1;
  let nameEnd = start;
  while (nameEnd < end && blankAt(bytes, nameEnd, end) === 0) nameEnd++;
  const next = skipBlanks(bytes, nameEnd, end);
  if (next === nameEnd || next === end || bytes[next] !== HASH) return -1;
  if (!isSimpleHost(bytes, start, nameEnd) || isIpv4(bytes, start, nameEnd)) return -1;
  return domainShape(bytes, start, nameEnd) === DomainShape.Plain ? nameEnd : -1;
}
