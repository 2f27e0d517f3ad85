import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf } from "../rules/row-text.ts";
import { hostsLine, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { foldedName } from "../syntax/written-name.ts";

/** The names of a row that is not a rule, in lower-case ASCII. */
export function namesOfRow(chunk: Chunk, row: number): string[] {
  const names: string[] = [];
  const bytes = chunk.bytesOf(row);
  if (chunk.kind[row] !== Kind.Hosts || (chunk.flags[row]! & Flag.SeveralNames) === 0)
    names.push(hostOf(chunk, row));
  else if (readHostsLine(bytes, chunk.start[row]!, chunk.end[row]!))
    do names.push(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    while (nextName(bytes));
  return names.map(foldedName);
}
