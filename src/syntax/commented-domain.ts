import { HASH, UNDERSCORE, isAlphanumeric } from "../bytes/ascii.ts";
import { blankAt, skipBlanks } from "../bytes/blank.ts";
import type { Chunk } from "../rules/chunk.ts";
import { isIpv4 } from "../bytes/ipv4.ts";
import { isUnderscoreName } from "./listed-name.ts";
import { DomainShape, host, readHost } from "./read-host.ts";

/** Where the domain of `domain # note` ends, or -1 if the row has another form. */
export function commentedDomainEnd(chunk: Chunk, row: number): number {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (start === end || !(isAlphanumeric(bytes[start]!) || bytes[start] === UNDERSCORE)) return -1;
  let nameEnd = start;
  while (nameEnd < end && blankAt(bytes, nameEnd, end) === 0) nameEnd++;
  const next = skipBlanks(bytes, nameEnd, end);
  if (next === nameEnd || next === end || bytes[next] !== HASH) return -1;
  if (isIpv4(bytes, start, nameEnd)) return -1;
  readHost(bytes, start, nameEnd);
  const isName = host.shape === DomainShape.Plain || isUnderscoreName(bytes, start, nameEnd);
  return isName ? nameEnd : -1;
}
