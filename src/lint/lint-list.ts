import { decodeUtf8, isValidUtf8 } from "../bytes/utf8.ts";
import type { SourceType } from "../config/fields.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import type { Host } from "../host/host.ts";
import { FATES, Fate, type FateName, hasCause } from "../rules/fate.ts";
import { type LineFate, type LineFates, lineFates } from "./line-fates.ts";
import {
  type Redundancy,
  type RuleLine,
  cancelledName,
  redundantLines,
} from "./redundant-lines.ts";
import {
  type TextProblem,
  isRunTogether,
  splitText,
  textProblems,
  trimmedLine,
} from "./text-problems.ts";

/** A problem in one line of a list. */
export interface LintProblem {
  /** The name of a fate or of a text problem. */
  readonly rule: FateName | TextProblem["rule"];
  readonly severity: "error" | "warning";
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Whether `--fix` fixes it without changing the meaning of the list. */
  readonly isFixable: boolean;
}

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
export async function lintList(path: string, type: SourceType, host: Host): Promise<LintResult> {
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
  { fates, cause, causeElsewhere }: LineFate,
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
