/** What a regular expression can cost at the most, read off its text before anything is compiled. */
export interface RegexCost {
  /** Instructions of the program that RE2 makes of it, or more. A repetition counts as often as it repeats. */
  readonly instructions: number;
  /** Ways in which a backtracking engine may try to match a text of `LENGTH` characters, or more. */
  readonly paths: number;
}

/** Names of ordinary length, with the place behind the last character. */
const LENGTH = 65;
/** RE2 folds the case of each character of a wide range: 7 ms. */
const WIDE_CLASS = 500;
/** Hundreds of ranges. */
const UNICODE_CLASS = 40;
const START = 3;
const TOO_LARGE = 1e9;

const COUNT = /\{(\d+)(,?)(\d*)\}/y;
const FLAGS = /\(\?[a-zA-Z-]*\)/y;
const WIDE = /[^\u0000-\u007f]|\\[0-7x]/;

/** What stands between two `|`, or what a quantifier may follow. */
interface Piece {
  size: number;
  paths: number;
}

/** A group that is still open, or the whole expression. */
interface Group {
  /** Alternatives before the present one. */
  readonly done: Piece;
  branch: Piece;
  /** What was read last: a quantifier behind it is about it. */
  last: Piece;
}

/**
 * Reads an expression once. A piece behind another multiplies the ways to match, an alternative adds its own, a quantifier
 * adds one way for each number of repetitions. What can be tried in more ways than can be counted (a repeated choice,
 * look-around, back-references, what JavaScript and RE2 read differently) has `Infinity`.
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
        // To RE2 this repeats what stands before the flags, and that as a whole.
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
  // Groups that nobody closed: neither engine takes the expression.
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

/** `x{2,4}` is `xx(x(x)?)?`, `x{2,}` is `xx+`, and `x*` is `(x+)?` where `x` may be empty. */
function repeated({ size, paths }: Piece, from: number, to: number): Piece {
  if (to === Infinity)
    return {
      size: Math.min(Math.max(from, 1) * size + (from === 0 ? 2 : 1), TOO_LARGE),
      paths: paths === 1 ? LENGTH : Infinity,
    };
  const optional = Math.max(0, to - from);
  return {
    // Not infinite, which would be no number at all once it is repeated zero times.
    size: Math.min(Math.min(from, to) * size + optional * (size + 1), TOO_LARGE),
    paths: (optional + 1) * paths ** to,
  };
}

function classSize(members: string): number {
  if (WIDE.test(members)) return WIDE_CLASS;
  return 1 + (members.length >> 4) + UNICODE_CLASS * (members.split(/\\[pP]/).length - 1);
}

function escapeSize(next: string): number {
  // RE2 reads everything up to `\E` as plain text, which is not followed here.
  if (next === "Q") return TOO_LARGE;
  return next === "p" || next === "P" ? UNICODE_CLASS : 1;
}

/** How long a group is that sets flags and nothing else, such as `(?i)`; 0 when there is none. */
export function flagsAt(source: string, at: number): number {
  FLAGS.lastIndex = at;
  return FLAGS.exec(source)?.[0].length ?? 0;
}

/** Where the name of a script ends: `L` in `\pL`, `{Greek}` in `\p{Greek}`. */
function scriptEnd(source: string, start: number): number {
  return source[start] === "{" ? Math.max(start, source.indexOf("}", start)) : start;
}

/** Where a class ends; a bracket right behind its start belongs to it. */
export function classEnd(source: string, start: number): number {
  const first = start + (source[start + 1] === "^" ? 2 : 1);
  for (let at = first; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "]" && at > first) return at;
  }
  return source.length;
}
