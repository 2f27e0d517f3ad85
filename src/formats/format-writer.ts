import { encodeUtf8, lineEnd } from "../bytes/text.ts";
import type { NameExpander } from "../kernel/names.ts";
import type { LoggedCounter, RankedNames } from "../meaning/ranked-names.ts";
import { cancelledKey } from "../meaning/rule.ts";
import { isBlockLevel } from "../meaning/verdict.ts";
import { patternExpression } from "../syntax/name-pattern.ts";
import { goExpression, isRegexText } from "../syntax/regex-rule.ts";
import {
  type ClassifiedNames,
  IndependentNames,
  type PatternException,
} from "./classified-names.ts";
import { rulesFor } from "./device-rules.ts";
import { type BlockLines, NO_LIMIT, type SizeLimit, fitRules } from "./fit-rules.ts";
import { LineTemplate } from "./header.ts";
import type { ListModel } from "./list-model.ts";
import {
  type FileHeaderFacts,
  type FormatLines,
  type FormatOptions,
  LONGEST_NAME,
  NameEncoder,
  type NameFormat,
  type ScopeKey,
  type ScopedName,
  isBlockKey,
} from "./name-format.ts";
import {
  type KnownNames,
  type NameBlock,
  compareByDomain,
  namesByDomain,
  namesOf,
} from "./names.ts";
import { Losses } from "./special-rule.ts";

/** What happens to rules that a format cannot express: leave them out, block more than intended, or refuse to publish. */
const LOSS_POLICIES = ["skip", "widen", "fail"] as const;
export type LossPolicy = (typeof LOSS_POLICIES)[number];

/** Takes complete lines, and the number of names in them. */
type NamesSink = (bytes: Uint8Array, names: number) => void;

interface FormatSinks {
  /** Called before the first line with the number of entries of each file. */
  readonly begin?: (entries: FileEntries) => void;
  /** Called before the names without their subdomains, for formats that keep them apart. */
  readonly beginExact?: () => void;
  readonly block: NamesSink;
  /** Takes the exceptions, for formats with a separate file. */
  readonly allow: NamesSink;
  /** Called before lines that must not be split: their names and bytes. */
  readonly keepTogether?: (names: number, bytes: number) => void;
}

/** The number of entries in the file of blocks, and in the file of exceptions. */
export interface FileEntries {
  readonly block: number;
  readonly allow: number;
}

/** How to write a list in a format. */
export interface WriteOptions {
  readonly format: NameFormat;
  readonly options: FormatOptions;
  readonly policy: LossPolicy;
  /** Whether names are sorted by registrable domain, instead of in the order of the list. */
  readonly isSorted?: boolean;
  /** If rules must be left out, those that match popular names stay first. */
  readonly ranks?: RankedNames | undefined;
  /** How trusted each source is, by its index: 0 for local files, more for less trusted ones. */
  readonly tiers?: readonly number[] | undefined;
  /** Names that the list does not block, and that the file must not block. */
  readonly protectedNames?: readonly string[];
  /** Names that are known from elsewhere than the sources. */
  readonly known?: KnownNames | undefined;
  /** Where losses are counted, if several lists share a file. */
  readonly losses?: Losses;
}

/** Writes a list in a format, and counts every rule that it cannot express exactly. */
export class FormatWriter {
  readonly losses: Losses;
  /** The number of names in the file of blocks. */
  names = 0;
  /** The number of rules that block something. */
  blocks = 0;
  /** Whether the exceptions, or the names of local files, exceed the size limit. */
  isTooSmall = false;
  /** Whether names of local files do. */
  lacksOwn = false;
  /** Protected names that the file blocks. */
  blocked: readonly string[] = [];
  /** The number of rules that exceeded the size limit, by source. */
  leftOut: ReadonlyMap<number, number> = new Map();
  /** The queries of logs for names in the file, if it has single names only. */
  logged: LoggedCounter | undefined;
  private readonly how: WriteOptions;
  private readonly lines: FormatLines;
  private readonly sinks: FormatSinks;
  private readonly expander: NameExpander;

