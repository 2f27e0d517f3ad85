import { ByteBuffer } from "../../bytes/byte-buffer.ts";
import { decodeUtf8, encodeUtf8 } from "../../bytes/utf8.ts";
import type { NewFile } from "../../host/host.ts";
import type { Losses } from "../losses.ts";
import { LONGEST_NAME } from "../name-format.ts";
import type { ClientLevel } from "./client-levels.ts";
import type { CombinedName } from "./combined-format.ts";

const BLOCK = 256 * 1024;
/** A name that exists only to hide the wildcard of a parent (RFC 4592). */
const HIDING = encodeUtf8("_rules-compiler.");
const WILDCARD = encodeUtf8("*.");

/** What a zone says about a name. */
const Action = { None: 0, Block: 1, Pass: 2 } as const;
type Action = (typeof Action)[keyof typeof Action];
const RECORDS = {
  [Action.Block]: encodeUtf8(" CNAME .\n"),
  [Action.Pass]: encodeUtf8(" CNAME rpz-passthru.\n"),
} as const;

/**
 * The zones of a view, one for each level. Clients of a level see the zones up to their own, and the first one that says something
 * decides. So a name is in the zone of the lowest level that blocks it. Where a lower zone would block a name by the wildcard of a
 * parent, it must not say anything about it: an empty name there hides the wildcard.
 */
export class LevelZones {
  private readonly levels: readonly ClientLevel[];
  private readonly files: readonly Pick<NewFile, "write">[];
  private readonly buffers: readonly ByteBuffer[];
  private readonly longest: number;
  /** What each zone says about the names below the parent. */
  private readonly inherited: Action[];

  constructor(levels: readonly ClientLevel[], files: readonly Pick<NewFile, "write">[]) {
    this.levels = levels;
    this.files = files;
    this.buffers = levels.map(() => new ByteBuffer(BLOCK + 1024));
    this.inherited = levels.map(() => Action.None);
    const longestZone = Math.max(...levels.map(({ name }) => zoneName(name).length));
    this.longest = LONGEST_NAME - HIDING.length - 1 - longestZone;
  }

  /** Returns whether the name is in a zone. */
  add(entry: CombinedName, losses: Losses): boolean {
    const { bytes, start, end, above, depth, isParent } = entry;
    const { inherited, levels } = this;
    inherited.fill(Action.None);
    for (let parent = 0; parent < depth; parent++) {
      const level = this.levelOf(above[parent]!);
      for (let zone = 0; zone < levels.length; zone++)
        inherited[zone] = this.actionOf(zone, level, inherited[zone]!);
    }
    const self = this.levelOf(entry.self);
    const below = this.levelOf(entry.below);
    let isWritten = false;
    for (let zone = 0; zone < levels.length; zone++) {
      const from = inherited[zone]!;
      const own = this.actionOf(zone, self, from);
      const under = this.actionOf(zone, below, from);
      if (own === from && under === from && (!isParent || from === Action.None)) continue;
      if (end - start > this.longest) {
        losses.add("not-a-name", decodeUtf8(bytes, start, end));
        return false;
      }
      this.write(zone, entry, [own, under]);
      isWritten = true;
    }
    return isWritten;
  }

  close(): void {
    for (const [zone, buffer] of this.buffers.entries()) this.files[zone]!.write(buffer.view());
  }

  /** The first level that has one of these lists; the number of levels if no level has. */
  private levelOf(lists: number): number {
    const { levels } = this;
    let level = 0;
    while (level < levels.length && (levels[level]!.lists & lists) === 0) level++;
    return level;
  }

  private actionOf(zone: number, level: number, from: Action): Action {
    if (level === zone) return Action.Block;
    // A zone before this one has decided.
    if (level < zone || from === Action.None) return from;
    return level === this.levels.length ? Action.Pass : Action.None;
  }

  private write(
    zone: number,
    { bytes, start, end }: CombinedName,
    [own, under]: readonly [Action, Action],
  ): void {
    const out = this.buffers[zone]!;
    const line = (opening: Uint8Array, action: Action): void => {
      if (action === Action.None) return;
      out.append(opening, 0, opening.length);
      out.append(bytes, start, end);
      out.append(RECORDS[action], 0, RECORDS[action].length);
    };
    line(NOTHING, own);
    line(WILDCARD, under);
    if (own === Action.None && under === Action.None) line(HIDING, Action.Pass);
    if (out.length < BLOCK) return;
    this.files[zone]!.write(out.view());
    out.length = 0;
  }
}

const NOTHING = new Uint8Array(0);

/** The name of the zone of a level. */
export function zoneName(level: string): string {
  return `${level.toLowerCase()}.rpz`;
}
