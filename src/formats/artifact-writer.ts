import { LF } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { NameExpander } from "../kernel/name-expander.ts";
import { cancelledKey } from "../meaning/rule.ts";
import { type Entry, EntryTexts } from "./entry-texts.ts";
import { ANY_ROOM, FileRoom, type Room } from "./file-room.ts";
import { isBlock } from "./level.ts";
import { LineTemplate } from "./line-template.ts";
import type { ListModel } from "./list-model.ts";
import { Losses } from "./losses.ts";
import type { NameBlock } from "./name-blocks.ts";
import type { FormatOptions, HeadFacts, Lines, NameFormat } from "./name-format.ts";
import { compareByDomain, namesByDomain } from "./names-by-domain.ts";
import { ruleEntries, saysPatterns } from "./rule-entries.ts";
import { LooseNames, type SortedNames } from "./sorted-names.ts";
import { SpokenNames } from "./spoken-names.ts";

/** What to do about rules that a format cannot say: leave them out, say more than they mean, or write nothing. */
export const LOSS_POLICIES = ["skip", "widen", "fail"] as const;
export type LossPolicy = (typeof LOSS_POLICIES)[number];

/** Takes whole lines: of so many names. */
export type LineSink = (bytes: Uint8Array, names: number) => void;

export interface ArtifactSinks {
  /** Told before the first line how many entries each file will have. */
  readonly begin?: (entries: FileEntries) => void;
  readonly block: LineSink;
  /** Where exceptions go, for formats that keep them apart. */
  readonly allow: LineSink;
  /** Told that the next lines belong together: so many names, so many bytes. */
  readonly together?: (names: number, bytes: number) => void;
}

/** Entries of the file of blocks, and of the file of exceptions. */
export interface FileEntries {
  readonly block: number;
  readonly allow: number;
}

/** How a list is written in a format. */
export interface WriteOptions {
  readonly format: NameFormat;
  readonly options: FormatOptions;
  readonly policy: LossPolicy;
  /** Whether names stand in the order of their registrable domains instead of that of the list. */
  readonly isSorted?: boolean;
  /** Names that the list does not block, and the file must not. */
  readonly protectedNames?: readonly string[];
}

/** A block of names and the lines that they get. */
interface BlockLines {
  readonly block: NameBlock;
  readonly template: LineTemplate;
  readonly isNarrow: boolean;
  /** How many of the names. */
  taken: number;
}

/** Writes a list in a format. Everything that is not written as it was meant is counted. */
export class ArtifactWriter {
  readonly losses: Losses = new Losses();
  /** Names in the file of blocks. */
  names = 0;
  /** Whether the file blocks nothing. */
  isEmpty = true;
  /** Whether there is no room for the exceptions. */
  isTooSmall = false;
  /** Protected names that the file blocks. */
  blocked: readonly string[] = [];
  /** Rules that there was no room for, by source. */
  readonly leftOut: Map<number, number> = new Map();
  private readonly how: WriteOptions;
  private readonly lines: Lines;
  private readonly sinks: ArtifactSinks;
  private readonly expander: NameExpander;

  constructor(how: WriteOptions, sinks: ArtifactSinks, expander: NameExpander) {
    this.how = how;
    this.lines = how.format.lines(how.options);
    this.sinks = sinks;
    this.expander = expander;
  }

  write(model: ListModel, room: Room = ANY_ROOM): void {
    const { format } = this.how;
    const { subtree } = this.lines;
    if (format.saysEverything === true)
      this.emit(listEntries(model), this.of(model.plainBlocks(), subtree!), room);
    else if (subtree === undefined) this.writeExact(model, room);
    else this.writeSubtrees(model, subtree, room);
  }

