import { CR, LF, SPACE, TAB, decodeUtf8 } from "../../bytes/text.ts";
import { Fate } from "../../rules/fate.ts";
import { type FormatReader, type RowTaker, isName, scopedRule } from "./rpz-lines.ts";

/** Arrays under these keys contain entries, as does an array that is the whole document. */
const LISTS = new Set(["rules", "names", "domains"]);
const FIELDS = new Set(["name", "scope", "action", "rule"]);
type EntryFields = Partial<Record<"name" | "scope" | "action" | "rule" | "important", string>>;

const DEEPEST = 64;
/** An entry has few fields: with more tokens it is invalid. */
const MOST_TOKENS = 1000;
/** The text of a row that is not an entry. It is not used. */
const NO_TEXT = "-";

interface EntryFrame {
  readonly isArray: boolean;
  /** Array: it contains rules and names. Object: it may be an entry. */
  readonly isEntry: boolean;
  readonly line: number;
  readonly fields: EntryFields;
  key: string | undefined;
  tokens: number;
}

/**
 * Reads the entries of a JSON document in any layout: objects with `name`, `scope` and `action`, or with `rule`, and strings, which
 * are lines of a list. A row has the number of the line in which its entry begins; lines without an entry have a row too.
 */
export class JsonEntries implements FormatReader, JsonTaker {
  private take!: RowTaker;
  private frames: EntryFrame[] = [];
  /** A string outside of objects and arrays: the key of what follows, in a truncated document. */
  private looseKey: string | undefined;
  private line = 1;
  /** The first line that has no row yet. */
  private next = 1;
  /** The line in which the last entry ended. */
  private entryEnd = 0;
  private isBlank = true;
  private isBad = false;

  read(bytes: Uint8Array, line: number, take: RowTaker): number {
    this.take = take;
    // Lines that were skipped in between have rows already.
    if (line > this.line) this.next = line;
    this.line = line;
    takeTokens(bytes, this);
    return this.line;
  }

  pause(): void {}

  end(take: RowTaker): void {
    this.take = take;
    this.giveUp();
    this.fill(this.line, Fate.Setting);
  }

  text(value: string): void {
    const frame = this.value();
    if (frame === undefined) this.looseKey = value;
    else if (frame.isArray) {
      if (frame.isEntry) this.enterText(value);
    } else if (frame.key === undefined) frame.key = value;
    else {
      if (FIELDS.has(frame.key)) frame.fields[frame.key as keyof EntryFields] = value;
      frame.key = undefined;
    }
  }

  literal(text: string): void {
    const frame = this.value();
    if (frame === undefined) this.bad();
    else if (!frame.isArray) {
      if (frame.key === "important") frame.fields.important = text;
      frame.key = undefined;
    } else if (frame.isEntry) this.enter(NO_TEXT, this.line, Fate.BadSyntax);
  }

  sign(sign: string): void {
    this.isBlank = false;
    if (sign === "{" || sign === "[") this.openFrame(sign === "[");
    else if (sign === "}" || sign === "]") this.closeFrame(sign === "]");
    else if (sign === "," && this.looseKey !== undefined) this.bad();
  }

  bad(): void {
    this.isBad = true;
    this.giveUp();
  }

  lineEnd(): void {
    if (this.looseKey !== undefined) this.bad();
    const { line } = this;
    if (this.isBad) {
      this.fill(line, Fate.Setting);
      this.enter(NO_TEXT, line, Fate.BadSyntax);
    } else if (!this.isInEntry()) this.fill(line + 1, this.isBlank ? Fate.Blank : Fate.Setting);
    this.isBad = false;
    this.isBlank = true;
    this.line++;
  }

  /** The frame that contains a value; counts the value. */
  private value(): EntryFrame | undefined {
    this.isBlank = false;
    const frame = this.frames.at(-1);
    const entry = this.frames.find((one) => one.isEntry && !one.isArray);
    if (entry !== undefined && ++entry.tokens > MOST_TOKENS) this.bad();
    return this.frames.length === 0 ? undefined : frame;
  }

  private openFrame(isArray: boolean): void {
    const parent = this.value();
    const key = parent === undefined ? this.looseKey : parent.key;
    this.looseKey = undefined;
    if (this.frames.length >= DEEPEST) {
      this.bad();
      return;
    }
    // An object around lists is not an entry, whatever its fields are.
    const isRoot = parent === undefined;
    if (parent !== undefined && this.frames.length === 1 && !parent.isArray)
      this.frames[0] = { ...parent, isEntry: false };
    const isList = isRoot
      ? key === undefined || LISTS.has(key)
      : !parent.isArray && LISTS.has(key ?? "");
    const isEntry = isArray ? isList : isRoot || (parent.isArray && parent.isEntry);
    this.frames.push({ isArray, isEntry, line: this.line, fields: {}, key: undefined, tokens: 0 });
  }

  private closeFrame(isArray: boolean): void {
    this.looseKey = undefined;
    const frame = this.frames.pop();
    // A bracket without an opening one ends a document whose start could not be read.
    if (frame === undefined) return;
    if (frame.isArray !== isArray) {
      this.bad();
      return;
    }
    const parent = this.frames.at(-1);
    if (parent !== undefined && !parent.isArray) parent.key = undefined;
    if (isArray || !frame.isEntry) return;
    const { name, rule } = frame.fields;
    if (rule !== undefined) this.enterText(rule, frame.line);
    else if (name !== undefined) this.enterName(frame.fields, frame.line);
    else if (parent !== undefined) this.enter(NO_TEXT, frame.line, Fate.BadSyntax);
  }

