import type { ByteBuffer } from "../bytes/text.ts";
import type { RowWriter } from "../kernel/rows.ts";
import { type Answer, answerText } from "../meaning/answer.ts";
import { Level, isAllowLevel, isBlockLevel, isImportantLevel } from "../meaning/verdict.ts";
import type { Chunk } from "../rules/chunk.ts";
import { withParents } from "../syntax/public-suffix.ts";
import type { NameFact } from "./classified-names.ts";
import type { Devices } from "./device-rules.ts";
import type { ListModel } from "./list-model.ts";
import { type Losses } from "./special-rule.ts";

/** The settings of an output for its format. */
export interface FormatOptions {
  /** What a resolver answers for a blocked name. */
  readonly answer: Answer;
  /** Whether a format with addresses writes those of IPv6, too. */
  readonly hasBothAddresses: boolean;
  readonly ttl: number;
  /** The name of the zone, for zone files. */
  readonly origin: string;
  /** The devices that the file is for; all by default. */
  readonly devices?: Devices;
}

/** The defaults for settings that the configuration leaves out. */
export const DEFAULT_OPTIONS: FormatOptions = {
  answer: { kind: "nxdomain" },
  hasBothAddresses: false,
  ttl: 60,
  origin: "rpz.local",
};

/**
 * The lines with which a format expresses each scope, with `%` for the name; without lines it cannot express it. `subtree` is a name
 * with all names below it, `exact` the name alone, `below` all names below it without the name.
 */
export interface FormatLines extends ScopeLines {
  /** A block and an exception by regular expression, with `%` for the expression. */
  readonly regex?: readonly string[];
  readonly allowRegex?: readonly string[];
  /** Any rule, with `%` for its text as JSON. */
  readonly rule?: readonly string[];
  /** Names that are left to the rules without names; a format without these lines allows them instead. */
  readonly openSubtree?: readonly string[];
  readonly openExact?: readonly string[];
  readonly openBelow?: readonly string[];
  /** The lines of important rules, if the format distinguishes them. */
  readonly important?: ScopeLines;
  /** The lines with which names get an answer, by scope; undefined if the format has no such answer. */
  readonly answered?: (answer: Answer) => AnswerLines | undefined;
}

/** Lines for names that get an answer. */
export type AnswerLines = Pick<ScopeLines, "subtree" | "exact" | "below">;

/** Lines by scope and action. */
export interface ScopeLines {
  readonly subtree?: readonly string[];
  readonly exact?: readonly string[];
  readonly below?: readonly string[];
  readonly allowSubtree?: readonly string[];
  readonly allowExact?: readonly string[];
  readonly allowBelow?: readonly string[];
}

/** The contents of the header of a file. */
export interface FileHeaderFacts {
  /** The header lines of the list, without comment signs. */
  readonly lines: readonly string[];
  /** Larger than the serial of any earlier version with other rules. */
  readonly serial: number;
}

/** An output format; `formats.ts` has them all. */
export interface NameFormat {
  /** One line, for the reference page. */
  readonly summary: string;
  readonly usedBy: string;
  readonly extension: string;
  /** The answers that a file can select; the first is the default. Without it, the resolver decides. */
  readonly answers?: readonly Answer["kind"][];
  lines(options: FormatOptions): FormatLines;
  header(facts: FileHeaderFacts, options: FormatOptions): readonly string[];
  /** Opens a section at the end of the file for names without their subdomains, in formats that keep them apart. */
  readonly exactOpening?: string;
  readonly footer?: readonly string[];
  /** The format can express every rule. */
  readonly isLossless?: true;
  /** Exceptions go into a separate file. */
  readonly hasAllowFile?: true;
  /** An exception wins over everything below it, so nothing there can be blocked again. */
  readonly allowWins?: true;
  /**
   * A name hides the wildcard of its parent, for the names below it and for those in between. Both must be repeated (the
   * closest encloser of RFC 4592).
   */
  readonly hidesParents?: true;
  /** What applies to the names below a name applies to the name too, unless it has its own line. */
  readonly belowHidesSelf?: true;
  /** Written as a constant database, whose records the lines represent. */
  readonly isDatabase?: true;
  /** Below an exception, a single name cannot be blocked. */
  readonly allowHidesExact?: true;
  /** Every line except the first of a file begins with a comma. */
  readonly isCommaFirst?: true;
  /** Maximum length of a name in characters; `LONGEST_NAME` by default. */
  longestName?(options: FormatOptions): number;
  /** Memory that the resolver needs per name, in bytes. */
  readonly memoryPerName: number;
  /** Whether the memory was measured, with 200,000 names. */
  readonly isMeasured?: true;
}

