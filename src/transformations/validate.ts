import { AT, DOLLAR, HASH, SLASH, SPACE } from "../bytes/ascii.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { judgeHost } from "../syntax/acceptable-host.ts";
import { formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { commentedDomainEnd } from "../syntax/commented-domain.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { normaliseIpPattern } from "../syntax/ip-pattern.ts";
import { isPlainName, judgeBlockRow, judgeSuffix, suffixOf } from "../syntax/judge-row.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import { isBareDomainPrefix } from "../syntax/pattern-breadth.ts";
import { type ValidatorOptions, judgeRule } from "../syntax/validate-rule.ts";
import type { TransformationContext } from "./transformation-context.ts";
import { RuleStage } from "./rule-stage.ts";
import type { Transformation } from "./transformation.ts";

const RULES =
  "Keeps comments, blank lines, hosts lines with good names and rules that a DNS resolver can carry out. Modifiers other than `important`, `dnstype`, `dnsrewrite`, `ctag`, `denyallow`, `badfilter` and `client`, browser rules, bad host names, regular expressions that do not compile and rules that would match nearly everything are dropped, with the comments above them. Of a hosts line only the bad names go; a plain domain loses a trailing ` # note`.";

export const validate: Transformation = validator(
  { allowIp: false, allowPublicSuffix: false },
  "Drops what is not a rule for a DNS resolver",
  `${RULES} Addresses and whole public suffixes (\`||org^\`) are dropped too.`,
);

export const validateAllowIp: Transformation = validator(
  { allowIp: true, allowPublicSuffix: false },
  "The same as Validate, but keeps rules for addresses",
  "Rules for an address are kept, and written `||address^` whatever their spelling; `1.2.3.` and `1.2.3.*` match a subnet.",
);

export const validateAllowPublicSuffix: Transformation = validator(
  { allowIp: false, allowPublicSuffix: true },
  "The same as Validate, but keeps rules for public suffixes",
  "Rules for a listed public suffix such as `||org^` or `||co.uk^` are kept.",
);

export const validateAllowIpAndPublicSuffix: Transformation = validator(
  { allowIp: true, allowPublicSuffix: true },
  "The same as Validate, but keeps rules for addresses and public suffixes",
  "ValidateAllowIp and ValidateAllowPublicSuffix together.",
);

export type Validator = Transformation & { readonly options: ValidatorOptions };

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
