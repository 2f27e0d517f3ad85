import { withParents } from "../syntax/parents.ts";
import { Level, isAllow, isBlock, isImportant } from "./level.ts";
import type { ListModel } from "./list-model.ts";
import type { Losses } from "./losses.ts";
import type { Lines, NameFormat } from "./name-format.ts";
import type { NameLevels } from "./rule-tree.ts";
import { type ScopeKey, scopeKey } from "./scope-key.ts";
import type { NameFact } from "./classified-names.ts";

/** A line, or several, for one name. */
export interface ScopedName {
  readonly name: string;
  readonly source: number;
  readonly key: ScopeKey;
  readonly isImportant: boolean;
}

/** How a format is used. */
export interface EncoderOptions {
  readonly format: NameFormat;
  readonly lines: Lines;
  /** Characters of a name at the most. */
  readonly longest: number;
  /** Whether a name may be written as more than it means. */
  readonly widens: boolean;
  /** Names that must not be blocked by that. */
  readonly protectedNames: readonly string[];
}

/**
 * Says what the rules for names mean in a format, group by group. It keeps account of what the file says of each name: where the format
 * cannot say an exception, what the exception is from is not blocked, and whatever lies below is said anew.
 */
export class NameEncoder {
  /** Whether the file lacks an exception; it does no harm where all blocks are for names. */
  lacksExceptions = false;
  /** Protected names that the file blocks. */
  readonly blocked: Set<string> = new Set();
  private readonly manner: EncoderOptions;
  private readonly model: ListModel;
  private readonly losses: Losses;
  private readonly protectedParents: ReadonlySet<string>;
  /** Whether pattern exceptions are in the file as well. */
  private readonly hasPatterns: boolean;
  /** What the file says of the names of the group. */
  private readonly states = new Map<string, NameLevels>();
  /** Names of the group that have lines. */
  private readonly owners = new Set<string>();
  private sayings: ScopedName[] = [];

  constructor(manner: EncoderOptions, model: ListModel, losses: Losses, hasPatterns: boolean) {
    this.manner = manner;
    this.model = model;
    this.losses = losses;
    this.hasPatterns = hasPatterns;
    this.protectedParents = new Set(manner.protectedNames.flatMap(withParents));
  }

  /** Whether a block may take in what is below the name, or the name itself, without being meant to. */
  mayWiden(name: string): boolean {
    const { model } = this;
    return (
      this.manner.widens &&
      !this.protectedParents.has(name) &&
      !model.names.excepted.has(name) &&
      !model.exceptions.reaches(name)
    );
  }

  say(group: readonly NameFact[]): readonly ScopedName[] {
    this.states.clear();
    this.owners.clear();
    this.sayings = [];
    const narrowed = this.narrowed(group);
    for (const fact of group) this.fact(fact, narrowed.has(fact.name));
    if (group.some(({ name }) => this.protectedParents.has(name)))
      for (const name of this.manner.protectedNames)
        if (this.isBlocked(name)) this.blocked.add(name);
    return this.sayings;
  }

  private isBlocked(name: string): boolean {
    // An exception that is in the file as it is.
    if (this.hasPatterns && this.model.exceptions.matches(name)) return false;
    const own = this.states.get(name);
    return isBlock(own === undefined ? this.above(name) : own.self);
  }

  /** Names of which the format cannot say everything below: something there is free, and cannot be excepted. */
  private narrowed(group: readonly NameFact[]): Set<string> {
    const { format } = this.manner;
    const narrowed = new Set<string>();
    for (const fact of group) {
      const above = this.above(fact.name);
      const levels = this.levelsOf(fact);
      const isLost = format.allowWins === true && isAllow(above);
      const self = isLost ? above : this.wanted(levels.self, above);
      const below = isLost
        ? above
        : this.wanted(levels.isUnsure ? Level.None : levels.below, above);
      this.states.set(fact.name, { self, below });
      if (!isBlock(above) || this.canExcept(fact.name, self, below)) continue;
      for (const parent of withParents(fact.name).slice(1)) {
        const state = this.states.get(parent);
        if (state === undefined) continue;
        if (!isBlock(state.below)) break;
        narrowed.add(parent);
      }
    }
    this.states.clear();
    return narrowed;
  }

  private canExcept(name: string, self: Level, below: Level): boolean {
    const { lines, longest } = this.manner;
    const key = scopeKey("allow", !isBlock(self), !isBlock(below));
    if (key === undefined) return true;
    // What cannot be said of the name alone is said of everything below it, too.
    return (lines[key] ?? lines.allowSubtree) !== undefined && name.length <= longest;
  }

  private levelsOf(fact: NameFact): NameFact["freed"] {
    if (!this.hasPatterns) return fact.freed;
    return { self: fact.self, below: fact.below, isUnsure: false };
  }