  constructor(how: WriteOptions, sinks: FormatSinks, expander: NameExpander) {
    this.how = how;
    this.losses = how.losses ?? new Losses();
    this.lines = how.format.lines(how.options);
    this.sinks = sinks;
    this.expander = expander;
  }

  write(model: ListModel, limit: SizeLimit = NO_LIMIT): void {
    const { format } = this.how;
    const { subtree } = this.lines;
    if (format.isLossless === true)
      this.emit(this.listEntries(model), this.withTemplate(model.plainBlocks(), subtree!), limit);
    else if (subtree === undefined) {
      this.takeKnown();
      this.writeExact(model, limit);
    } else this.writeSubtrees(model, subtree, limit);
  }

  private takeKnown(): void {
    const { known } = this.how;
    this.logged = known?.logged?.counter();
    if (known !== undefined && known.leftOut.count > 0)
      this.losses.add("per-domain", known.leftOut.example, known.leftOut.count);
  }

  /** Every rule of the list that is not a plain name, for the devices of the file. */
  private listEntries(model: ListModel): Entry[] {
    const { devices } = this.how.options;
    return model.otherTexts().flatMap(({ text, source }) => {
      const blocks = !text.startsWith("@@") && cancelledKey(text) === undefined;
      if (devices === undefined) return [{ text: `${text}\n`, source, of: text, blocks }];
      const { rules, isExact } = rulesFor(text, devices, (key) => model.cancels(key));
      if (!isExact) this.losses.add("devices", text);
      return rules.map((rule) => ({ text: `${rule}\n`, source, of: text, blocks }));
    });
  }

  /** For a format that blocks single names: writes every name of a source that the list blocks. */
  private writeExact(model: ListModel, limit: SizeLimit): void {
    const { losses, lines } = this;
    const { exact } = lines;
    const entries: Entry[] = [];
    if (exact === undefined) {
      for (const { name } of namesOf([...model.subtreeBlocks(), ...model.exactBlocks()]))
        losses.add("exact", name);
      this.emit(ruleEntries(model, lines, losses, model.names.excepted.size === 0), [], limit);
      return;
    }
    const template = new LineTemplate(exact);
    const loose = new IndependentNames();
    for (const fact of model.names.groups.flat()) {
      const { name, source, isNamed, blocksBelow, freed, answers } = fact;
      const answer = answers?.self && lines.answered?.(answers.self)?.exact;
      if (lines.answered !== undefined)
        for (const { text, below } of answers?.own ?? [])
          if (answer === undefined) losses.add("rewrite", text);
          else if (below) losses.add("narrowed", text);
      if (answer !== undefined) {
        const text = new LineTemplate(answer).text(name);
        const of = { name, key: "exact" } as const;
        if (isNamed || answers!.own.length > 0)
          entries.push({ text, source, of, blocks: false, isAnswer: true });
      } else if (isNamed && (isBlockLevel(freed.self) || model.blocksByPattern(name, freed.self))) {
        if (this.how.isSorted === true) loose.add({ name, source });
        else {
          const of = { name, key: "exact" } as const;
          entries.push({ text: template.text(name), source, of, blocks: true });
        }
        if (blocksBelow) losses.add("narrowed", name);
      } else if (blocksBelow && isBlockLevel(freed.below))
        losses.add(isNamed ? "narrowed" : "below", name);
    }
    const others = ruleEntries(model, lines, losses, model.names.excepted.size === 0);
    const blocks = [
      ...this.withTemplate(model.subtreeBlocks(), exact, true),
      ...this.withTemplate(
        [...loose.blocks(), ...model.exactBlocks(), ...model.coveredBlocks()],
        exact,
      ),
    ];
    this.emit([...entries, ...others], blocks, limit);
  }

