import { decodeUtf8, encodeUtf8, isValidUtf8 } from "../bytes/text.ts";
import type { SourceType, Trust } from "../config/fields.ts";
import type { Config } from "../config/lists.ts";
import { compileList } from "../engine/compile.ts";
import { planOf } from "../engine/plan.ts";
import { listFeatures } from "../features/registry.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import type { Host } from "../host/host.ts";
import { nodeHost } from "../host/node.ts";
import { normalLine, subtreeName } from "../meaning/line.ts";
import { Flag, Kind, textOf } from "../rules/chunk.ts";
import { FATES, Fate, hasCause } from "../rules/fate.ts";
import { rowOf } from "../rules/rule-table.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { isListedName } from "../syntax/host-name.ts";
import { hostsLine, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { withParents } from "../syntax/public-suffix.ts";
import type { LintProblem, TextFault } from "../documents/facts.ts";

/** The problems of a list, and its text with fixes applied. */
export interface LintResult {
  readonly problems: readonly LintProblem[];
  readonly fixed: string;
}

/** Lines that never reach a resolver. */
const ERRORS: ReadonlySet<number> = new Set([
  Fate.NoName,
  Fate.NothingLeft,
  Fate.BadSyntax,
  Fate.ControlBytes,
  Fate.BadHost,
  Fate.BadModifier,
  Fate.BadRegex,
  Fate.TooShort,
  Fate.TooWide,
  Fate.PublicSuffix,
  Fate.TooLong,
]);
/** Lines that are dropped if the list is used as a source below full trust. */
const UNTRUSTED: ReadonlySet<number> = new Set([
  Fate.RealAddress,
  Fate.Rewrites,
  Fate.Cancels,
  Fate.SlowRegex,
]);

/** Checks a list file. Rejects with a `CompilerError` if it is not a list. */
export async function lintList(
  path: string,
  type: SourceType,
  host: Host = nodeHost(),
): Promise<LintResult> {
  const own = await lineFates(path, type, "full", host);
  const distrusted = await lineFates(path, type, "standard", host);
  const bytes = await host.readFile(path);
  const text = decodeUtf8(bytes);
  const split = splitText(text);
  // In other formats, the position of a line may matter.
  const isTranslated = foreignFormats.has(type);
  // Text with invalid bytes cannot be written back unchanged.
  const isWritable = isValidUtf8(bytes) && !isTranslated && !isRunTogether(split);
  const redundant = isTranslated
    ? new Map<number, Redundancy>()
    : redundantLines(
        ruleLines(split.lines, own, distrusted),
        new Set([...own.cancelledElsewhere, ...cancelledNames(split.lines)]),
      );
  const gone = removableLines(split.lines, redundant);
  const problems: LintProblem[] = [];
  for (const [line, fate] of own.lines) {
    for (const one of new Set(fate.fates))
      if (ERRORS.has(one)) problems.push(basicProblem(one, line));
    const other = redundant.get(line) ?? otherCause(fate, isTranslated);
    if (other !== undefined) problems.push(redundancyProblem(line, other, gone.has(line)));
    for (const one of new Set(distrusted.lines.get(line)?.fates))
      if (UNTRUSTED.has(one) && !fate.fates.includes(one))
        problems.push({ ...basicProblem(one, line), severity: "warning" });
  }
  const ofText = textProblems(split);
  problems.push(...ofText.problems.filter(({ line }) => !gone.has(line)));
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  if (isWritable) return { problems, fixed: ofText.fixed(gone) };
  return { problems: problems.map((one) => ({ ...one, isFixable: false })), fixed: text };
}

/** The lines that are rules, as the compiler reads them. */
function ruleLines(lines: readonly string[], own: LineFates, distrusted: LineFates): RuleLine[] {
  const branches = branchesOf(lines);
  // Includes in a skipped branch may cancel any rule.
  const isAllRead = lines.every(
    (line, index) =>
      !/^!#include(?:\s|$)/.test(line) ||
      own.lines.get(index + 1)?.fates.includes(Fate.Directive) === true,
  );
  return [...own.lines]
    .filter(([, { fates }]) => fates.every(isInForce))
    .map(([line]) => ({
      line,
      text: trimmedLine(lines[line - 1] ?? ""),
      branch: branches[line - 1] ?? "",
      mayCover: isAllRead && distrusted.lines.get(line)?.fates.every(isInForce) === true,
    }));
}

function isInForce(fate: number): boolean {
  return fate === Fate.Kept || hasCause(fate);
}

function cancelledNames(lines: readonly string[]): string[] {
  return lines.flatMap((line) => cancelledName(line.trim()) ?? []);
}

/** The branch of `!#if` of every line, nested in the branches around it. */
function branchesOf(lines: readonly string[]): string[] {
  const open: string[] = [];
  let count = 0;
  return lines.map((line) => {
    if (/^!#(?:endif|else)/.test(line)) open.pop();
    if (/^!#(?:if|else)/.test(line)) open.push(`${++count}/`);
    return open.join("");
  });
}

function hasText(line: string): boolean {
  return line.trim() !== "";
}

/**
 * The lines that may be removed. Reading a file trims it. If blanks must stay, the first and the last line must stay too:
 * otherwise the new first or last line would be trimmed.
 */
function removableLines(
  lines: readonly string[],
  redundant: ReadonlyMap<number, Redundancy>,
): Set<number> {
  const gone = new Set<number>();
  for (const [line, { isRemovable }] of redundant) if (isRemovable) gone.add(line);
  if (!lines.some((line) => /^[ \t]|[ \t]$/.test(trimmedLine(line)))) return gone;
  gone.delete(lines.findIndex(hasText) + 1);
  gone.delete(lines.findLastIndex(hasText) + 1);
  return gone;
}

/** Why a line is redundant, if the cause is in an included file or the file has another format. */
function otherCause(
  { fates, cause, causeElsewhere }: LintedLine,
  isTranslated: boolean,
): Pick<Redundancy, "fate"> | Redundancy | undefined {
  const fate = isTranslated ? fates.find(hasCause) : causeElsewhere;
  if (fate === undefined) return undefined;
  const known = fate as Redundancy["fate"];
  return isTranslated && cause !== undefined
    ? { fate: known, by: cause, isRemovable: false }
    : { fate: known };
}

function basicProblem(fate: number, line: number): LintProblem {
  const [rule, , message] = FATES[fate]!;
  return { rule, severity: "error", line, column: 1, message, isFixable: false };
}

function redundancyProblem(
  line: number,
  { fate, by }: Pick<Redundancy, "fate"> & { readonly by?: number },
  isFixable: boolean,
): LintProblem {
  const problem = basicProblem(fate, line);
  const message = by === undefined ? problem.message : `${problem.message}: line ${by}`;
  return { ...problem, severity: "warning", message, isFixable };
}

/** Transformations that nearly every configuration uses. */
export const LINT_TRANSFORMATIONS: readonly string[] = [
  "RemoveComments",
  "Compress",
  "Validate",
  "Deduplicate",
  "TrimLines",
  "RemoveEmptyLines",
  "InsertFinalNewLine",
];

interface LintedLine {
  /** The fate of each rule in the line; a hosts line may have several names. */
  readonly fates: number[];
  /** The line of the same file that made it redundant. */
  cause?: number;
  /** Its fate, if a rule of an included file makes it redundant. */
  causeElsewhere?: number;
}

interface LineFates {
  /** By line of the file itself, from 1, without included lines. */
  readonly lines: ReadonlyMap<number, LintedLine>;
  /** Names that `$badfilter` rules of included files cancel. */
  readonly cancelledElsewhere: ReadonlySet<string>;
}

/** The fate of every line of a file that is compiled alone. */
async function lineFates(
  path: string,
  type: SourceType,
  trust: Trust,
  host: Host,
): Promise<LineFates> {
  const config: Config = {
    name: "lint",
    sources: [{ source: path, type, trust }],
    transformations: [...LINT_TRANSFORMATIONS],
  };
  const compiled = await compileList(planOf(config, { features: listFeatures }), host, () => {}, {
    memory: Infinity,
  });
  const lines = new Map<number, LintedLine>();
  const cancelledElsewhere = new Set<string>();
  try {
    const { chunks, pool } = compiled.rules;
    const first = pool.origins.findIndex(({ place }) => place !== undefined);
    for (const chunk of chunks) {
      const isOwn = chunk.origin === first;
      for (let row = 0; row < chunk.length; row++) {
        const fate = chunk.fate[row]!;
        if (!isOwn) {
          const name =
            chunk.kind[row] === Kind.Rule ? cancelledName(textOf(chunk, row)) : undefined;
          if (name !== undefined) cancelledElsewhere.add(name);
          continue;
        }
        if (fate === Fate.Spare) continue;
        const line = chunk.lineOf(row);
        const known: LintedLine = lines.get(line) ?? { fates: [] };
        known.fates.push(fate);
        lines.set(line, known);
        if (!hasCause(fate) || chunk.by === undefined) continue;
        const by = chunk.by[row]!;
        const other = pool.chunkOf(by);
        const isName = (chunk.flags[row]! & Flag.AsBlock) !== 0;
        // Compress reads a hosts line as a rule for all names below it. Other programs do not.
        const isByName = (other.flags[rowOf(by)]! & Flag.AsBlock) !== 0;
        if (other.origin === first) known.cause ??= other.lineOf(rowOf(by));
        else if (!isByName || (isName && fate === Fate.SameHost)) known.causeElsewhere ??= fate;
      }
    }
  } finally {
    compiled.close();
  }
  return { lines, cancelledElsewhere };
}

/** A redundant line. */
interface Redundancy {
  readonly fate: typeof Fate.Duplicate | typeof Fate.SameHost | typeof Fate.Covered;
  /** The line, from 1, that makes it redundant. */
  readonly by: number;
  /** Whether the list means the same without the line, for every use. */
  readonly isRemovable: boolean;
}

/** A line that is a rule. */
interface RuleLine {
  readonly line: number;
  /** The line without meaningless blanks at its ends. */
  readonly text: string;
  /** Its branch of `!#if`. A branch is read together with every branch that is a prefix of it. */
  readonly branch: string;
  /** Whether it blocks in every list that contains it. */
  readonly mayCover: boolean;
}

interface NamedLine extends RuleLine {
  readonly name: string;
}

/**
 * Finds redundant lines. A line is removable only if the list means the same without it for every use: as a subscription,
 * and as a source with any transformations. Hosts lines and plain names block one name in some programs and all names below
 * it in others, so they are removable only if the same text occurs again.
 */
function redundantLines(
  rules: readonly RuleLine[],
  cancelled: ReadonlySet<string>,
): Map<number, Redundancy> {
  const byText = Map.groupBy(rules, ({ text }) => text);
  const subtrees = byName(rules, (text) => namesIn(text).subtree);
  const names = byName(rules, (text) => namesIn(text).exact);
  const found = new Map<number, Redundancy>();
  for (const rule of rules) {
    const { subtree, exact } = namesIn(rule.text);
    const redundancy =
      copyOf(rule, byText.get(rule.text)!, isNamed(rule.text)) ??
      coverOf(rule, subtree, subtrees, cancelled) ??
      exact
        .map(
          (name) => nameCover(rule, name, subtrees, cancelled) ?? otherName(rule, names.get(name)!),
        )
        .find((one) => one !== undefined);
    if (redundancy !== undefined) found.set(rule.line, redundancy);
  }
  return found;
}

/** Whether Compress reads a line as names. It reads the normal form. */
function isNamed(text: string): boolean {
  const { subtree, exact } = namesIn(text);
  if (subtree.length + exact.length > 0) return true;
  const normal = normalLine(text, false);
  return normal !== undefined && normal !== text && isNamed(normal);
}

/** Compress keeps the first rule for a name. Deduplicate keeps the last of other lines. `--fix` does the same. */
function copyOf(
  rule: RuleLine,
  copies: readonly RuleLine[],
  isName: boolean,
): Redundancy | undefined {
  const kept = isName ? copies[0]! : copies.at(-1)!;
  if (kept.line === rule.line) return undefined;
  const by = isName
    ? copies.find((other) => other.line >= rule.line || isReadWith(rule, other))!
    : copies.findLast((other) => other.line <= rule.line || isReadWith(rule, other))!;
  const isRead = isName ? by.line < rule.line : by.line > rule.line;
  // For several rewrites of a name, the order matters.
  const isRemovable = isRead && !rule.text.includes("dnsrewrite");
  return { fate: Fate.Duplicate, by: isRead ? by.line : kept.line, isRemovable };
}

/** Finds a rule that blocks as much as a rule for a name and all names below it, or more. */
function coverOf(
  rule: RuleLine,
  [name]: readonly string[],
  subtrees: ReadonlyMap<string, readonly NamedLine[]>,
  cancelled: ReadonlySet<string>,
): Redundancy | undefined {
  if (name === undefined) return undefined;
  const covers = coversOf(name, subtrees, cancelled).filter(
    (other) => other.name !== name || (other.line < rule.line && other.text !== rule.text),
  );
  const by = covers.find((other) => isReadWith(rule, other)) ?? covers[0];
  if (by === undefined) return undefined;
  const fate = by.name === name ? Fate.SameHost : Fate.Covered;
  return { fate, by: by.line, isRemovable: isReadWith(rule, by) };
}

/** Finds a rule for a name and all names below it that makes a line for one name redundant. */
function nameCover(
  { line }: RuleLine,
  name: string,
  subtrees: ReadonlyMap<string, readonly NamedLine[]>,
  cancelled: ReadonlySet<string>,
): Redundancy | undefined {
  const by = coversOf(name, subtrees, cancelled).find((other) => other.line !== line);
  if (by === undefined) return undefined;
  const fate = by.name === name ? Fate.SameHost : Fate.Covered;
  return { fate, by: by.line, isRemovable: false };
}

function otherName({ line }: RuleLine, lines: readonly NamedLine[]): Redundancy | undefined {
  const by = lines.find((other) => other.line < line);
  return by && { fate: Fate.SameHost, by: by.line, isRemovable: false };
}

/** The rules that block a name and all names below it, widest first. */
function coversOf(
  name: string,
  subtrees: ReadonlyMap<string, readonly NamedLine[]>,
  cancelled: ReadonlySet<string>,
): NamedLine[] {
  return withParents(name)
    .toReversed()
    .filter((parent) => !cancelled.has(parent))
    .flatMap((parent) => subtrees.get(parent) ?? [])
    .filter(({ mayCover }) => mayCover);
}

/** Whether every reader of a line also reads the other one. */
function isReadWith({ branch }: RuleLine, other: RuleLine): boolean {
  return branch.startsWith(other.branch);
}

/** The first line of each branch for every name. */
function byName(
  rules: readonly RuleLine[],
  namesOf: (text: string) => readonly string[],
): Map<string, NamedLine[]> {
  const found = new Map<string, NamedLine[]>();
  const known = new Set<string>();
  for (const rule of rules)
    for (const name of namesOf(rule.text)) {
      const key = `${rule.branch} ${name}`;
      if (known.has(key)) continue;
      known.add(key);
      const lines = found.get(name);
      if (lines === undefined) found.set(name, [{ ...rule, name }]);
      else lines.push({ ...rule, name });
    }
  return found;
}

/** The name of a rule `||name^`, or the names of a hosts line or of a plain name, perhaps with a note. */
function namesIn(text: string): { subtree: readonly string[]; exact: readonly string[] } {
  const line = text.trim().toLowerCase();
  const subtree = subtreeName(line);
  if (subtree !== undefined) return { subtree: [subtree], exact: [] };
  const bytes = encodeUtf8(line);
  const exact: string[] = [];
  if (readHostsLine(bytes, 0, bytes.length))
    do exact.push(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    while (nextName(bytes));
  else {
    const name = /^(?<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)(?:\s+#.*)?$/.exec(line)?.groups?.["name"];
    if (name !== undefined && (!name.includes("_") || isListedName(name))) exact.push(name);
  }
  return { subtree: [], exact };
}

/** The name of a `$badfilter` rule, whichever rule for that name it cancels. */
function cancelledName(text: string): string | undefined {
  if (!text.includes("badfilter")) return undefined;
  return subtreeName(parseAdblockRule(text)?.pattern.toLowerCase() ?? "");
}

/** A problem of the text of a line, independent of its meaning. */
interface TextProblem {
  readonly rule: TextFault;
  readonly severity: "warning";
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly isFixable: boolean;
}

const BYTE_ORDER_MARK = "\uFEFF";

/** The lines of a list. */
interface ListText {
  readonly hasMark: boolean;
  readonly lines: readonly string[];
  /** The line ending of each line; empty if the last line has no line ending. */
  readonly ends: readonly string[];
}

function splitText(text: string): ListText {
  const hasMark = text.startsWith(BYTE_ORDER_MARK);
  const bare = hasMark ? text.slice(1) : text;
  const lines = bare.split(/\r\n?|\n/);
  const ends: string[] = bare.match(/\r\n?|\n/g) ?? [];
  if (lines.at(-1) === "") lines.pop();
  else ends.push("");
  return { hasMark, lines, ends };
}

/** Whether programs that only end lines at line feeds see the list as one long line. */
function isRunTogether({ ends }: Pick<ListText, "ends">): boolean {
  return ends.includes("\r");
}

/** The line starts with a name or an address, or is a single name. */
const STARTS_WITH_NAME = /^[a-z0-9_:[\u0080-\uffff]/i;
const IS_NAME = /^[a-z0-9_.\u0080-\uffff-]+$/i;

/**
 * The line without blanks at its ends, if they do not change its meaning. Some programs recognize a name or a hosts line
 * with outer blanks only if they trim lines first. A directive after a blank is not a directive.
 */
function trimmedLine(line: string): string {
  const text = line.replaceAll(/^[ \t]+|[ \t]+$/g, "");
  if (/^[ \t]/.test(line) && (text.startsWith("!#") || STARTS_WITH_NAME.test(text))) return line;
  return /[ \t]$/.test(line) && IS_NAME.test(text) ? line : text;
}

/** The problems of the text, and the fixed text without the removed lines. */
function textProblems({ hasMark, lines, ends }: ListText): {
  problems: TextProblem[];
  fixed(gone: ReadonlySet<number>): string;
} {
  const problems: TextProblem[] = [];
  const add = (
    rule: TextProblem["rule"],
    [line, column]: readonly [number, number],
    message: string,
    isFixable = true,
  ): void => void problems.push({ rule, severity: "warning", line, column, message, isFixable });
  if (hasMark) add("byte-order-mark", [1, 1], "begins with a byte order mark");
  const odd = ends.findIndex((end) => end.startsWith("\r"));
  const endings = isRunTogether({ ends })
    ? "ends with a bare carriage return, which many programs do not treat as a line end"
    : "lines end with a carriage return";
  if (odd !== -1) add("carriage-return", [odd + 1, lines[odd]!.length + 1], endings);
  if (ends.at(-1) === "")
    add(
      "no-final-line-feed",
      [lines.length, lines.at(-1)!.length + 1],
      "the last line has no line feed",
    );
  for (const [index, line] of lines.entries()) {
    if (!/^[ \t]|[ \t]$/.test(line)) continue;
    const isIndented = /^[ \t]/.test(line);
    const column = isIndented ? 1 : line.trimEnd().length + 1;
    const isSafe = trimmedLine(line) !== line;
    const blanks = isSafe
      ? "has leading or trailing blanks"
      : "has leading or trailing blanks, and means something else to programs that do not trim lines";
    add("outer-blanks", [index + 1, column], blanks, isSafe);
  }
  return {
    problems,
    fixed: (gone) =>
      lines.map((line, index) => (gone.has(index + 1) ? "" : `${trimmedLine(line)}\n`)).join(""),
  };
}