  /** What the file says of everything below the closest parent that it speaks of. */
  private above(name: string): Level {
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
      const state = this.states.get(name.slice(dot + 1));
      if (state !== undefined) return state.below;
    }
    return Level.None;
  }

  /** A name of which no rule speaks is free where everything around it is not. */
  private wanted(level: Level, above: Level): Level {
    if (this.manner.lines.important !== undefined) return level;
    if (level === Level.None) return above === Level.None ? Level.None : Level.Allow;
    return isBlock(level) ? Level.Block : Level.Allow;
  }

  private fact(fact: NameFact, isNarrowed: boolean): void {
    const { format, longest } = this.manner;
    const { name } = fact;
    const above = this.above(name);
    const levels = this.levelsOf(fact);
    const isNarrow = (isNarrowed || levels.isUnsure) && isBlock(levels.below);
    const self = this.wanted(levels.self, above);
    const below = this.wanted(isNarrow ? Level.None : levels.below, above);
    if (isNarrow) this.losses.add("excepted", name);
    this.countUndone(fact, above);
    if (self === above && below === above) return;
    if (name.length > longest) {
      this.losses.add("not-a-name", name);
      if (isAllow(self) || isAllow(below)) this.lacksExceptions = true;
    } else if (format.allowWins === true && isAllow(above)) this.losses.add("nested", name);
    else this.states.set(name, this.speak(fact, above, { self, below }, isNarrow));
  }

  /** An exception that the file has undoes an important block, and one for what `$denyallow` names an expression. */
  private countUndone({ name, self, below }: NameFact, above: Level): void {
    const { lines } = this.manner;
    if (!this.hasPatterns || lines.important !== undefined) return;
    if (
      self === Level.None &&
      above !== Level.None &&
      lines.regex !== undefined &&
      this.model.hasExpressions
    )
      this.losses.add("nested", name);
    if (self !== Level.ImportantBlock && below !== Level.ImportantBlock) return;
    const { exceptions } = this.model;
    if (exceptions.floating.length > 0 || exceptions.reaches(name)) this.losses.add("nested", name);
  }

  /** Says what differs from what is said above, and returns what the file says then. */
  private speak(
    fact: NameFact,
    above: Level,
    { self, below }: NameLevels,
    isNarrow: boolean,
  ): NameLevels {
    // Where a name hides what a parent says, it is said again: for the name, and for those between the two.
    const isHiding = this.manner.format.hidesParents === true && above !== Level.None;
    if (isHiding) this.fill(fact, above);
    const saysSelf = isHiding || self !== above;
    const saysBelow = isHiding || below !== above;
    if (saysSelf && saysBelow && self === below) {
      this.line(fact, true, true, self);
      return { self, below };
    }
    if (isBlock(below) && saysBelow && !isBlock(self))
      return this.sayBelow(fact, { self, below }, saysSelf);
    if (isBlock(self) && saysSelf && !isBlock(below)) {
      if (saysBelow) this.line(fact, false, true, below);
      return this.saySelf(fact, above, { self, below }, isNarrow);
    }
    const isSaid =
      (!saysSelf || this.line(fact, true, false, self)) &&
      (!saysBelow || this.line(fact, false, true, below));
    if (isSaid || !isBlock(above)) return { self, below };
    return this.freeMore(fact, isBlock(below) ? self : below, isBlock(below));
  }

  /** An exception of the name alone, or of what is below it, that the format can only make for both. */
  private freeMore(fact: NameFact, level: Level, isSelf: boolean): NameLevels {
    this.line(fact, true, true, level);
    this.losses.add(isSelf ? "below" : "exact", fact.name);
    return { self: level, below: level };
  }

  /** A block of the name alone. */
  private saySelf(
    fact: NameFact,
    above: Level,
    { self, below }: NameLevels,
    isNarrow: boolean,
  ): NameLevels {
    const isLost = this.manner.format.isExactApart === true && isAllow(above);
    if (!isLost && this.line(fact, true, false, self)) return { self, below };
    if (isNarrow) return { self: above, below };
    if (below === Level.None && this.mayWiden(fact.name)) {
      this.losses.add("widened", fact.name);
      this.line(fact, true, true, self);
      return { self, below: self };
    }
    this.losses.add("exact", fact.name);
    return { self: above, below };
  }

  /** A block of what is below the name, but not of the name. */
  private sayBelow(fact: NameFact, { self, below }: NameLevels, saysSelf: boolean): NameLevels {
    const { format, lines } = this.manner;
    const isAllowed = saysSelf && self !== Level.None;
    // An exception for the name alone is said beside the block, and wins.
    if (isAllowed && format.allowWins === true && lines.allowExact !== undefined) {
      this.line(fact, true, true, below);
      this.line(fact, true, false, self);
      return { self, below };
    }
    if (this.line(fact, false, true, below)) {
      if (saysSelf) this.line(fact, true, false, self);
      return { self, below };
    }
    if (self === Level.None && this.mayWiden(fact.name)) {
      this.losses.add("widened", fact.name);
      this.line(fact, true, true, below);
      return { self: below, below };
    }
    this.losses.add("below", fact.name);
    return { self, below: self };
  }

  private fill(fact: NameFact, above: Level): void {
    for (const name of withParents(fact.name).slice(1)) {
      if (this.owners.has(name)) return;
      this.line({ ...fact, name }, true, true, above);
    }
  }

  /** False when the format has no line for it. */
  private line(
    { name, source }: Pick<NameFact, "name" | "source">,
    self: boolean,
    below: boolean,
    level: Level,
  ): boolean {
    const { lines } = this.manner;
    const action = level === Level.None ? "open" : isBlock(level) ? "block" : "allow";
    const key = scopeKey(action, self, below);
    if (key === undefined || lines[key] === undefined) {
      if (isAllow(level)) this.lacksExceptions = true;
      return false;
    }
    this.owners.add(name);
    const isMarked = lines.important !== undefined && isImportant(level);
    this.sayings.push({ name, source, key, isImportant: isMarked });
    return true;
  }
}