  private writeSubtrees(model: ListModel, subtree: readonly string[], limit: SizeLimit): void {
    const { losses, lines } = this;
    const { format, options, policy, protectedNames = [] } = this.how;
    const hasPatterns = canExpressPatterns(model, lines);
    const encoderOptions = {
      format,
      lines,
      longest: format.longestName?.(options) ?? LONGEST_NAME,
      widens: policy === "widen",
      protectedNames,
    };
    const encoder = new NameEncoder(encoderOptions, model, losses, hasPatterns);
    const texts = new EntryTexts(lines, format.hasAllowFile === true);
    const entries: Entry[] = [];
    for (const [group, facts] of this.inOrder(model.names.groups).entries())
      for (const scoped of encoder.encode(facts)) entries.push({ ...texts.entry(scoped), group });
    if (!hasPatterns)
      for (const { text, reason, isEndSure } of model.exceptions.all)
        // All rewrites are counted as such.
        if (!isEndSure && reason !== "rewrite") losses.add(reason, text);
    entries.push(...ruleEntries(model, lines, losses, !encoder.lacksExceptions));
    const blocks = [
      ...this.withTemplate(model.subtreeBlocks(), subtree),
      ...(lines.exact === undefined ? [] : this.withTemplate(model.exactBlocks(), lines.exact)),
    ];
    if (lines.exact === undefined)
      for (const { name, source } of namesOf(model.exactBlocks()))
        if (encoder.mayWiden(name)) {
          losses.add("widened", name);
          entries.push(texts.entry({ name, source, key: "subtree", isImportant: false }));
        } else losses.add("exact", name);
    this.emit(entries, blocks, limit);
    this.blocked = [...encoder.blocked];
  }

  private inOrder(groups: ClassifiedNames["groups"]): ClassifiedNames["groups"] {
    if (this.how.isSorted !== true) return groups;
    return groups.toSorted(([a], [b]) => compareByDomain(a!.name, b!.name));
  }

  private withTemplate(
    blocks: readonly NameBlock[],
    lines: readonly string[],
    isNarrow = false,
  ): BlockLines[] {
    const template = new LineTemplate(lines);
    const isExact = lines === this.lines.exact;
    return blocks.map((block) => ({ block, template, isNarrow, isExact, taken: block.count }));
  }

  /** Writes the entries, and then the blocks. */
  private emit(entries: readonly Entry[], blocks: readonly BlockLines[], limit: SizeLimit): void {
    const isLimited = limit.rules !== Infinity || limit.bytes !== Infinity;
    if (!isLimited) {
      this.emitAll(entries, blocks);
      return;
    }
    const fitting = fitRules(entries, blocks, limit, this.how);
    this.leftOut = fitting.leftOut;
    this.isTooSmall = fitting.isTooSmall || fitting.lacksOwn;
    this.lacksOwn = fitting.lacksOwn;
    this.emitAll(fitting.entries, fitting.blocks);
  }

  private emitAll(kept: readonly Entry[], blocks: readonly BlockLines[]): void {
    const apart = kept.reduce(
      (count, { isInAllowFile }) => count + Number(isInAllowFile === true),
      0,
    );
    const named = blocks.reduce((count, { taken }) => count + taken, 0);
    this.sinks.begin?.({ block: kept.length - apart + named, allow: apart });
    const ordered = this.sorted(blocks);
    if (this.how.format.exactOpening === undefined) {
      this.writeSection(kept, ordered);
      return;
    }
    this.writeSection(kept.filter(isFirst), ordered.filter(isFirst));
    this.sinks.beginExact?.();
    this.writeSection(kept.filter(isApart), ordered.filter(isApart));
  }

  private writeSection(entries: readonly Entry[], blocks: readonly BlockLines[]): void {
    this.writeEntries(entries);
    for (const one of blocks) if (one.taken > 0) this.writeBlock(one);
  }