  /** A format that blocks names alone: every name that a source has, if the list blocks it. */
  private writeExact(model: ListModel, room: Room): void {
    const { losses, lines } = this;
    const { exact } = lines;
    const entries: Entry[] = [];
    if (exact === undefined) {
      for (const { name } of namesIn([...model.subtreeBlocks(), ...model.exactBlocks()]))
        losses.add("exact", name);
      this.emit(ruleEntries(model, lines, losses, model.names.excepted.size === 0), [], room);
      return;
    }
    const template = new LineTemplate(exact);
    const loose = new LooseNames();
    for (const { name, source, isNamed, blocksBelow, freed } of model.names.groups.flat()) {
      if (isNamed && (isBlock(freed.self) || model.blocksByPattern(name, freed.self))) {
        if (this.how.isSorted === true) loose.add({ name, source });
        else entries.push({ text: template.text(name), source, blocks: true });
        if (blocksBelow) losses.add("narrowed", name);
      } else if (blocksBelow && isBlock(freed.below))
        losses.add(isNamed ? "narrowed" : "below", name);
    }
    const others = ruleEntries(model, lines, losses, model.names.excepted.size === 0);
    const blocks = [
      ...this.of(model.subtreeBlocks(), exact, true),
      ...this.of([...loose.blocks(), ...model.exactBlocks(), ...model.coveredBlocks()], exact),
    ];
    this.emit([...entries, ...others], blocks, room);
  }

  private writeSubtrees(model: ListModel, subtree: readonly string[], room: Room): void {
    const { losses, lines } = this;
    const { format, options, policy, protectedNames = [] } = this.how;
    const isPatternSaid = saysPatterns(model, lines);
    const manner = {
      format,
      lines,
      longest: format.longestName(options),
      widens: policy === "widen",
      protectedNames,
    };
    const spoken = new SpokenNames(manner, model, losses, isPatternSaid);
    const texts = new EntryTexts(lines, format.hasAllowFile === true);
    const entries: Entry[] = [];
    for (const [group, facts] of this.inOrder(model.names.groups).entries())
      for (const saying of spoken.say(facts)) entries.push({ ...texts.entry(saying), group });
    if (!isPatternSaid)
      for (const { text, reason, isEndSure } of model.exceptions.all)
        if (!isEndSure) losses.add(reason, text);
    entries.push(...ruleEntries(model, lines, losses, !spoken.lacksExceptions));
    const blocks = [
      ...this.of(model.subtreeBlocks(), subtree),
      ...(lines.exact === undefined ? [] : this.of(model.exactBlocks(), lines.exact)),
    ];
    if (lines.exact === undefined)
      for (const { name, source } of namesIn(model.exactBlocks()))
        if (spoken.mayWiden(name)) {
          losses.add("widened", name);
          entries.push(texts.entry({ name, source, key: "subtree", isImportant: false }));
        } else losses.add("exact", name);
    this.emit(entries, blocks, room);
    this.blocked = [...spoken.blocked];
  }

  private inOrder(groups: SortedNames["groups"]): SortedNames["groups"] {
    if (this.how.isSorted !== true) return groups;
    return groups.toSorted(([a], [b]) => compareByDomain(a!.name, b!.name));
  }

  private of(
    blocks: readonly NameBlock[],
    lines: readonly string[],
    isNarrow = false,
  ): BlockLines[] {
    const template = new LineTemplate(lines);
    return blocks.map((block) => ({ block, template, isNarrow, taken: block.count }));
  }

  /** Writes the entries, and then the blocks of one source after the other. */
  private emit(entries: readonly Entry[], blocks: readonly BlockLines[], room: Room): void {
    const isLimited = room.rules !== Infinity || room.bytes !== Infinity;
    const kept = isLimited ? this.fit(entries, blocks, new FileRoom(room)) : entries;
    const apart = kept.reduce((count, { isApart }) => count + Number(isApart === true), 0);
    const named = blocks.reduce((count, { taken }) => count + taken, 0);
    this.sinks.begin?.({ block: kept.length - apart + named, allow: apart });
    this.writeEntries(kept);
    for (const one of this.sorted(blocks)) if (one.taken > 0) this.writeBlock(one);
  }