export const LONGEST_NAME = 253;

/** A header of comment lines. */
export function commentHeader(sign: string): (facts: FileHeaderFacts) => string[] {
  return ({ lines }) => lines.map((line) => (line === "" ? sign : `${sign} ${line}`));
}

/** A name with the scope and action that the file has for it. */
export interface ScopedName {
  readonly name: string;
  readonly source: number;
  readonly key: ScopeKey;
  readonly isImportant: boolean;
  /** The lines of a rewrite; otherwise those of the format. */
  readonly lines?: readonly string[];
}

/** The levels that a file has: those of rules, and a larger one for each answer of rewrites. */
interface FileLevels {
  readonly self: number;
  readonly below: number;
}

/** How the encoder uses a format. */
interface EncoderOptions {
  readonly format: NameFormat;
  readonly lines: FormatLines;
  /** Maximum length of a name in characters. */
  readonly longest: number;
  /** Whether a rule may be written so that it blocks more than intended. */
  readonly widens: boolean;
  /** Names that must not be blocked that way. */
  readonly protectedNames: readonly string[];
}

/**
 * Expresses the rules for names in a format, group by group. It tracks the state of each name in the file. If the format cannot
 * express an exception, the name that it belongs to is not blocked, and the names below it are written separately.
 */
export class NameEncoder {
  /** Whether the file lacks an exception. That is harmless if the file blocks names only, without patterns. */
  lacksExceptions = false;
  /** Protected names that the file blocks. */
  readonly blocked: Set<string> = new Set();
  private readonly options: EncoderOptions;
  private readonly model: ListModel;
  private readonly losses: Losses;
  private readonly protectedParents: ReadonlySet<string>;
  /** Whether the file contains the pattern exceptions too. */
  private readonly hasPatterns: boolean;
  /** Whether the file contains expressions that block. */
  private readonly hasExpressions: boolean;
  /** The levels that the file has for the names of the group. */
  private readonly states = new Map<string, FileLevels>();
  /** Names of the group that have lines. */
  private readonly written = new Set<string>();
  private encoded: ScopedName[] = [];
  /** The lines of each answer, and its level by its text. */
  private readonly answered: AnswerLines[] = [];
  private readonly answerLevels = new Map<string, number>();

  constructor(options: EncoderOptions, model: ListModel, losses: Losses, hasPatterns: boolean) {
    this.options = options;
    this.model = model;
    this.losses = losses;
    this.hasPatterns = hasPatterns;
    this.hasExpressions = options.lines.regex !== undefined && model.hasExpressions;
    this.protectedParents = new Set(options.protectedNames.flatMap(withParents));
  }

  /** Whether a block may include the names below a name, or the name itself, without being meant to. */
  mayWiden(name: string): boolean {
    const { model } = this;
    return (
      this.options.widens &&
      !this.protectedParents.has(name) &&
      !model.names.excepted.has(name) &&
      !model.exceptions.reaches(name)
    );
  }

  encode(group: readonly NameFact[]): readonly ScopedName[] {
    this.states.clear();
    this.written.clear();
    this.encoded = [];
    const narrowed = this.narrowed(group);
    for (const fact of group) this.encodeFact(fact, narrowed.has(fact.name));
    if (group.some(({ name }) => this.protectedParents.has(name)))
      for (const name of this.options.protectedNames)
        if (this.isBlocked(name)) this.blocked.add(name);
    return this.encoded;
  }

  private isBlocked(name: string): boolean {
    // The file contains this exception.
    if (this.hasPatterns && this.model.exceptions.matches(name)) return false;
    const state = this.states.get(name);
    return isBlockLevel(state === undefined ? this.above(name) : state.self);
  }

