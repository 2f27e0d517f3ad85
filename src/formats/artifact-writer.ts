import { LF } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { NameExpander } from "../kernel/name-expander.ts";
import { LineTemplate } from "./line-template.ts";
import type { ListModel, NameBlock } from "./list-model.ts";
import { Losses } from "./losses.ts";
import type { FormatOptions, HeadFacts, Lines, NameFormat } from "./name-format.ts";
import type { NameVerdict } from "./rule-tree.ts";

/** What to do about rules that a format cannot say: leave them out, say more than they mean, or write nothing. */
export const LOSS_POLICIES = ["skip", "widen", "fail"] as const;
export type LossPolicy = (typeof LOSS_POLICIES)[number];

/** Takes whole lines: of so many names. */
export type LineSink = (bytes: Uint8Array, names: number) => void;

export interface ArtifactSinks {
  readonly block: LineSink;
  /** Where exceptions go, for formats that keep them apart. */
  readonly allow: LineSink;
}

/** What a file may hold at the most. */
export interface Room {
  readonly names: number;
  readonly bytes: number;
}

const PIECE = 1024 * 1024;

/** Writes a list in a format. Everything that is not written as it was meant is counted. */
export class ArtifactWriter {
  readonly losses: Losses = new Losses();
  /** Names in the file of blocks. */
  names = 0;
  private readonly format: NameFormat;
  private readonly lines: Lines;
  private readonly policy: LossPolicy;
  private readonly longest: number;
  private readonly sinks: ArtifactSinks;
  private readonly expander: NameExpander | undefined;
  private readonly templates = new Map<keyof Lines, LineTemplate>();
  private readonly out = new ByteBuffer(PIECE);
  private readonly texts = { block: [] as string[], allow: [] as string[] };
  private readonly filled = new Set<string>();
  private readonly withheld = new Set<string>();
  /** Bytes of what was written one by one. */
  private textBytes = 0;

  constructor(
    format: NameFormat,
    options: FormatOptions,
    policy: LossPolicy,
    sinks: ArtifactSinks,
    expander?: NameExpander,
  ) {
    this.expander = expander;
    this.format = format;
    this.lines = format.lines(options);
    this.policy = policy;
    this.longest = format.longestName(options);
    this.sinks = sinks;
    for (const [key, lines] of Object.entries(this.lines) as [keyof Lines, readonly string[]][])
      this.templates.set(key, new LineTemplate(lines));
  }

  /** Names that there was no room for, by source. */
  readonly leftOut: Map<number, number> = new Map();

  write(model: ListModel, room: Room = { names: Infinity, bytes: Infinity }): void {
    const { lines } = this;
    const left = { ...room };
    if (this.format.saysEverything === true) {
      for (const text of model.otherTexts()) {
        this.say("block", `${text}\n`);
        this.names++;
      }
      this.flushTexts();
      left.names -= this.names;
      left.bytes -= this.textBytes;
      for (const block of model.plainBlocks()) this.block(block, "subtree", left);
      return;
    }
    // What is allowed, and what stands beside it, goes first: it must not be what a limit leaves out.
    for (const verdict of model.verdicts()) this.withholdFor(verdict);
    for (const verdict of model.verdicts()) {
      const isNeeded =
        verdict.self === "allow" || verdict.below === "allow" || verdict.inherited !== undefined;
      if (isNeeded || this.names < room.names) this.verdict(verdict);
      else this.leaveOut(model.sourceOf(verdict.name), 1);
    }
    for (const { text, reason, regex } of model.nameless) {
      if (lines.rule !== undefined)
        this.say("block", this.template("rule").text(JSON.stringify(text)));
      else if (lines.regex !== undefined && regex !== undefined)
        this.say("block", this.template("regex").text(regex));
      else this.losses.add(reason, text);
    }
    this.flushTexts();
    const plain = lines.subtree === undefined ? "exact" : "subtree";
    left.names -= this.names;
    left.bytes -= this.textBytes;
    for (const block of model.blocks()) this.block(block, plain, left);
  }

  private leaveOut(source: number, names: number): void {
    this.leftOut.set(source, (this.leftOut.get(source) ?? 0) + names);
  }

  /** As many names of a block as there is room for. */
  private block(
    { bytes, count, source }: NameBlock,
    kind: "exact" | "subtree",
    left: { names: number; bytes: number },
  ): void {
    const template = this.template(kind);
    const taken = template.fitting(bytes, Math.min(count, Math.max(0, left.names)), left.bytes);
    if (taken < count) this.leaveOut(source, count - taken);
    if (taken === 0) return;
    if (kind === "exact") this.losses.add("narrowed", firstName(bytes), taken);
    this.names += taken;
    left.names -= taken;
    let lines = this.expander?.expand(template.parts, bytes, taken);
    if (lines === undefined) {
      this.out.length = 0;
      template.expand(bytes, taken, this.out);
      lines = this.out.view();
    }
    left.bytes -= lines.length;
    this.sinks.block(lines, taken);
  }

