import { decodeUtf8, isValidUtf8 } from "../bytes/utf8.ts";
import { compileList } from "../compile/compile.ts";
import type { Config, SourceType, Trust } from "../config/fields.ts";
import type { Host } from "../host/host.ts";
import { FATES, Fate, type FateName, fateName, hasCause } from "../rules/fate.ts";
import { rowOf } from "../rules/rule-table.ts";
import { type TextProblem, textProblems } from "./text-problems.ts";

/** Something about one line of a list that its author should know. */
export interface LintProblem {
  /** A fate, or what is wrong with the text. */
  readonly rule: FateName | TextProblem["rule"];
  readonly severity: "error" | "warning";
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Whether `--fix` mends it. */
  readonly isFixable: boolean;
}

/** What a list comes to: its problems, and its text without those that can be mended. */
export interface LintResult {
  readonly problems: readonly LintProblem[];
  readonly fixed: string;
}

/** What is done to a list in nearly every configuration. What is mended makes no difference to the result of these. */
export const LINT_TRANSFORMATIONS: readonly string[] = [
  "RemoveComments",
  "Compress",
  "Validate",
  "Deduplicate",
  "TrimLines",
  "RemoveEmptyLines",
  "InsertFinalNewLine",
];

/** Lines that no resolver would get. */
const ERRORS: ReadonlySet<number> = new Set([
  Fate.NoName,
  Fate.NothingLeft,
  Fate.BadSyntax,
  Fate.BadHost,
  Fate.BadModifier,
  Fate.BadRegex,
  Fate.TooShort,
  Fate.TooWide,
  Fate.PublicSuffix,
  Fate.TooLong,
]);
/** Lines that are dropped where the list is fetched by somebody who does not trust it wholly. */
const UNTRUSTED: ReadonlySet<number> = new Set([
  Fate.ControlBytes,
  Fate.RealAddress,
  Fate.Rewrites,
  Fate.Cancels,
  Fate.SlowRegex,
]);

interface LineFate {
  /** Of each rule in it; several for a hosts line of several names. */
  readonly fates: number[];
  /** The line that made it redundant. */
  cause: number | undefined;
}

/** Looks at a list file. Rejects with a `CompilerError` when it cannot be read as a list. */
export async function lintList(path: string, type: SourceType, host: Host): Promise<LintResult> {
  const own = await fatesOf(path, type, "full", host);
  const distrusted = await fatesOf(path, type, "standard", host);
  const bytes = await host.readFile(path);
  const text = decodeUtf8(bytes);
  const stretches = stretchesOf(text);
  // With a blank before it, a directive is none, unless it comes to stand first: nothing above it may go.
  const hasOddDirective = /^[ \t]+!#/m.test(text);
  const problems: LintProblem[] = [];
  const gone = new Set<number>();
  for (const [line, { fates, cause }] of own) {
    const isRedundant =
      !hasOddDirective &&
      cause !== undefined &&
      fates.every(hasCause) &&
      encloses(stretches[cause - 1] ?? "", stretches[line - 1] ?? "");
    if (isRedundant) gone.add(line);
    for (const fate of new Set(fates)) {
      const found = problemOf(fate, line, cause, isRedundant);
      if (found !== undefined) problems.push(found);
    }
    for (const fate of new Set(distrusted.get(line)?.fates ?? []))
      if (UNTRUSTED.has(fate) && !fates.includes(fate))
        problems.push({ ...basicProblem(fate, line), severity: "warning" });
  }
  const ofText = textProblems(text, (line) => {
    const fates = own.get(line)?.fates ?? [];
    return fates.every((fate) => !ERRORS.has(fate));
  });
  problems.push(...ofText.problems.filter(({ line }) => !gone.has(line)));
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  // What cannot be read as it stands cannot be written back as it stood.
  if (!isValidUtf8(bytes))
    return { problems: problems.map((one) => ({ ...one, isFixable: false })), fixed: text };
  return { problems, fixed: ofText.fixed(gone) };
}

/** For every line, in which `!#if` it stands: its branch, below the branches around that. */
function stretchesOf(text: string): string[] {
  const open: string[] = [];
  let count = 0;
  return text.split(/\r\n?|\n/).map((line) => {
    if (/^!#(?:endif|else)/.test(line)) open.pop();
    if (/^!#(?:if|else)/.test(line)) open.push(`${++count}/`);
    return open.join("");
  });
}

/** Whether whoever reads the one stretch reads the other too. */
function encloses(outer: string, inner: string): boolean {
  return inner.startsWith(outer);
}

function basicProblem(fate: number, line: number): LintProblem {
  const [rule, message] = FATES[fate]!;
  return { rule, severity: "error", line, column: 1, message, isFixable: false };
}

function problemOf(
  fate: number,
  line: number,
  cause: number | undefined,
  isFixable: boolean,
): LintProblem | undefined {
  if (ERRORS.has(fate)) return basicProblem(fate, line);
  if (!hasCause(fate)) return undefined;
  const other = cause === undefined ? "" : `: line ${cause}`;
  const [, meaning] = FATES[fate]!;
  const message = `${meaning}${other}`;
  return { rule: fateName(fate), severity: "warning", line, column: 1, message, isFixable };
}

/** The fate of every line of the file itself; lines that it includes are others'. */
async function fatesOf(
  path: string,
  type: SourceType,
  trust: Trust,
  host: Host,
): Promise<Map<number, LineFate>> {
  const config: Config = {
    name: "lint",
    sources: [{ source: path, type, trust }],
    transformations: [...LINT_TRANSFORMATIONS],
  };
  const compiled = await compileList(config, host, () => {}, { workers: 1, memory: Infinity });
  const lines = new Map<number, LineFate>();
  try {
    const { chunks, pool } = compiled.rules;
    const first = pool.origins.findIndex(({ place }) => place !== undefined);
    for (const chunk of chunks) {
      if (chunk.origin !== first) continue;
      for (let row = 0; row < chunk.length; row++) {
        const fate = chunk.fate[row]!;
        if (fate === Fate.Spare) continue;
        const line = chunk.lineOf(row);
        const known = lines.get(line) ?? { fates: [], cause: undefined };
        known.fates.push(fate);
        if (hasCause(fate) && chunk.by !== undefined) {
          const by = chunk.by[row]!;
          const other = pool.chunkOf(by);
          if (other.origin === first) known.cause ??= other.lineOf(rowOf(by));
        }
        lines.set(line, known);
      }
    }
  } finally {
    compiled.close();
  }
  return lines;
}
