import { AT, DOLLAR, HASH, SLASH, SPACE, TAB, skipBlanks, skipBlanksBack } from "../bytes/text.ts";
import { Chunk, Flag, Kind, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import {
  BROWSER_MODIFIERS,
  type ValidatorOptions,
  formatAdblockRule,
  isPlainName,
  judgeBlockRow,
  judgeRule,
  judgeSuffix,
  parseAdblockRule,
  suffixOf,
} from "../syntax/adblock-rule.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { commentedDomainEnd, judgeHost } from "../syntax/host-name.ts";
import { filterNames, normaliseIpPattern } from "../syntax/hosts-line.ts";
import { isBareDomainPrefix } from "../syntax/name-pattern.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import { asciiLine, loadIdna } from "../syntax/written-names.ts";
import { compress, deduplicate } from "./compress.ts";
import {
  type Pass,
  RuleStage,
  type Stage,
  type Transformation,
  type TransformationContext,
  eachChunk,
} from "./stage.ts";

const convertToAscii: Transformation = {
  summary: "Writes international names in their ASCII form",
  details:
    "`||пример.рф^` becomes `||xn--e1afmkfd.xn--p1ai^` (UTS 46). Names are converted where a host may stand: in the pattern, in a hosts line, in the value of a modifier. Regular expressions, the selector of a browser rule, paths and comments stay as they are; a line whose name has no ASCII form is left alone and counted. Without `--compat`, every list has its names in ASCII anyway, and a line without an ASCII form is dropped.",
  prepare: (chunk) => (chunk.has.nonAscii ? loadIdna() : undefined),
  stages: (context) => [
    eachChunk((chunk) => {
      if (!chunk.has.nonAscii) return;
      for (let row = 0; row < chunk.length; row++) {
        if ((chunk.flags[row]! & Flag.NonAscii) === 0 || chunk.fate[row] !== Fate.Kept) continue;
        if (chunk.kind[row] === Kind.Comment) continue;
        const text = textOf(chunk, row);
        const ascii = asciiLine(text);
        if (ascii === undefined) context.warn("not-converted", chunk, row);
        if (ascii === undefined || ascii === text) continue;
        rewriteText(chunk, row, ascii);
        classifyAgain(chunk, row);
      }
    }),
  ],
};

const insertFinalNewLine: Transformation = {
  summary: "Ends the list with a line feed",
  details: "Adds one empty line at the end unless the last line is blank already.",
  stages: ({ pool }) => [new FinalLine(pool)],
};

class FinalLine implements Stage {
  private readonly pool: ChunkPool;
  private lastKind: number | undefined;
  private lastOrigin = 0;

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }

  push(chunk: Chunk, pass: Pass): void {
    this.lastOrigin = chunk.origin;
    this.lastKind = lastLiveKind(chunk) ?? this.lastKind;
    pass(chunk);
  }

  end(pass: Pass): void {
    if (this.lastKind === Kind.Blank) return;
    const chunk = this.pool.add(
      new Chunk(this.pool.arena, this.lastOrigin, new Uint8Array(0), { capacity: 1 }),
    );
    chunk.flags[chunk.push(0, 0, 0)] = Flag.Generated;
    chunk.has.blanks = chunk.has.otherRows = true;
    pass(chunk);
    this.pool.cache.done(chunk);
  }
}

function lastLiveKind(chunk: Chunk): number | undefined {
  for (let row = chunk.length - 1; row >= 0; row--)
    if (chunk.fate[row] === Fate.Kept) return chunk.kind[row];
  return undefined;
}

const invertAllow: Transformation = {
  summary: "Turns blocking rules into allowing ones",
  details:
    "Puts `@@` before every line that is not blank, not a comment, not a hosts line and does not begin with `@@` already. For trust, protected names and the question whether a source is a blocklist, its rules count as exceptions.",
  stages: () => [
    eachChunk((chunk) => {
      for (let row = 0; row < chunk.length; row++) {
        const kind = chunk.kind[row]!;
        if (chunk.fate[row] !== Fate.Kept || kind <= Kind.Hosts) continue;
        const text = textOf(chunk, row);
        if (text.startsWith("@@")) continue;
        rewriteText(chunk, row, `@@${text}`);
        classifyAgain(chunk, row);
      }
    }),
  ],
};

const removeComments: Transformation = {
  summary: "Drops comment lines",
  details:
    "A comment begins with `!` or `# `, is a lone `#`, or begins with `####`. In a source of type `hosts` or `domains` every line that begins with `#` is one. At the top level the banners above each source go too.",
  stages: ({ finder }) => [
    eachChunk((chunk) => {
      if (!chunk.has.comments) return;
      for (const row of finder.special(chunk))
        if (chunk.kind[row] === Kind.Comment) chunk.drop(row, Fate.Comment);
    }),
  ],
};

const removeEmptyLines: Transformation = {
  summary: "Drops empty lines",
  details: "A line of blanks only, of any script, counts as empty.",
  stages: ({ finder }) => [
    eachChunk((chunk) => {
      if (!chunk.has.blanks) return;
      for (const row of finder.special(chunk))
        if (chunk.kind[row] === Kind.Blank) chunk.drop(row, Fate.Empty);
    }),
  ],
};