  /** Sorted by domain if requested, for each template; otherwise in the order of the sources. */
  private sorted(blocks: readonly BlockLines[]): readonly BlockLines[] {
    if (this.how.isSorted !== true)
      return blocks.toSorted((a, b) => a.block.source - b.block.source);
    for (const { block, isNarrow, taken } of blocks)
      if (isNarrow && taken > 0) this.losses.add("narrowed", firstName(block.load()), taken);
    const alike = Map.groupBy(blocks, ({ template, isExact }) => `${isExact}${template.key}`);
    return [...alike.values()].flatMap((parts) =>
      namesByDomain(parts).map((block) => ({
        block: { ...block, source: parts[0]!.block.source },
        template: parts[0]!.template,
        isNarrow: false,
        isExact: parts[0]!.isExact,
        taken: block.count,
      })),
    );
  }

  private writeBlock({ block, template, isNarrow, taken }: BlockLines): void {
    const bytes = block.load();
    if (isNarrow) this.losses.add("narrowed", firstName(bytes), taken);
    this.names += taken;
    this.blocks += taken;
    this.countQueries(bytes, taken);
    this.sinks.block(this.expander.expand(template.parts, bytes, taken), taken);
  }

  /** The first `taken` names. */
  private countQueries(names: Uint8Array, taken: number): void {
    if (this.logged === undefined) return;
    let left = taken;
    for (let start = 0; left > 0; left--) {
      const end = lineEnd(names, start);
      this.logged.take(names, start, end);
      start = end + 1;
    }
  }

  private writeEntries(entries: readonly Entry[]): void {
    for (let from = 0; from < entries.length;) {
      const { group } = entries[from]!;
      let to = from + 1;
      while (to < entries.length && entries[to]!.group === group) to++;
      this.writeGroup(entries.slice(from, to), group !== undefined);
      from = to;
    }
  }

  private writeGroup(entries: readonly Entry[], isTogether: boolean): void {
    const files = { block: [] as Entry[], allow: [] as Entry[] };
    for (const entry of entries) {
      const { blocks, isInAllowFile, isRule, isAnswer, of } = entry;
      if (this.logged !== undefined && blocks && typeof of !== "string")
        this.countQueries(encodeUtf8(of.name), 1);
      files[isInAllowFile === true ? "allow" : "block"].push(entry);
      if (blocks) this.blocks++;
      const isNamed = blocks || isAnswer === true || this.how.format.isLossless === true;
      if (isRule !== true && isNamed) this.names++;
    }
    for (const file of ["block", "allow"] as const) {
      const group = files[file];
      if (isTogether && file === "block" && group.length > 1)
        this.sinks.keepTogether?.(group.length, textsOf(group).length);
      // Entries with the same number of lines are written together, so that a file can be split between names.
      for (let from = 0; from < group.length;) {
        const height = lineCount(group[from]!.text);
        let to = from + 1;
        while (to < group.length && lineCount(group[to]!.text) === height) to++;
        this.sinks[file](textsOf(group.slice(from, to)), to - from);
        from = to;
      }
    }
  }
}

function textsOf(entries: readonly Entry[]): Uint8Array {
  return encodeUtf8(entries.map(({ text }) => text).join(""));
}

function lineCount(text: string): number {
  return text.split("\n").length - 1;
}

function firstName(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, lineEnd(bytes, 0)));
}

export function headerBytes(
  format: NameFormat,
  facts: FileHeaderFacts,
  options: FormatOptions,
): Uint8Array {
  const lines = format.header(facts, options);
  return encodeUtf8(lines.map((line) => `${line}\n`).join(""));
}

/** Whether it belongs to the section of names without their subdomains. */
function isApart({ isExact }: Entry | BlockLines): boolean {
  return isExact === true;
}

function isFirst(one: Entry | BlockLines): boolean {
  return !isApart(one);
}

/** The lines of one name or one rule. */
export interface Entry {
  /** Complete lines. */
  readonly text: string;
  readonly source: number;
  /** A name with its scope, or the text of a rule. */
  readonly of: { readonly name: string; readonly key: ScopeKey } | string;
  /** Whether it blocks something. Entries that do not are exceptions and must never be left out. */
  readonly blocks: boolean;
  /** Whether it goes into the file of exceptions. */
  readonly isInAllowFile?: boolean;
  /** Whether it is a rule without a name, such as a pattern. */
  readonly isRule?: boolean;
  /** Whether it is a name without its subdomains. */
  readonly isExact?: boolean;
  /** Whether it is an answer for a name, which is written in any case as well. */
  readonly isAnswer?: boolean;
  /** Entries of one group depend on each other. */
  readonly group?: number;
}

