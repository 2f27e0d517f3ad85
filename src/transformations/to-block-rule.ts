import { Class, lowerByte } from "../bytes/ascii.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import { hostOf, textOf, toBlockRule } from "../rules/row-text.ts";
import { pointAtHost } from "../syntax/classify.ts";
import { commentedDomainEnd } from "../syntax/commented-domain.ts";
import { host, readHost } from "../syntax/read-host.ts";
import { hostsLine, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { isLocalName, mayBeLocalName } from "../syntax/local-names.ts";
import type { TransformationContext } from "./transformation-context.ts";

/** A hosts line with several names, and the current position in it. */
interface HostsHead {
  readonly bytes: Uint8Array;
  nameEnd: number;
  readonly namesEnd: number;
}

/** Turns hosts lines into one row per name. The scanner reserved rows for the further names. */
export class HostsSplitter {
  private readonly context: TransformationContext;
  /** The line whose further names go into the next spare rows. */
  private head: HostsHead | undefined;

  constructor(context: TransformationContext) {
    this.context = context;
  }

  split(chunk: Chunk, row: number): void {
    this.head = undefined;
    const flags = chunk.flags[row]!;
    if (chunk.hostStart[row] === chunk.hostEnd[row]) {
      this.context.warn("no-name", chunk, row);
      chunk.drop(row, Fate.NoName);
      return;
    }
    if ((flags & Flag.SeveralNames) !== 0) {
      // Spare rows are missing only if another transformation produced the hosts line. Then it stays.
      if (spareRowsAfter(chunk, row) < countFurtherNames(chunk, row)) return;
      const { namesEnd } = hostsLine;
      this.head = headOf(chunk, row, namesEnd);
    }
    if ((flags & Flag.RealAddress) !== 0 && blocksName(chunk, row))
      this.context.warn("real-address", chunk, row);
    this.become(chunk, row);
  }

  /** Gives a spare row the next name of the line above. */
  fill(chunk: Chunk, row: number): void {
    const { head } = this;
    if (head === undefined) return;
    const { bytes } = head;
    hostsLine.nameEnd = head.nameEnd;
    hostsLine.namesEnd = head.namesEnd;
    if (!nextName(bytes)) return;
    head.nameEnd = hostsLine.nameEnd;
    let start = hostsLine.nameStart;
    let end = hostsLine.nameEnd;
    if (bytes !== chunk.bytes) {
      start = chunk.rewritten.append(bytes, start, end);
      end = start + hostsLine.nameEnd - hostsLine.nameStart;
      chunk.flags[row]! |= Flag.Rewritten;
    }
    chunk.start[row] = start;
    chunk.end[row] = end;
    chunk.fate[row] = Fate.Kept;
    pointAtHost(chunk, row, start, end);
    if ((host.mask & Class.NonAscii) !== 0) {
      chunk.flags[row]! |= Flag.NonAscii;
      chunk.has.nonAscii = true;
    }
    this.become(chunk, row);
  }

  private become(chunk: Chunk, row: number): void {
    if (hasLocalName(chunk, row)) chunk.drop(row, Fate.LocalName);
    toBlockRule(chunk, row);
  }

  /**
   * `ads.example # note` is not a rule as written, and a validator drops it. If a validator follows, or the source's type
   * implies names, the name is used.
   */
  readCommentedDomain(chunk: Chunk, row: number): void {
    if (this.context.validator === undefined && !chunk.hashComments) return;
    const end = commentedDomainEnd(chunk, row);
    if (end === -1) return;
    const start = chunk.start[row]!;
    pointAtHost(chunk, row, start, end);
    toBlockRule(chunk, row);
  }

  /** Lower-cases the name, the key of everything that follows. The text of a rule in adblock syntax does not change. */
  foldHost(chunk: Chunk, row: number): void {
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    const isVerbatim = (chunk.flags[row]! & Flag.AsBlock) === 0;
    if (isVerbatim) {
      const at = chunk.rewritten.append(bytes, chunk.start[row]!, chunk.end[row]!);
      chunk.end[row] = at + chunk.end[row]! - chunk.start[row]!;
      chunk.start[row] = at;
    }
    const at = chunk.rewritten.append(bytes, start, end);
    const folded = chunk.rewritten.bytes;
    for (let i = at; i < at + end - start; i++) folded[i] = lowerByte(folded[i]!);
    chunk.hostStart[row] = at;
    chunk.hostEnd[row] = at + end - start;
    readHost(folded, at, at + end - start);
    chunk.hostHash[row] = host.hash;
    chunk.hostPart[row] = host.part;
    const flags = chunk.flags[row]! | Flag.Rewritten;
    chunk.flags[row] = isVerbatim ? flags : flags & ~Flag.UpperHost;
  }
}

function hasLocalName(chunk: Chunk, row: number): boolean {
  const start = chunk.hostStart[row]!;
  const length = chunk.hostEnd[row]! - start;
  return mayBeLocalName(chunk.bytesOf(row)[start]!, length) && isLocalName(hostOf(chunk, row));
}

/** Whether a hosts line has a name that is not local. */
function blocksName(chunk: Chunk, row: number): boolean {
  if (!hasLocalName(chunk, row)) return true;
  return filterNames(textOf(chunk, row), (name) => !isLocalName(name)) !== undefined;
}

/** Copies the line if its names continue in the next chunk, when this one may be in a scratch file. */
function headOf(chunk: Chunk, row: number, namesEnd: number): HostsHead {
  const bytes = chunk.bytesOf(row);
  const nameEnd = chunk.hostEnd[row]!;
  if (continuedEnd(chunk, row) < chunk.length || chunk.spareBeyond === 0)
    return { bytes, nameEnd, namesEnd };
  const start = chunk.start[row]!;
  return {
    bytes: bytes.slice(start, namesEnd),
    nameEnd: nameEnd - start,
    namesEnd: namesEnd - start,
  };
}

/** How many rows are reserved for further names of a hosts line. */
export function spareRowsAfter(chunk: Chunk, row: number): number {
  const end = continuedEnd(chunk, row);
  return end - row - 1 + (end === chunk.length ? chunk.spareBeyond : 0);
}

/** The first row below that is not for another name of the same line. */
function continuedEnd(chunk: Chunk, row: number): number {
  let at = row + 1;
  while (at < chunk.length && (chunk.flags[at]! & Flag.Continued) !== 0) at++;
  return at;
}

function countFurtherNames(chunk: Chunk, row: number): number {
  const bytes = chunk.bytesOf(row);
  readHostsLine(bytes, chunk.start[row]!, chunk.end[row]!);
  let count = 0;
  while (nextName(bytes)) count++;
  return count;
}
