import { encodeUtf8, isDigit, isIpv4 } from "../../../src/bytes/text.ts";
import type { NameOptions } from "../../../src/kernel/name-resolver.ts";
import { LONGEST_NAME } from "../../../src/kernel/names.ts";
import { type Chunk, Flag, Kind, hostOf, textOf, toBlockRule } from "../../../src/rules/chunk.ts";
import { Fate } from "../../../src/rules/fate.ts";

/** The first row that has a name. */
interface Name {
  readonly id: number;
  readonly isPlain: boolean;
  readonly isVerbatim: boolean;
  isWidened: boolean;
  survives: boolean | undefined;
}

/** The reference implementation of `NameResolver`: one map of all names. */
export class ReferenceNames {
  private readonly options: NameOptions;
  private readonly names = new Map<string, Name>();

  constructor(options: NameOptions) {
    this.options = options;
  }

  add(chunk: Chunk): void {
    for (let row = 0; row < chunk.length; row++) {
      const isOrdinary = (chunk.flags[row]! & Flag.Ordinary) !== 0;
      if (isOrdinary && chunk.fate[row] === Fate.Kept && chunk.kind[row] !== Kind.Block)
        toBlockRule(chunk, row);
      if (isName(chunk, row)) this.addRow(chunk, row);
    }
  }

  private addRow(chunk: Chunk, row: number): void {
    const host = hostOf(chunk, row);
    const flags = chunk.flags[row]!;
    const isWidened = (flags & Flag.Widened) !== 0;
    const known = this.names.get(host);
    if (known !== undefined) {
      if (!isWidened) known.isWidened = false;
      return;
    }
    const isVerbatim = textOf(chunk, row) !== `||${host}^`;
    const isLost = isVerbatim && this.options.losesByText?.(chunk, row) === true;
    const isPlain = (flags & Flag.PlainHost) !== 0;
    const survives = isLost ? false : undefined;
    this.names.set(host, { id: chunk.idOf(row), isPlain, isVerbatim, isWidened, survives });
  }

  apply(chunk: Chunk): void {
    for (let row = 0; row < chunk.length; row++) {
      if (!isName(chunk, row)) continue;
      const host = hostOf(chunk, row);
      const own = this.names.get(host)!;
      if (own.id !== chunk.idOf(row)) {
        chunk.dropFor(row, Fate.SameHost, own.id);
        continue;
      }
      if (!own.isWidened) chunk.flags[row]! &= ~Flag.Widened;
      const parent = isAddress(chunk, row) ? undefined : this.widestParent(host, own);
      if (parent !== undefined) chunk.dropFor(row, Fate.Covered, parent.id);
    }
  }

  /** From the right: the first parent met is the widest, and it is covered by nothing itself. */
  private widestParent(host: string, own: Name): Name | undefined {
    for (let dot = host.lastIndexOf(".", host.length - 2); dot !== -1;) {
      const parent = this.names.get(host.slice(dot + 1));
      if (parent !== undefined && this.mayCover(parent, own, host.slice(dot + 1))) return parent;
      dot = dot === 0 ? -1 : host.lastIndexOf(".", dot - 1);
    }
    return undefined;
  }

  private mayCover(parent: Name, own: Name, host: string): boolean {
    if (this.options.separatesWidened && parent.isWidened && !own.isWidened) return false;
    parent.survives ??= this.options.survives(encodeUtf8(host), parent.isPlain, parent.isVerbatim);
    return parent.survives;
  }
}

function isName(chunk: Chunk, row: number): boolean {
  if (chunk.fate[row] !== Fate.Kept || chunk.kind[row] !== Kind.Block) return false;
  return chunk.hostEnd[row]! - chunk.hostStart[row]! <= LONGEST_NAME;
}

function isAddress(chunk: Chunk, row: number): boolean {
  const bytes = chunk.bytesOf(row);
  const end = chunk.hostEnd[row]!;
  return isDigit(bytes[end - 1]!) && isIpv4(bytes, chunk.hostStart[row]!, end);
}
