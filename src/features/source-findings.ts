import { decodeUtf8 } from "../bytes/text.ts";
import { SOURCE_CODES } from "../diagnostics/codes.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable } from "../diagnostics/text.ts";
import type { FeatureRun, ListFeature } from "../engine/feature.ts";
import { type Chunk, Flag, textOf } from "../rules/chunk.ts";
import { FATES, Fate, fateName, isSilent } from "../rules/fate.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { quickAscii } from "../syntax/written-names.ts";

/** Fates of lines that are not rules, or that the source may not have: the author of the line can change that. */
const FAULTS: ReadonlySet<number> = new Set<number>([
  Fate.NoName,
  Fate.NothingLeft,
  Fate.BadSyntax,
  Fate.BadHost,
  Fate.BadModifier,
  Fate.BadRegex,
  Fate.TooShort,
  Fate.TooWide,
  Fate.PublicSuffix,
  Fate.IpAddress,
  Fate.ControlBytes,
  Fate.TooLong,
  Fate.RealAddress,
  Fate.Rewrites,
  Fate.Cancels,
  Fate.NotBlockOnly,
  Fate.SlowRegex,
  Fate.Trigger,
  Fate.NotFollowed,
  Fate.TooNested,
]);
/** 1 for each of them. */
const IS_FAULT = Uint8Array.from({ length: 256 }, (_, fate) => (FAULTS.has(fate) ? 1 : 0));

/** So many lines of a file are shown. */
const MOST_SHOWN = 5;
/** A local file with more lines comes from another author. The summary counts its faults. */
const MOST_OWN_LINES = 1000;
/** More faults are counted and not shown. */
const MOST_OWN_FAULTS = 100;
/** So many faults of a source show what it is. */
const SAMPLE = 2000;
/** A few lines show nothing. */
const LEAST_LINES = 20;

interface OwnFile {
  lines: number;
  faults: number;
  lastLine: number;
  readonly fates: Set<number>;
  readonly shown: { readonly line: number; readonly text: string; readonly fate: Fate }[];
}

interface JudgedSource {
  readonly label: string;
  /** Whether the user can change its lines. */
  readonly isOwn: boolean;
}

/** Finds sources that are not what the user meant: lists for browsers, lists without rules, own files with faulty lines. */
export const sourceFindings: ListFeature = {
  name: "source-findings",
  open({ plan, options, reader, context }): FeatureRun | undefined {
    if (options.compat === true) return undefined;
    let findings: SourceFindings | undefined;
    return {
      start() {
        const judged = plan.sources.map(({ index, label, feed }) => ({
          label,
          isOwn: reader.states[index]?.kind === "local" && feed === undefined,
        }));
        findings = new SourceFindings(judged, context.pool);
      },
      take: (chunk) => findings!.take(chunk),
      result: (counts) => ({ diagnostics: findings!.warnings(counts) }),
    };
  },
};

class SourceFindings {
  private readonly pool: ChunkPool;
  private readonly sources: readonly JudgedSource[];
  private readonly samples: { seen: number; forBrowsers: number }[];
  /** By source and file. */
  private readonly files: Map<string, OwnFile>[];

  constructor(sources: readonly JudgedSource[], pool: ChunkPool) {
    this.pool = pool;
    this.sources = sources;
    this.samples = sources.map(() => ({ seen: 0, forBrowsers: 0 }));
    this.files = sources.map(() => new Map());
  }

  /** Takes the chunks that are written. */
  take(chunk: Chunk): void {
    const { source, file } = this.pool.origins[chunk.origin]!;
    const sample = this.samples[source]!;
    const known = this.sources[source]!.isOwn ? this.fileOf(source, file) : undefined;
    // Nothing is shown of a longer file.
    const own = known !== undefined && known.lines <= MOST_OWN_LINES ? known : undefined;
    if (own !== undefined) own.lines += linesIn(chunk);
    else if (sample.seen >= SAMPLE) return;
    const { fate, flags, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (IS_FAULT[fate[row]!] === 0 || (flags[row]! & Flag.Generated) !== 0) continue;
      if (sample.seen < SAMPLE) {
        sample.seen++;
        if (isForBrowsers(textOf(chunk, row))) sample.forBrowsers++;
      }
      if (own !== undefined) addFault(own, chunk, row);
    }
  }

  private fileOf(source: number, file: string): OwnFile {
    const files = this.files[source]!;
    let known = files.get(file);
    if (known === undefined) {
      known = { lines: 0, faults: 0, lastLine: 0, fates: new Set(), shown: [] };
      files.set(file, known);
    }
    return known;
  }

  /** `counts` are the lines of each source by fate. */
  warnings(counts: readonly Float64Array[]): Diagnostic[] {
    return this.sources.flatMap(({ label }, source) => {
      const { faults, others } = totals(counts[source]!);
      const { seen, forBrowsers } = this.samples[source]!;
      const shown = printable(label);
      if (faults >= LEAST_LINES && faults > others && forBrowsers > seen / 2) {
        const share = `${numberText(faults)} of ${countText(faults + others, "line")}`;
        const message = `${shown} looks like a list for browsers: ${share} say nothing about names`;
        return [hinted("browser-list", message, shown)];
      }
      const own = [...this.files[source]!].flatMap(([file, found]) => ownWarning(file, found));
      if (own.length > 0 || others > 0) return own;
      const lines = faults + counts[source]![Fate.Setting]!;
      if (lines === 0) return [];
      const message = `${shown} gives no rule: none of its ${countText(lines, "line")} is one`;
      return [hinted("source-without-rules", message, shown)];
    });
  }
}

function linesIn({ flags, length }: Chunk): number {
  let lines = 0;
  for (let row = 0; row < length; row++)
    if ((flags[row]! & (Flag.Generated | Flag.Continued)) === 0) lines++;
  return lines;
}