  /** Names that have the same lines, by domain; or one source after the other. */
  private sorted(blocks: readonly BlockLines[]): readonly BlockLines[] {
    if (this.how.isSorted !== true)
      return blocks.toSorted((a, b) => a.block.source - b.block.source);
    for (const { block, isNarrow, taken } of blocks)
      if (isNarrow && taken > 0) this.losses.add("narrowed", firstName(block.load()), taken);
    const alike = Map.groupBy(blocks, ({ template }) => template.key);
    return [...alike.values()].flatMap((parts) =>
      namesByDomain(parts).map((block) => ({
        block,
        template: parts[0]!.template,
        isNarrow: false,
        taken: block.count,
      })),
    );
  }

  /** Exceptions have to be there; of everything else, what comes first in the order of the sources. */
  private fit(entries: readonly Entry[], blocks: readonly BlockLines[], room: FileRoom): Entry[] {
    const kept = new Set<Entry>();
    for (const entry of entries)
      if (!entry.blocks) {
        kept.add(entry);
        if (!room.demand(encodeUtf8(entry.text).length)) this.isTooSmall = true;
      }
    const sources = [...entries.map(({ source }) => source), ...blocks.map((b) => b.block.source)];
    const bySource = Map.groupBy(
      entries.filter((one) => one.blocks),
      (one) => one.source,
    );
    for (const source of [...new Set(sources)].toSorted((a, b) => a - b)) {
      for (const entry of bySource.get(source) ?? [])
        if (room.take(encodeUtf8(entry.text).length)) kept.add(entry);
        else this.leaveOut(source, 1);
      for (const one of blocks) {
        if (one.block.source !== source) continue;
        const { count, length } = one.block;
        one.taken = room.takeSome(count, one.template.size(count, length), (most, bytes) =>
          one.template.fitting(one.block.load(), most, bytes),
        );
        if (one.taken < count) this.leaveOut(source, count - one.taken);
      }
    }
    return entries.filter((entry) => kept.has(entry));
  }

  private leaveOut(source: number, rules: number): void {
    this.leftOut.set(source, (this.leftOut.get(source) ?? 0) + rules);
  }

  private writeBlock({ block, template, isNarrow, taken }: BlockLines): void {
    const bytes = block.load();
    if (isNarrow) this.losses.add("narrowed", firstName(bytes), taken);
    this.names += taken;
    this.isEmpty = false;
    this.sinks.block(this.expander.expand(template.parts, bytes, taken), taken);
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
    const texts = { block: [] as string[], allow: [] as string[] };
    for (const { text, blocks, isApart, isRule } of entries) {
      texts[isApart === true ? "allow" : "block"].push(text);
      if (blocks) this.isEmpty = false;
      if (isRule !== true && (blocks || this.how.format.saysEverything === true)) this.names++;
    }
    for (const file of ["block", "allow"] as const) {
      const own = texts[file];
      if (isTogether && file === "block" && own.length > 1)
        this.sinks.together?.(own.length, encodeUtf8(own.join("")).length);
      // Those that have as many lines go together, so that a file can be cut between names.
      for (let from = 0; from < own.length;) {
        const lines = lineCount(own[from]!);
        let to = from + 1;
        while (to < own.length && lineCount(own[to]!) === lines) to++;
        this.sinks[file](encodeUtf8(own.slice(from, to).join("")), to - from);
        from = to;
      }
    }
  }
}

/** The list itself; what takes rules back stays, whatever the room. */
function listEntries(model: ListModel): Entry[] {
  return model.otherTexts().map(({ text, source }) => ({
    text: `${text}\n`,
    source,
    blocks: !text.startsWith("@@") && cancelledKey(text) === undefined,
  }));
}

function* namesIn(blocks: readonly NameBlock[]): Generator<{ name: string; source: number }> {
  for (const { source, load } of blocks)
    for (const name of new TextDecoder().decode(load()).split("\n"))
      if (name !== "") yield { name, source };
}

function lineCount(text: string): number {
  return text.split("\n").length - 1;
}

function firstName(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(LF)));
}

/** The head of a file in this format. */
export function headOf(format: NameFormat, facts: HeadFacts, options: FormatOptions): Uint8Array {
  const lines = format.head(facts, options);
  return encodeUtf8(lines.map((line) => `${line}\n`).join(""));
}