  /** Names that cannot be blocked as a subtree, because the format cannot express an exception below them. */
  private narrowed(group: readonly NameFact[]): Set<string> {
    const { format } = this.options;
    const narrowed = new Set<string>();
    for (const fact of group) {
      const above = this.above(fact.name);
      const levels = this.levelsOf(fact, above);
      const isLost = format.allowWins === true && isAllowLevel(above);
      const self = isLost ? above : this.wanted(levels.self, above);
      const below = isLost
        ? above
        : this.wanted(levels.isUnsure ? Level.None : levels.below, above);
      this.states.set(fact.name, { self, below });
      if (!isBlockLevel(above) || this.canExcept(fact.name, self, below)) continue;
      for (const parent of withParents(fact.name).slice(1)) {
        const state = this.states.get(parent);
        if (state === undefined) continue;
        if (!isBlockLevel(state.below)) break;
        narrowed.add(parent);
      }
    }
    this.states.clear();
    return narrowed;
  }

  private canExcept(name: string, self: number, below: number): boolean {
    const { lines, longest } = this.options;
    const key = scopeKey("allow", !isBlockLevel(self), !isBlockLevel(below));
    if (key === undefined) return true;
    // An exception for the name alone may be widened to its subtree.
    return (lines[key] ?? lines.allowSubtree) !== undefined && name.length <= longest;
  }

  /** What the file is to have for a name: the answers of rewrites where the format has them, and levels otherwise. */
  private levelsOf(fact: NameFact, above: number): FileLevels & { readonly isUnsure: boolean } {
    const { self, below, freed, answers } = fact;
    const levels = this.hasPatterns ? { self, below, isUnsure: false } : freed;
    if (answers === undefined || this.options.lines.answered === undefined) return levels;
    const answer = {
      self: this.answerLevel(answers.self),
      below: this.answerLevel(answers.below),
    };
    if (answer.self === answer.below && this.answerLines(answer.self)?.subtree !== undefined)
      return { self: answer.self!, below: answer.self!, isUnsure: false };
    // Other formats than policy zones have such lines only for names that are not related to others.
    const isFree = this.options.format.hidesParents === true;
    const isAlone = above === Level.None && levels.below === Level.None;
    const isExact = isFree || (isAlone && answer.below === undefined);
    const isBelow = isFree || (isAlone && levels.self === Level.None && answer.self === undefined);
    const lines = this.answerLines(answer.self);
    if (isExact && !isFree && lines?.exact === undefined && lines?.subtree !== undefined)
      if (this.mayWidenAnswer(fact.name))
        return { self: answer.self!, below: answer.self!, isUnsure: false };
    return {
      self: isExact && lines?.exact !== undefined ? answer.self! : levels.self,
      below:
        isBelow && this.answerLines(answer.below)?.below !== undefined
          ? answer.below!
          : levels.below,
      isUnsure: levels.isUnsure,
    };
  }

  private mayWidenAnswer(name: string): boolean {
    const { options, model, protectedParents } = this;
    return options.widens && !protectedParents.has(name) && !model.exceptions.reaches(name);
  }

  /** The level of an answer; undefined without one, and if the format does not have it. */
  private answerLevel(answer: Answer | undefined): number | undefined {
    if (answer === undefined) return undefined;
    const key = `${answer.kind} ${answerText(answer)}`;
    let level = this.answerLevels.get(key);
    if (level === undefined) {
      const lines = this.options.lines.answered?.(answer);
      if (lines === undefined) return undefined;
      this.answered.push(lines);
      level = Level.Rewrite + 2 * this.answered.length;
      this.answerLevels.set(key, level);
    }
    return level;
  }

  private answerLines(level: number | undefined): AnswerLines | undefined {
    return level === undefined ? undefined : this.answered[(level - Level.Rewrite) / 2 - 1];
  }