  /** Where an exception cannot be said, what it is an exception from is not blocked: rather too little than too much. */
  private withholdFor({ name, self, below, inherited, parents }: NameVerdict): void {
    if (inherited !== "block" || this.lines.subtree === undefined) return;
    const key = allowKey(self === "allow", below === "allow");
    if (key === undefined || this.lines[key] !== undefined) return;
    if (this.policy === "widen") this.losses.add("exception", name);
    else
      for (const parent of parents) {
        if (this.withheld.has(parent)) continue;
        this.withheld.add(parent);
        this.losses.add("excepted", parent);
      }
  }

  private verdict(verdict: NameVerdict): void {
    const { name, self, below, inherited, isNamed } = verdict;
    if (this.lines.subtree === undefined) {
      // No parent speaks for it here.
      if (isNamed) this.blocks(name, true, below === "block", false);
      else if (below === "block") this.losses.add("below", name);
      return;
    }
    if ((self === undefined && below === undefined) || this.withheld.has(name)) return;
    if (name.length > this.longest) {
      this.losses.add("not-a-name", name);
      return;
    }
    if (this.format.hidesParents === true && inherited !== undefined) this.hidden(verdict);
    else {
      // An exception for the name alone is said beside the block, and wins.
      const isBoth =
        self === "allow" &&
        below === "block" &&
        this.format.allowWins === true &&
        this.lines.allowExact !== undefined;
      this.blocks(name, self === "block" || isBoth, below === "block", inherited === "allow");
      this.allows(name, self === "allow", below === "allow");
    }
  }

  /** Where a name hides what a parent says, it is said again: for the name, and for those between the two. */
  private hidden({ name, self, below, inherited, between }: NameVerdict): void {
    for (const one of between) {
      if (this.filled.has(one)) continue;
      this.filled.add(one);
      if (inherited === "block") this.blocks(one, true, true, false);
      else this.allows(one, true, true);
    }
    const block = (one: NameVerdict["self"]): boolean => (one ?? inherited) === "block";
    const allow = (one: NameVerdict["self"]): boolean => (one ?? inherited) === "allow";
    this.blocks(name, block(self), block(below), false);
    this.allows(name, allow(self), allow(below));
  }

  private blocks(name: string, self: boolean, below: boolean, isNested: boolean): void {
    if (!self && !below) return;
    const { lines, policy } = this;
    if (isNested && this.format.allowWins === true) this.losses.add("nested", name);
    else if (self && below) {
      if (lines.subtree !== undefined) this.line("block", "subtree", name);
      else {
        this.losses.add("narrowed", name);
        this.line("block", "exact", name);
      }
    } else if (self) {
      if (lines.exact !== undefined) this.line("block", "exact", name);
      else if (policy === "widen") this.line("block", "subtree", name);
      else this.losses.add("exact", name);
    } else if (lines.below !== undefined) this.line("block", "below", name);
    else if (policy === "widen" && lines.subtree !== undefined) this.line("block", "subtree", name);
    else this.losses.add("below", name);
  }

  private allows(name: string, self: boolean, below: boolean): void {
    if (!self && !below) return;
    const key = allowKey(self, below)!;
    const file = this.format.hasAllowFile === true ? "allow" : "block";
    if (this.lines[key] !== undefined) this.line(file, key, name);
  }

  private template(key: keyof Lines): LineTemplate {
    return this.templates.get(key)!;
  }

  private line(file: "block" | "allow", key: keyof Lines, name: string): void {
    if (file === "block" && !key.startsWith("allow")) this.names++;
    this.say(file, this.template(key).text(name));
  }

  private say(file: "block" | "allow", text: string): void {
    this.texts[file].push(text);
    if (this.texts[file].length > 10_000) this.flushTexts();
  }

  private flushTexts(): void {
    for (const file of ["block", "allow"] as const) {
      const texts = this.texts[file];
      // Those that have as many lines go together, so that a file can be cut between names.
      for (let from = 0; from < texts.length;) {
        const lines = lineCount(texts[from]!);
        let to = from + 1;
        while (to < texts.length && lineCount(texts[to]!) === lines) to++;
        const bytes = encodeUtf8(texts.slice(from, to).join(""));
        if (file === "block") this.textBytes += bytes.length;
        this.sinks[file](bytes, to - from);
        from = to;
      }
      texts.length = 0;
    }
  }
}

function allowKey(self: boolean, below: boolean): keyof Lines | undefined {
  if (self && below) return "allowSubtree";
  if (self) return "allowExact";
  return below ? "allowBelow" : undefined;
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