function hinted(
  code: "browser-list" | "source-without-rules",
  message: string,
  subject: string,
): Diagnostic {
  return warningOf(code, message, { hint: SOURCE_CODES[code].hint, subject });
}

function addFault(own: OwnFile, chunk: Chunk, row: number): void {
  const line = chunk.lineOf(row);
  // Another name of the same line.
  if (line === own.lastLine) return;
  own.lastLine = line;
  own.faults++;
  const fate = chunk.fate[row] as Fate;
  own.fates.add(fate);
  if (own.shown.length < MOST_SHOWN) own.shown.push({ line, text: writtenText(chunk, row), fate });
}

/** The line, even if Compress made a rule of it. */
function writtenText(chunk: Chunk, row: number): string {
  return decodeUtf8(chunk.bytesOf(row), chunk.start[row], chunk.end[row]).trim();
}

/** Lines that are not rules, and those that are, or were. */
function totals(count: Float64Array): { readonly faults: number; readonly others: number } {
  let faults = 0;
  let others = 0;
  for (const [fate, lines] of count.entries())
    if (IS_FAULT[fate] === 1) faults += lines;
    else if (!isSilent(fate)) others += lines;
  return { faults, others };
}

function ownWarning(file: string, { lines, faults, fates, shown }: OwnFile): Diagnostic[] {
  if (faults === 0 || lines > MOST_OWN_LINES) return [];
  const name = printable(file);
  const all = [...fates].map((fate) => `--fate ${fateName(fate)}`).join(" ");
  const command = `rules-compiler stats ${all}`;
  const start = `${name}: ${countText(faults, "line is", "lines are")} not in the list`;
  if (faults > MOST_OWN_FAULTS)
    return [warningOf("own-lines", start, { hint: `See them with ${command}` })];
  const warnings = shown.map(({ line, text, fate }) =>
    warningOf(
      "own-lines",
      `${name}:${line} is not in the list: ${fateName(fate)}, ${FATES[fate][2]}`,
      {
        at: { file, line, frame: text },
        hint: printable(lineAdvice(text, fate), 160),
      },
    ),
  );
  const more = faults - shown.length;
  if (more === 0) return warnings;
  const rest = `${name}: ${countText(more, "more line is", "more lines are")} not in the list`;
  return [...warnings, warningOf("own-lines", rest, { hint: `See all with ${command}` })];
}

/** `##`, `#@#`, `#?#` and the like, or a script: for the page, not for its name. */
const PAGE_RULE = /#[@$?%]*#|#%#|\$\$/;
const PATH = /^(?:@@)?(?:\|\|?)?(?:[a-z]+:\/\/)?[^\s/|^$*]*\/.*[^/]$/i;
const PAGE_MODIFIERS =
  /[$,]~?(?:third-party|3p|1p|first-party|script|image|stylesheet|xmlhttprequest|xhr|subdocument|frame|object|media|font|websocket|ping|other|popup|domain|redirect|redirect-rule|rewrite|csp|removeparam|generichide|ghide|elemhide|ehide|document|doc|inline-script|webrtc|match-case)(?:[=,]|$)/;

/** Whether a line that resolvers cannot use is meant for browsers. */
export function isForBrowsers(text: string): boolean {
  return PAGE_RULE.test(text) || PAGE_MODIFIERS.test(text) || PATH.test(text);
}

const NAME = String.raw`[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+`;
const SEVERAL = new RegExp(String.raw`^${NAME}(?:[\s,;]+${NAME})+[,;]?$`, "u");
const ADDRESS = new RegExp(
  String.raw`^(?:@@)?(?:\|\|?)?(?:[a-z]+:\/\/)?(?<host>${NAME})(?::\d+)?[/?]`,
  "iu",
);
const OTHER_LETTERS = /[\p{L}\p{N}_.-]*[^\u0000-\u007f][\p{L}\p{N}_.-]*/gu;
/** A longer line gets the advice of its fate: some expressions take quadratic time. */
const LONGEST_LINE = 300;
/** What to write instead, where the text of the line does not say more. */
const BY_FATE: Readonly<Partial<Record<Fate, string>>> = {
  [Fate.PublicSuffix]: "write the names below it, or use ValidateAllowPublicSuffix",
  [Fate.IpAddress]: "use ValidateAllowIp",
  [Fate.TooShort]: "write a whole name",
  [Fate.TooWide]: "write a whole name",
  [Fate.BadRegex]: "correct the expression",
};

/** What the author of a line, which is not in the list, can do about it. */
function lineAdvice(text: string, fate: Fate): string {
  const advice = insteadOf(text, fate) ?? "correct the line, or remove it";
  return `${advice[0]!.toUpperCase()}${advice.slice(1)}`;
}

function insteadOf(text: string, fate: Fate): string | undefined {
  if (text.length > LONGEST_LINE) return BY_FATE[fate];
  const isAllow = text.startsWith("@@");
  if (PAGE_RULE.test(text))
    return "remove the line: it changes a page, and a resolver sees only names";
  if (SEVERAL.test(text)) return "write one name per line";
  const host = ADDRESS.exec(text)?.groups?.["host"];
  if (host !== undefined) return `write ${isAllow ? "@@" : ""}||${quickAscii(host)}^`;
  if (fate === Fate.BadModifier) {
    const { pattern = "" } = parseAdblockRule(text) ?? {};
    return `write ${isAllow ? "@@" : ""}${pattern} without the modifiers that a resolver does not know`;
  }
  const ascii = text.replace(OTHER_LETTERS, quickAscii);
  return ascii === text ? BY_FATE[fate] : `write ${ascii}`;
}