  /** The level that the name inherits from its closest parent in the file. */
  private above(name: string): number {
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
      const state = this.states.get(name.slice(dot + 1));
      if (state !== undefined) return state.below;
    }
    return Level.None;
  }

  /** A name without a rule needs an exception if its parent is blocked, and one with a rewrite also if an expression may block it. */
  private wanted(meant: number, above: number): number {
    if (isAnswerLevel(meant)) return meant;
    const isOpen = meant === Level.Rewrite && !this.hasExpressions;
    const level = isOpen ? Level.None : meant;
    if (this.options.lines.important !== undefined) return level;
    if (level === Level.None) return above === Level.None ? Level.None : Level.Allow;
    return isBlockLevel(level) ? Level.Block : Level.Allow;
  }

  private encodeFact(fact: NameFact, isNarrowed: boolean): void {
    const { format, longest } = this.options;
    const { name } = fact;
    const above = this.above(name);
    const levels = this.levelsOf(fact, above);
    const isNarrow = (isNarrowed || levels.isUnsure) && isBlockLevel(levels.below);
    const self = this.wanted(levels.self, above);
    const below = this.wanted(isNarrow ? Level.None : levels.below, above);
    if (isNarrow) this.losses.add("excepted", name);
    this.countAnswers(fact, { self, below });
    this.countOverridden(fact, above);
    if (self === above && below === above) return;
    if (name.length > longest) {
      this.losses.add("not-a-name", name);
      if (isAllowLevel(self) || isAllowLevel(below)) this.lacksExceptions = true;
    } else if (format.allowWins === true && isAllowLevel(above)) this.losses.add("nested", name);
    else this.states.set(name, this.encodeDifference(fact, above, { self, below }, isNarrow));
  }

  /** Counts the rewrites of the name that the file lacks, or has for more than the name. */
  private countAnswers({ answers }: NameFact, levels: FileLevels): void {
    if (this.options.lines.answered === undefined) return;
    for (const { text, self, below } of answers?.own ?? []) {
      const isSaid =
        (!self || isAnswerLevel(levels.self)) && (!below || isAnswerLevel(levels.below));
      if (!isSaid) this.losses.add("rewrite", text);
      else if (self && !below && answers?.below === undefined && isAnswerLevel(levels.below))
        this.losses.add("widened", text);
    }
  }

  /** Counts the blocks that lose against exceptions in the file, because the format does not distinguish important rules. */
  private countOverridden({ name, self, below }: NameFact, above: number): void {
    const { lines } = this.options;
    if (!this.hasPatterns || lines.important !== undefined) return;
    if (self === Level.None && above !== Level.None && this.hasExpressions)
      this.losses.add("nested", name);
    if (self !== Level.ImportantBlock && below !== Level.ImportantBlock) return;
    const { exceptions } = this.model;
    if (exceptions.floating.length > 0 || exceptions.reaches(name)) this.losses.add("nested", name);
  }

  /** Writes what differs from the inherited level, and returns the levels that the file has afterwards. */
  private encodeDifference(
    fact: NameFact,
    above: number,
    { self, below }: FileLevels,
    isNarrow: boolean,
  ): FileLevels {
    // If a name hides the rule of its parent, the rule is repeated for the name and for those in between.
    const isHiding = this.options.format.hidesParents === true && above !== Level.None;
    if (isHiding) this.repeatParents(fact, above);
    const writesBelow = isHiding || below !== above;
    const hidesSelf = this.options.format.belowHidesSelf === true && self !== below;
    const writesSelf = isHiding || self !== above || (hidesSelf && writesBelow);
    if (writesSelf && writesBelow && self === below) {
      this.add(fact, true, true, self);
      return { self, below };
    }
    if (isBlockLevel(below) && writesBelow && !isBlockLevel(self))
      return this.blockBelow(fact, { self, below }, writesSelf);
    if (isBlockLevel(self) && writesSelf && !isBlockLevel(below)) {
      if (writesBelow) this.add(fact, false, true, below);
      return this.blockSelf(fact, above, { self, below }, isNarrow);
    }
    const isWritten =
      (!writesSelf || this.add(fact, true, false, self)) &&
      (!writesBelow || this.add(fact, false, true, below));
    if (isWritten || !isBlockLevel(above)) return { self, below };
    return this.allowSubtree(fact, isBlockLevel(below) ? self : below, isBlockLevel(below));
  }

  /** An exception for the name alone, or for the names below it, that the format can only express for both. */
  private allowSubtree(fact: NameFact, level: number, isSelf: boolean): FileLevels {
    this.add(fact, true, true, level);
    this.losses.add(isSelf ? "below" : "exact", fact.name);
    return { self: level, below: level };
  }

  /** Blocks the name alone. */
  private blockSelf(
    fact: NameFact,
    above: number,
    { self, below }: FileLevels,
    isNarrow: boolean,
  ): FileLevels {
    const isLost = this.options.format.allowHidesExact === true && isAllowLevel(above);
    if (!isLost && this.add(fact, true, false, self)) return { self, below };
    if (isNarrow) return { self: above, below };
    if (below === Level.None && this.mayWiden(fact.name)) {
      this.losses.add("widened", fact.name);
      this.add(fact, true, true, self);
      return { self, below: self };
    }
    this.losses.add("exact", fact.name);
    return { self: above, below };
  }

  /** Blocks the names below the name, but not the name. */
  private blockBelow(fact: NameFact, { self, below }: FileLevels, writesSelf: boolean): FileLevels {
    const { format, lines } = this.options;
    const isAllowed = writesSelf && self !== Level.None;
    // The exception for the name alone is added to the block, and wins.
    if (isAllowed && format.allowWins === true && lines.allowExact !== undefined) {
      this.add(fact, true, true, below);
      this.add(fact, true, false, self);
      return { self, below };
    }
    if (this.add(fact, false, true, below)) {
      if (writesSelf) this.add(fact, true, false, self);
      return { self, below };
    }
    if (self === Level.None && this.mayWiden(fact.name)) {
      this.losses.add("widened", fact.name);
      this.add(fact, true, true, below);
      return { self: below, below };
    }
    this.losses.add("below", fact.name);
    return { self, below: self };
  }

  private repeatParents(fact: NameFact, above: number): void {
    for (const name of withParents(fact.name).slice(1)) {
      if (this.written.has(name)) return;
      this.add({ ...fact, name }, true, true, above);
    }
  }

  /** Returns false if the format has no line for the scope. */
  private add(
    { name, source }: Pick<NameFact, "name" | "source">,
    self: boolean,
    below: boolean,
    level: number,
  ): boolean {
    const { lines } = this.options;
    const answered = this.answerLines(isAnswerLevel(level) ? level : undefined);
    if (answered !== undefined) {
      const key = self ? (below ? "subtree" : "exact") : "below";
      if (answered[key] === undefined) return false;
      this.written.add(name);
      this.encoded.push({ name, source, key, isImportant: false, lines: answered[key] });
      return true;
    }
    const action = level === Level.None ? "open" : isBlockLevel(level) ? "block" : "allow";
    const key = scopeKey(action, self, below);
    if (key === undefined || lines[key] === undefined) {
      if (isAllowLevel(level)) this.lacksExceptions = true;
      return false;
    }
    this.written.add(name);
    const isMarked = lines.important !== undefined && isImportantLevel(level);
    this.encoded.push({ name, source, key, isImportant: isMarked });
    return true;
  }
}