/** Turns scoped names into lines of a format. */
class EntryTexts {
  private readonly lines: FormatLines;
  private readonly hasAllowFile: boolean;
  private readonly templates = new Map<readonly string[], LineTemplate>();

  constructor(lines: FormatLines, hasAllowFile: boolean) {
    this.lines = lines;
    this.hasAllowFile = hasAllowFile;
  }

  entry(of: ScopedName): Entry {
    const { name, source, key, isImportant, lines } = of;
    const { important } = this.lines;
    const marked =
      isImportant && important !== undefined && key in important
        ? important[key as keyof typeof important]
        : undefined;
    if (lines !== undefined)
      return { text: this.template(lines).text(name), source, of, blocks: false, isAnswer: true };
    const blocks = isBlockKey(key);
    const text = this.template(marked ?? this.lines[key]!).text(name);
    const isExact = key === "exact" || key === "allowExact";
    return { text, source, of, blocks, isInAllowFile: this.hasAllowFile && !blocks, isExact };
  }

  private template(lines: readonly string[]): LineTemplate {
    let template = this.templates.get(lines);
    if (template === undefined) this.templates.set(lines, (template = new LineTemplate(lines)));
    return template;
  }
}

/** Whether a format can express all pattern exceptions of a list. */
function canExpressPatterns(model: ListModel, lines: FormatLines): boolean {
  if (lines.rule !== undefined) return true;
  return (
    lines.allowRegex !== undefined &&
    model.exceptions.all.every((exception) => expressionOf(exception) !== undefined)
  );
}

/** The rules without names that a format can express. Expressions only if the file has all exceptions to them. */
function ruleEntries(
  model: ListModel,
  lines: FormatLines,
  losses: Losses,
  hasAllExceptions: boolean,
): Entry[] {
  const entries: Entry[] = [];
  const { rule, regex, allowRegex } = lines;
  const hasPatterns = canExpressPatterns(model, lines) || model.exceptions.all.length === 0;
  const add = (
    template: readonly string[],
    text: string,
    kind: Pick<Entry, "source" | "of" | "blocks" | "isInAllowFile">,
  ): void => {
    entries.push({ text: new LineTemplate(template).text(text), isRule: true, ...kind });
  };
  const canBlock = regex !== undefined && hasPatterns && hasAllExceptions;
  for (const { text, source, reason, regex: written, isAnswer } of model.nameless) {
    // They are written, or counted, with their names.
    if (isAnswer === true && lines.answered !== undefined) continue;
    const expression = canBlock && written !== undefined ? goExpression(written) : undefined;
    if (rule !== undefined)
      add(rule, JSON.stringify(text), { source, of: text, blocks: !text.startsWith("@@") });
    else if (expression !== undefined) add(regex!, expression, { source, of: text, blocks: true });
    else losses.add(model.expanded.has(text) ? "expanded" : reason, text);
  }
  if (hasPatterns)
    for (const exception of model.exceptions.all)
      if (rule !== undefined) {
        // Rewrites are among the rules without names already.
        if (exception.rewrite === undefined)
          add(rule, JSON.stringify(exception.text), {
            source: 0,
            of: exception.text,
            blocks: false,
          });
      } else
        add(allowRegex!, expressionOf(exception)!, {
          source: 0,
          of: exception.text,
          blocks: false,
          isInAllowFile: true,
        });
  return entries;
}

/** An exception as a regular expression. */
function expressionOf({ pattern, denied }: PatternException): string | undefined {
  if (denied.length > 0) return undefined;
  return isRegexText(pattern) ? goExpression(pattern.slice(1, -1)) : patternExpression(pattern);
}