  private enterText(value: string, line = this.line): void {
    const text = value.replace(/[\r\n]+/g, " ").trim();
    this.enter(text === "" ? NO_TEXT : text, line, text === "" ? Fate.BadSyntax : Fate.Kept);
  }

  private enterName(
    { name = "", scope = "subtree", action = "block", important }: EntryFields,
    line: number,
  ): void {
    const isKnown =
      /^(?:subtree|exact|below)$/.test(scope) && /^(?:block|allow|none)$/.test(action);
    const isImportant = important === "true";
    const isValid = isKnown && isName(name);
    const text = scopedRule(
      scope === "below" ? `*.${name}` : name,
      // `none` means that no rule applies: the name is reachable.
      action !== "block",
      scope === "exact",
    );
    const rule = isImportant ? `${text}$important` : text;
    // `important` has the precedence of adblock syntax.
    this.enter(isValid ? rule : NO_TEXT, line, isValid ? Fate.Kept : Fate.BadSyntax, isImportant);
  }

  private enter(text: string, line: number, fate: Fate, isAdblockSyntax = true): void {
    this.fill(line, Fate.Setting);
    this.take(text, line, fate, isAdblockSyntax);
    this.next = Math.max(this.next, line + 1);
    this.entryEnd = this.line;
  }

  /** Adds a row for every line before `end` that has none. */
  private fill(end: number, fate: Fate): void {
    for (; this.next < end; this.next++) {
      const isJoined = this.next <= this.entryEnd && fate === Fate.Setting;
      const isBlank = fate === Fate.Blank;
      this.take(isBlank ? "" : NO_TEXT, this.next, isJoined ? Fate.Joined : fate);
    }
  }

  private isInEntry(): boolean {
    return this.frames.some(({ isArray, isEntry }) => isEntry && !isArray);
  }

  /** Discards open objects and arrays. An open entry is lost. */
  private giveUp(): void {
    const entry = this.frames.find(({ isArray, isEntry }) => isEntry && !isArray);
    this.frames = [];
    this.looseKey = undefined;
    if (entry !== undefined && entry.line < this.line)
      this.enter(NO_TEXT, entry.line, Fate.BadSyntax);
  }
}

/** Takes the tokens of a JSON text, and its line ends. */
export interface JsonTaker {
  text(value: string): void;
  /** A number, `true`, `false` or `null`. */
  literal(text: string): void;
  /** One of `{}[],:`. */
  sign(sign: string): void;
  /** Invalid JSON; the rest of the line is skipped. */
  bad(): void;
  lineEnd(): void;
}

/** Longer than any rule; limits the search for the end of a string. */
const LONGEST_TEXT = 65_536;
const SIGNS = "{}[],:";
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SIGN_BYTES = new Set(Array.from(SIGNS, (sign) => sign.charCodeAt(0)));
const LITERAL = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i;

/** Splits complete lines into tokens. In JSON, only objects and arrays can span lines. */
export function takeTokens(bytes: Uint8Array, taker: JsonTaker): void {
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) {
      taker.lineEnd();
      at += byte === CR && bytes[at + 1] === LF ? 2 : 1;
    } else if (byte === SPACE || byte === TAB) at++;
    else if (SIGN_BYTES.has(byte)) {
      taker.sign(String.fromCharCode(byte));
      at++;
    } else {
      const end = byte === QUOTE ? textEnd(bytes, at) : literalEnd(bytes, at);
      const isTaken =
        byte === QUOTE ? takeText(bytes, at, end, taker) : takeLiteral(bytes, at, end, taker);
      at = end;
      if (isTaken) continue;
      taker.bad();
      while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
    }
  }
  const last = bytes.at(-1);
  if (last !== undefined && last !== LF && last !== CR) taker.lineEnd();
}

/** The end of a string that begins at a quote, after the closing quote if there is one. */
function textEnd(bytes: Uint8Array, start: number): number {
  const most = Math.min(bytes.length, start + LONGEST_TEXT);
  for (let at = start + 1; at < most; at++) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) return at;
    if (byte === QUOTE) return at + 1;
    // A backslash does not escape the end of a line.
    if (byte === BACKSLASH && bytes[at + 1] !== LF && bytes[at + 1] !== CR) at++;
  }
  return most;
}

function literalEnd(bytes: Uint8Array, start: number): number {
  const most = Math.min(bytes.length, start + LONGEST_TEXT);
  let at = start;
  for (; at < most; at++) {
    const byte = bytes[at]!;
    if (byte <= SPACE || byte === QUOTE || SIGN_BYTES.has(byte)) return Math.max(at, start + 1);
  }
  return at;
}

function takeText(bytes: Uint8Array, start: number, end: number, taker: JsonTaker): boolean {
  try {
    taker.text(JSON.parse(decodeUtf8(bytes, start, end)) as string);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function takeLiteral(bytes: Uint8Array, start: number, end: number, taker: JsonTaker): boolean {
  const text = decodeUtf8(bytes, start, end);
  if (!LITERAL.test(text)) return false;
  taker.literal(text);
  return true;
}