/** Whether a level of a file is an answer of rewrites. */
function isAnswerLevel(level: number): boolean {
  return level > Level.Rewrite;
}

/** Selects the lines of a format for a scope and an action. */
export type ScopeKey =
  | keyof ScopeLines
  | keyof Pick<FormatLines, "openSubtree" | "openExact" | "openBelow">;

const SCOPE_KEYS = {
  block: ["subtree", "exact", "below"],
  allow: ["allowSubtree", "allowExact", "allowBelow"],
  open: ["openSubtree", "openExact", "openBelow"],
} as const;

/** The lines for the name, for the names below it, or for both; undefined for neither. */
function scopeKey(
  action: keyof typeof SCOPE_KEYS,
  self: boolean,
  below: boolean,
): ScopeKey | undefined {
  const [subtree, exact, children] = SCOPE_KEYS[action];
  if (self) return below ? subtree : exact;
  return below ? children : undefined;
}

export function isBlockKey(key: ScopeKey): boolean {
  return key === "subtree" || key === "exact" || key === "below";
}

export interface Format {
  /** One line, for `--help` and the reference page. */
  readonly summary: string;
  readonly extension: string;
  /** The header above the rules, from its lines. */
  header(lines: readonly string[]): Uint8Array;
  /** Appends the live rows of the next chunk. `writer` copies many rows at a time. */
  append(chunk: Chunk, out: ByteBuffer, writer: RowWriter): void;
}