const removeModifiers: Transformation = {
  summary: "Removes modifiers that only browsers know",
  details:
    "Takes `third-party`, `3p`, `document`, `doc`, `all`, `popup` and `network` out of a rule, with or without a value; other modifiers keep their bytes. A rule of which nothing is left is dropped. Outer blanks go as well.",
  stages: (context) => [
    eachChunk((chunk) => {
      for (let row = 0; row < chunk.length; row++)
        if (chunk.fate[row] === Fate.Kept && needsLook(chunk, row)) strip(chunk, row, context);
    }),
  ],
};

function strip(chunk: Chunk, row: number, context: TransformationContext): void {
  const text = textOf(chunk, row);
  const rule = parseAdblockRule(text);
  if (rule === undefined) return;
  const kept = rule.modifiers.filter(({ name }) => !BROWSER_MODIFIERS.has(name));
  const result = formatAdblockRule({ ...rule, modifiers: kept });
  if (kept.length < rule.modifiers.length) {
    context.warn("modifiers-removed", chunk, row);
    chunk.flags[row]! |= Flag.Widened;
    chunk.isChanged = true;
  }
  if (result === text) return;
  if (result === "") {
    chunk.drop(row, Fate.NothingLeft);
    return;
  }
  rewriteText(chunk, row, result);
  classifyAgain(chunk, row);
}

/** Trims a row and returns whether it may have modifiers: a line without a `$` does not change. */
function needsLook(chunk: Chunk, row: number): boolean {
  const flags = chunk.flags[row]!;
  const isBlock = (flags & Flag.AsBlock) !== 0;
  if (isBlock && (flags & Flag.PlainHost) !== 0) return false;
  if (!isBlock) trimRow(chunk, row);
  if (chunk.kind[row] === Kind.Comment || chunk.kind[row] === Kind.Domain) return false;
  const bytes = chunk.bytesOf(row);
  const start = isBlock ? chunk.hostStart[row]! : chunk.start[row]!;
  const end = isBlock ? chunk.hostEnd[row]! : chunk.end[row]!;
  for (let at = end - 1; at >= start; at--) if (bytes[at] === DOLLAR) return true;
  return false;
}

function trimRow(chunk: Chunk, row: number): void {
  const bytes = chunk.bytesOf(row);
  const start = skipBlanks(bytes, chunk.start[row]!, chunk.end[row]!);
  const end = skipBlanksBack(bytes, start, chunk.end[row]!);
  if (start === chunk.start[row] && end === chunk.end[row]) return;
  chunk.start[row] = start;
  chunk.end[row] = end;
  classifyAgain(chunk, row);
}

const trimLines: Transformation = {
  summary: "Removes spaces and tabs at both ends of a line",
  details:
    "Only the two ASCII blanks go; a no-break space or an ideographic space stays. Indented hosts lines are recognised only after this.",
  stages: ({ finder }) => [
    eachChunk((chunk) => {
      if (!chunk.has.outerBlanks) return;
      for (const row of finder.special(chunk)) {
        if ((chunk.flags[row]! & Flag.AsBlock) !== 0) continue;
        const bytes = chunk.bytesOf(row);
        let start = chunk.start[row]!;
        let end = chunk.end[row]!;
        while (start < end && (bytes[start] === SPACE || bytes[start] === TAB)) start++;
        while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end--;
        if (start === chunk.start[row] && end === chunk.end[row]) continue;
        chunk.start[row] = start;
        chunk.end[row] = end;
        classifyAgain(chunk, row);
      }
    }),
  ],
};

const RULES =
  "Keeps comments, blank lines, hosts lines with good names and rules that a DNS resolver can carry out. Modifiers other than `important`, `dnstype`, `dnsrewrite`, `ctag`, `denyallow`, `badfilter` and `client`, browser rules, bad host names, regular expressions that do not compile and rules that would match nearly everything are dropped, with the comments above them. Of a hosts line only the bad names go; a plain domain loses a trailing ` # note`.";

const validate: Transformation = validator(
  { allowIp: false, allowPublicSuffix: false },
  "Drops what is not a rule for a DNS resolver",
  `${RULES} Addresses and whole public suffixes (\`||org^\`) are dropped too.`,
);

const validateAllowIp: Transformation = validator(
  { allowIp: true, allowPublicSuffix: false },
  "The same as Validate, but keeps rules for addresses",
  "Rules for an address are kept, and written `||address^` whatever their spelling; `1.2.3.` and `1.2.3.*` match a subnet.",
);

const validateAllowPublicSuffix: Transformation = validator(
  { allowIp: false, allowPublicSuffix: true },
  "The same as Validate, but keeps rules for public suffixes",
  "Rules for a listed public suffix such as `||org^` or `||co.uk^` are kept.",
);

const validateAllowIpAndPublicSuffix: Transformation = validator(
  { allowIp: true, allowPublicSuffix: true },
  "The same as Validate, but keeps rules for addresses and public suffixes",
  "ValidateAllowIp and ValidateAllowPublicSuffix together.",
);

