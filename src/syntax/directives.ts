import { BANG, CR, LF, decodeUtf8, encodeUtf8, indexOfBytes } from "../bytes/text.ts";
import { Fate } from "../rules/fate.ts";
import type { LineRange, TextBlock } from "./list-scan.ts";

/** A range of lines, or the position of an included file. */
interface Piece extends LineRange {
  /** Argument of `!#include`; the range is then the line of the directive. */
  readonly include?: string;
}

/** An invalid directive, which makes the meaning of the whole file unclear. */
export class DirectiveError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

interface OpenCondition {
  readonly line: number;
  readonly text: string;
  readonly isOuterLive: boolean;
  isLive: boolean;
  hasElse: boolean;
}

/** Only this many lines of an included file are searched for update addresses. */
const DIFF_PATH_LINES = 50;

/**
 * Splits the blocks of a file at `!#if`, `!#else`, `!#endif` and `!#include` lines. Nearly all blocks have none: for them,
 * it only searches for `!#` and yields one piece.
 */
export class DirectiveCutter {
  private readonly isIncluded: boolean;
  private readonly open: OpenCondition[] = [];
  private isLive = true;
  private listLines = 0;
  private lastDiffPath = -1;

  constructor(isIncluded: boolean) {
    this.isIncluded = isIncluded;
  }

  /** The pieces of a block. Calls `firstLine` only if it needs the number of the first line. */
  *cut(block: TextBlock, firstLine: () => number): Generator<Piece> {
    const { bytes } = block;
    const mayHaveDiffPath = this.isIncluded && this.listLines < DIFF_PATH_LINES;
    if (!mayHaveDiffPath && !hasDirective(bytes)) {
      yield { start: 0, end: bytes.length, fate: fateOf(this.isLive) };
      return;
    }
    let from = 0;
    for (const { start, text, line, next } of linesOf(block, firstLine())) {
      const own = this.directiveOf(text);
      if (own === undefined) continue;
      if (start > from) yield { start: from, end: start, fate: fateOf(this.isLive) };
      yield { start, end: next, ...own };
      from = next;
      this.isLive = applyCondition(this.open, text, line, this.isLive);
    }
    if (bytes.length > from) yield { start: from, end: bytes.length, fate: fateOf(this.isLive) };
  }

  /** Must be called after the last block. */
  end(): void {
    const unclosed = this.open.at(-1);
    if (unclosed !== undefined)
      throw new DirectiveError(`Condition end not found '${unclosed.text}'`, unclosed.line);
  }

  private directiveOf(text: string): { fate: Fate; include?: string } | undefined {
    const isDiffPath =
      this.isIncluded && text.startsWith("! Diff-Path:") && this.listLines < DIFF_PATH_LINES;
    if (text !== "") this.listLines++;
    if (isDiffPath && this.lastDiffPath !== this.listLines - 1) {
      this.lastDiffPath = this.listLines;
      return { fate: Fate.DiffPath };
    }
    if (/^!#(?:if|else|endif)/.test(text)) return { fate: Fate.Directive };
    if (this.isLive && /^!#include(?:\s|$)/.test(text))
      return { fate: Fate.Directive, include: text.slice("!#include".length).trim() };
    return undefined;
  }
}

function fateOf(isLive: boolean): Fate {
  return isLive ? Fate.Kept : Fate.Condition;
}

/** Whether the lines below this directive apply. */
function applyCondition(
  open: OpenCondition[],
  text: string,
  line: number,
  isLive: boolean,
): boolean {
  if (text.startsWith("!#if")) {
    const value = evaluateCondition(text.slice("!#if".length));
    if (value === "empty") throw new DirectiveError("Empty condition", line);
    if (value === "brackets")
      throw new DirectiveError(`Incorrect brackets: ${text.slice("!#if".length).trim()}`, line);
    open.push({ line, text, isOuterLive: isLive, isLive: isLive && value, hasElse: false });
    return isLive && value;
  }
  if (text.startsWith("!#endif")) {
    const closed = open.pop();
    if (closed === undefined)
      throw new DirectiveError(`Found unexpected condition end: '${text}'`, line);
    return closed.isOuterLive;
  }
  if (text.startsWith("!#else")) {
    const current = open.at(-1);
    if (current === undefined || current.hasElse)
      throw new DirectiveError(`Found unexpected condition else branch: '${text}'`, line);
    if (text.slice("!#else".length).trim() !== "")
      throw new DirectiveError(`Found invalid directive !#else '${current.text}'`, line);
    current.hasElse = true;
    current.isLive = current.isOuterLive && !current.isLive;
    return current.isLive;
  }
  return isLive;
}

const MARK = encodeUtf8("!#");

function hasDirective(bytes: Uint8Array): boolean {
  for (let at = indexOfBytes(bytes, MARK); at !== -1; at = indexOfBytes(bytes, MARK, at + 1)) {
    const text = decodeUtf8(bytes, at, Math.min(at + 10, bytes.length));
    if (/^!#(?:if|else|endif|include)/.test(text)) return true;
  }
  return false;
}

interface DirectiveLine {
  readonly start: number;
  readonly text: string;
  readonly line: number;
  readonly next: number;
}

/** The lines of the block, trimmed as a whole. Only text that begins with `!` is decoded; any other text becomes "?". */
function* linesOf(
  { bytes, listStart, listEnd }: TextBlock,
  firstLine: number,
): Generator<DirectiveLine> {
  for (let at = 0, line = firstLine; at < bytes.length; line++) {
    const start = at;
    while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
    const textStart = Math.min(Math.max(start, listStart), at);
    const textEnd = Math.max(Math.min(at, listEnd), textStart);
    if (at < bytes.length) at += bytes[at] === CR && bytes[at + 1] === LF ? 2 : 1;
    const text =
      bytes[textStart] === BANG && textEnd > textStart
        ? decodeUtf8(bytes, textStart, textEnd)
        : textEnd > textStart
          ? "?"
          : "";
    yield { start, text, line, next: at };
  }
}

/** Evaluates `!#if` expressions: `||`, `&&`, `!`, parentheses and words. Only `true` is true: a list has no platform. */

type ConditionProblem = "empty" | "brackets";

/** Deeper nesting is an error, because it could overflow the stack. */
const MAX_DEPTH = 64;

function evaluateCondition(text: string): boolean | ConditionProblem {
  if (text.trim() === "") return "empty";
  const tokens = text.match(/\|\||&&|[!()]|[^\s!()&|]+|[&|]/g) ?? [];
  let at = 0;
  let isBroken = false;

  function either(depth: number): boolean {
    let value = both(depth);
    while (tokens[at] === "||") {
      at++;
      const right = both(depth);
      value = value || right;
    }
    return value;
  }

  function both(depth: number): boolean {
    let value = single(depth);
    while (tokens[at] === "&&") {
      at++;
      const right = single(depth);
      value = value && right;
    }
    return value;
  }

  function single(depth: number): boolean {
    let isNegated = false;
    while (tokens[at] === "!") {
      isNegated = !isNegated;
      at++;
    }
    const token = tokens[at++];
    let value = token === "true";
    if (token === "(") {
      if (depth === MAX_DEPTH) {
        isBroken = true;
        at = tokens.length;
        return false;
      }
      value = either(depth + 1);
      if (tokens[at++] !== ")") isBroken = true;
    } else if (token === ")") {
      isBroken = true;
    }
    return value !== isNegated;
  }

  const value = either(0);
  const hasStrayBracket = tokens.slice(at).some((token) => token === "(" || token === ")");
  return isBroken || hasStrayBracket ? "brackets" : value;
}
