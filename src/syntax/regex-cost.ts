/** The maximum cost of a regular expression, estimated from its text before compiling. */
export interface RegexCost {
  /** An upper bound of the instructions of its RE2 program. A repetition counts as often as it repeats. */
  readonly instructions: number;
  /** An upper bound of the ways in which a backtracking engine may try to match a text of `LENGTH` characters. */
  readonly paths: number;
}

/** The length of an ordinary name, plus the position after the last character. */
const LENGTH = 65;
/** RE2 folds the case of each character of a wide range: 7 ms. */
const WIDE_CLASS = 500;
/** A Unicode class has hundreds of ranges. */
const UNICODE_CLASS = 40;
const START = 3;
const TOO_LARGE = 1e9;

const COUNT = /\{(\d+)(,?)(\d*)\}/y;
const FLAGS = /\(\?[a-zA-Z-]*\)/y;
const WIDE = /[^\u0000-\u007f]|\\[0-7x]/;

/** An alternative between two `|`, or an item that a quantifier may follow. */
interface Piece {
  size: number;
  paths: number;
}

/** An open group, or the whole expression. */
interface Group {
  /** Alternatives before the current one. */
  readonly done: Piece;
  branch: Piece;
  /** The last item. A quantifier after it applies to it. */
  last: Piece;
}

/**
 * Estimates the cost in one pass. Consecutive pieces multiply the ways to match, alternatives add theirs, and a quantifier
 * adds one way per number of repetitions. The result is `Infinity` if the ways cannot be counted: for a repeated choice,
 * look-around, back-references, and syntax that JavaScript and RE2 read differently.
 */
export function regexCost(source: string): RegexCost {
  const open: Group[] = [newGroup()];
  let paths = 1;
  for (let at = 0; at < source.length; at++) {
    const group = open.at(-1)!;
    const character = source[at]!;
    if (character === "(") {
      const flags = flagsAt(source, at);
      if (flags > 0) {
        at += flags - 1;
        // In RE2, this repeats everything before the flags.
        if (/[*+?{]/.test(source[at + 1] ?? "")) group.branch.size = TOO_LARGE;
        continue;
      }
      if (/^\(\?<?[=!]/.test(source.slice(at, at + 4))) paths = Infinity;
      if (source[at + 1] === "?") at++;
      open.push(newGroup());
    } else if (character === ")" && open.length > 1) {
      open.pop();
      addPiece(open.at(-1)!, closed(group, 2));
    } else if (character === "|") nextBranch(group);
    else if (character === "[") {
      const end = classEnd(source, at);
      const members = source.slice(at + 1, end);
      if (members === "" || /^\^?\]/.test(members)) paths = Infinity;
      addPiece(group, { size: classSize(members), paths: 1 });
      at = end;
    } else if (character === "\\") {
      const next = source[++at] ?? "";
      if (/[1-9k]/.test(next)) paths = Infinity;
      addPiece(group, { size: escapeSize(next), paths: 1 });
      if (next === "p" || next === "P") at = scriptEnd(source, at + 1);
    } else if (character === "*" || character === "+" || character === "?") {
      group.last = repeated(
        group.last,
        character === "+" ? 1 : 0,
        character === "?" ? 1 : Infinity,
      );
      if (source[at + 1] === "?") at++;
    } else {
      COUNT.lastIndex = at;
      const count = character === "{" ? COUNT.exec(source) : null;
      if (count === null) addPiece(group, { size: 1, paths: 1 });
      else {
        const [text, from, comma, to] = count;
        const most = comma === "" ? Number(from) : to === "" ? Infinity : Number(to);
        group.last = repeated(group.last, Number(from), most);
        at += text.length - 1;
        if (source[at + 1] === "?") at++;
      }
    }
  }
  const isAnchored = source.startsWith("^") && open[0]!.done.size === 0;
  let whole = closed(open.pop()!, START);
  // Unclosed groups: neither engine accepts the expression.
  while (open.length > 0) {
    addPiece(open.at(-1)!, whole);
    whole = closed(open.pop()!, START);
  }
  return { instructions: whole.size, paths: paths * whole.paths * (isAnchored ? 1 : LENGTH) };
}

function newGroup(): Group {
  return { done: { size: 0, paths: 0 }, branch: nothing(), last: nothing() };
}

function nothing(): Piece {
  return { size: 0, paths: 1 };
}

function addPiece(group: Group, piece: Piece): void {
  group.branch.size += group.last.size;
  group.branch.paths *= group.last.paths;
  group.last = piece;
}

function nextBranch(group: Group): void {
  addPiece(group, nothing());
  group.done.size += group.branch.size + 1;
  group.done.paths += group.branch.paths;
  group.branch = nothing();
}

function closed(group: Group, own: number): Piece {
  nextBranch(group);
  return { size: group.done.size + own, paths: group.done.paths };
}

/** `x{2,4}` is `xx(x(x)?)?`, `x{2,}` is `xx+`, and `x*` is `(x+)?` if `x` may be empty. */
function repeated({ size, paths }: Piece, from: number, to: number): Piece {
  if (to === Infinity)
    return {
      size: Math.min(Math.max(from, 1) * size + (from === 0 ? 2 : 1), TOO_LARGE),
      paths: paths === 1 ? LENGTH : Infinity,
    };
  const optional = Math.max(0, to - from);
  return {
    // Not `Infinity`, because zero repetitions of it would be NaN.
    size: Math.min(Math.min(from, to) * size + optional * (size + 1), TOO_LARGE),
    paths: (optional + 1) * paths ** to,
  };
}

function classSize(members: string): number {
  if (WIDE.test(members)) return WIDE_CLASS;
  return 1 + (members.length >> 4) + UNICODE_CLASS * (members.split(/\\[pP]/).length - 1);
}

function escapeSize(next: string): number {
  // RE2 reads everything up to `\E` as plain text. This function does not support that.
  if (next === "Q") return TOO_LARGE;
  return next === "p" || next === "P" ? UNICODE_CLASS : 1;
}

/** The length of a group that only sets flags, such as `(?i)`, or 0. */
export function flagsAt(source: string, at: number): number {
  FLAGS.lastIndex = at;
  return FLAGS.exec(source)?.[0].length ?? 0;
}

/** Where the name of a script ends: `L` in `\pL`, `{Greek}` in `\p{Greek}`. */
function scriptEnd(source: string, start: number): number {
  return source[start] === "{" ? Math.max(start, source.indexOf("}", start)) : start;
}

/** Where a class ends. A `]` right after the start is a member of the class. */
export function classEnd(source: string, start: number): number {
  const first = start + (source[start + 1] === "^" ? 2 : 1);
  for (let at = first; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "]" && at > first) return at;
  }
  return source.length;
}