type Validator = Transformation & { readonly options: ValidatorOptions };

function validator(options: ValidatorOptions, summary: string, details: string): Validator {
  return {
    summary,
    details,
    options,
    prepare: (chunk) => (chunk.has.regexes ? loadRegex() : undefined),
    stages: (context) => [new Validation(context, options)],
  };
}

export function isValidator(transformation: Transformation): transformation is Validator {
  return "options" in transformation;
}

class Validation extends RuleStage {
  protected readonly keepsOrdinary = true;
  private readonly options: ValidatorOptions;
  private readonly context: TransformationContext;

  constructor(context: TransformationContext, options: ValidatorOptions) {
    super(context);
    this.options = options;
    this.context = context;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const fate = judge(chunk, row, this.options, this.context);
    if (fate !== Fate.Kept) chunk.drop(row, fate);
    return fate === Fate.Kept;
  }
}

function judge(
  chunk: Chunk,
  row: number,
  options: ValidatorOptions,
  context: TransformationContext,
): Fate {
  const kind = chunk.kind[row]!;
  const flags = chunk.flags[row]!;
  if (kind === Kind.Blank) return Fate.Kept;
  const isSeveral = kind === Kind.Hosts && (flags & Flag.SeveralNames) !== 0;
  if (kind !== Kind.Rule && !isSeveral && isPlainName(chunk, row)) {
    return judgeSuffix(suffixOf(chunk, row), options);
  }
  if ((flags & Flag.AsBlock) !== 0) return judgeBlockRow(chunk, row, options);
  if (kind === Kind.Hosts) return judgeHosts(chunk, row, options);
  return judgeText(chunk, row, options, context);
}

function judgeHosts(chunk: Chunk, row: number, options: ValidatorOptions): Fate {
  const line = textOf(chunk, row);
  let fate: Fate = Fate.NoName;
  const rest = filterNames(line, (name) => {
    const verdict = judgeHost(name, options, false);
    if (verdict !== Fate.Kept) fate = verdict;
    return verdict === Fate.Kept;
  });
  if (rest === undefined) return fate;
  if (rest !== line) {
    rewriteText(chunk, row, rest);
    classifyAgain(chunk, row);
  }
  return Fate.Kept;
}

function judgeText(
  chunk: Chunk,
  row: number,
  options: ValidatorOptions,
  context: TransformationContext,
): Fate {
  const nameEnd = commentedDomainEnd(chunk, row);
  if (nameEnd !== -1) {
    chunk.end[row] = nameEnd;
    classifyAgain(chunk, row);
  } else if (isBrowserRule(chunk, row)) return Fate.BadSyntax;
  if (options.allowIp) normaliseAddress(chunk, row);
  const isWidened = (chunk.flags[row]! & Flag.Widened) !== 0;
  if (isWidened && isBareDomainPrefix(textOf(chunk, row))) return Fate.BadHost;
  const fate = judgeRule(textOf(chunk, row), options);
  if (fate === Fate.BadRegex) context.warn("bad-regex", chunk, row);
  return fate;
}

/** Recognizes `example.org##.ad` by its bytes: a `#` in the pattern, and no sign of another syntax. */
function isBrowserRule(chunk: Chunk, row: number): boolean {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (end - start < 8 || bytes[start] === SLASH || bytes[start] === AT) return false;
  if (bytes[start]! <= SPACE || bytes[end - 1]! <= SPACE) return false;
  let hasHash = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === DOLLAR || byte > 126) return false;
    if (byte === HASH) hasHash = true;
  }
  return hasHash;
}

/** Writes the rule for an address in the form that every resolver reads as that address. */
function normaliseAddress(chunk: Chunk, row: number): void {
  const text = textOf(chunk, row);
  if (text.startsWith("#")) return;
  const rule = parseAdblockRule(text);
  const pattern = rule === undefined ? undefined : normaliseIpPattern(rule.pattern);
  if (rule === undefined || pattern === undefined || pattern === rule.pattern) return;
  rewriteText(chunk, row, formatAdblockRule({ ...rule, pattern }));
  classifyAgain(chunk, row);
}

/** Every transformation, in execution order. The order in a configuration does not matter. */
export const transformationRegistry: ReadonlyMap<string, Transformation> = new Map([
  ["ConvertToAscii", convertToAscii],
  ["TrimLines", trimLines],
  ["RemoveComments", removeComments],
  // Before Compress, so that a rule without its modifiers can cover others and be covered.
  ["RemoveModifiers", removeModifiers],
  ["Compress", compress],
  ["InvertAllow", invertAllow],
  ["Validate", validate],
  ["ValidateAllowIp", validateAllowIp],
  ["ValidateAllowPublicSuffix", validateAllowPublicSuffix],
  ["ValidateAllowIpAndPublicSuffix", validateAllowIpAndPublicSuffix],
  ["Deduplicate", deduplicate],
  ["RemoveEmptyLines", removeEmptyLines],
  ["InsertFinalNewLine", insertFinalNewLine],
]);
