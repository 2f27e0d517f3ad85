import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { Scratch } from "../host/host.ts";
import type { NameBlocks } from "./name-blocks.ts";
import { NameBuffer } from "./name-buffer.ts";
import type { RuleSlice } from "./rule-places.ts";

/** How many rules in a row each source owns: a source, a number of rules, the next source, and so on. */
export interface OwnerRuns {
  readonly names: readonly number[];
  readonly specials: readonly number[];
  readonly covered: readonly number[];
}

/** A rule, and the source whose line is in the list. */
export interface ListedRule extends RuleSlice {
  readonly source: number;
}

/** The source that owns a rule. */
export type OwnerOf = (rule: ListedRule) => number;

/** Names of one owner that are added at once, because a block has only one source. */
const PIECE = 65_536;

/** The same rules with their owners as sources, and the owners. The names of an owner stay in order. */
export function ownedNames(
  from: NameBuffer,
  ownerOf: OwnerOf | OwnerRuns,
  openScratch: () => Scratch,
): { readonly owned: NameBuffer; readonly runs: OwnerRuns } {
  const owned = new NameBuffer(openScratch, false);
  const ownersOf = (key: keyof OwnerRuns): OwnerOf =>
    typeof ownerOf === "function" ? ownerOf : fromRuns(ownerOf[key]);
  const specials = new Runs(ownersOf("specials"));
  for (const { text, source } of from.specials) {
    const bytes = encodeUtf8(text);
    const rule = { bytes, start: 0, end: bytes.length, isName: false, source };
    owned.specials.push({ text, source: specials.of(rule) });
  }
  const names = new Runs(ownersOf("names"));
  copyNames(from.names, owned.names, names);
  const covered = new Runs(ownersOf("covered"));
  copyNames(from.covered, owned.covered, covered);
  const runs = { names: names.runs, specials: specials.runs, covered: covered.runs };
  return { owned, runs };
}

function copyNames(from: NameBlocks, to: NameBlocks, owners: Runs): void {
  const pieces = new Map<number, ByteBuffer>();
  for (const { source, load, length } of from.all()) {
    const bytes = load();
    const rule = { bytes, start: 0, end: 0, isName: true, source };
    while (rule.start < length) {
      rule.end = bytes.indexOf(LF, rule.start);
      const owner = owners.of(rule);
      let piece = pieces.get(owner);
      if (piece === undefined) pieces.set(owner, (piece = new ByteBuffer()));
      piece.append(bytes, rule.start, rule.end + 1);
      rule.start = rule.end + 1;
      if (piece.length < PIECE) continue;
      addPiece(piece, owner, to);
      piece.length = 0;
    }
  }
  for (const [owner, piece] of pieces) addPiece(piece, owner, to);
}

function addPiece(piece: ByteBuffer, owner: number, to: NameBlocks): void {
  const names = piece.view();
  to.addAll(names, countLineFeeds(names, 0, names.length), owner);
}

/** Records the owners of rules. */
class Runs {
  readonly runs: number[] = [];
  private readonly ownerOf: OwnerOf;

  constructor(ownerOf: OwnerOf) {
    this.ownerOf = ownerOf;
  }

  of(rule: ListedRule): number {
    const { runs } = this;
    const owner = this.ownerOf(rule);
    if (runs.at(-2) === owner) runs[runs.length - 1]!++;
    else runs.push(owner, 1);
    return owner;
  }
}

/** Repeats recorded owners. After the last, a rule belongs to its source. */
function fromRuns(runs: readonly number[]): OwnerOf {
  let at = 0;
  let left = runs[1] ?? 0;
  return ({ source }) => {
    while (left === 0 && at < runs.length) left = runs[(at += 2) + 1] ?? 0;
    if (at >= runs.length) return source;
    left--;
    return runs[at]!;
  };
}
