import { BACKSLASH, ByteBuffer, COLON, COMMA, decodeUtf8 } from "../bytes/text.ts";
import { Fate } from "../rules/fate.ts";
import {
  type RowCondition,
  FeedError,
  type FeedLines,
  type FeedReader,
  type FeedSettings,
  FeedValues,
  LONGEST_ROW,
  type Refusal,
  WholeLines,
} from "./feed.ts";

export interface JsonShape {
  /** Pointers to the values. */
  readonly paths: readonly string[];
  /** On the object that contains the value. */
  readonly where: readonly RowCondition[];
  /** On the object in an array that contains that object, such as an object of a MISP event. Its keys must be in `where`, too. */
  readonly whereAbove?: readonly RowCondition[];
  /** Values of keys beside the value that refuse it. */
  readonly refusals?: readonly Refusal[] | undefined;
  /** The names and URLs in a value; the value itself by default. */
  readonly valuesIn?: ((value: string) => readonly string[]) | undefined;
  /** Whether objects on the way to the values suffice: a bundle may have no indicator. */
  readonly mayLackValues?: true;
}

interface PointerFrame {
  readonly isArray: boolean;
  /** Pointers that lead to this object or array, and perhaps further. */
  readonly pointers: readonly (readonly string[])[];
  /** The key or index of the next value. */
  key: string;
  index: number;
  /** Values of keys that conditions need, and values that wait for them. */
  readonly fields: Map<string, string>;
  isRefused: boolean;
  readonly held: (string | undefined)[];
  /** Values of objects in it, which wait for its conditions. */
  readonly inner: { readonly value: string | undefined; readonly isChosen: boolean }[];
}

const MOST_HELD = 1000;
const LONGEST_LINE = 16 * 1024 * 1024;
const NONE: readonly (readonly string[])[] = [];

/** Reads the values of a JSON text that pointers select. Each becomes a line, in their order. */
export class JsonFeed implements FeedReader, JsonEvents {
  private readonly shape: JsonShape;
  private readonly values: FeedValues;
  private readonly pointers: readonly (readonly string[])[];
  private readonly keys: ReadonlySet<string>;
  private readonly scanner: JsonScanner;
  private readonly frames: PointerFrame[] = [];
  private lines!: FeedLines;
  private hasText = false;
  /** Whether the text has what a pointer selects, or an empty array or object where its values would be. */
  hasPath = false;

  constructor(shape: JsonShape, values: FeedValues) {
    this.shape = shape;
    this.values = values;
    this.pointers = shape.paths.map(tokensOf);
    this.keys = new Set([...shape.where, ...(shape.refusals ?? [])].map(({ key }) => key));
    this.scanner = new JsonScanner(this);
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    this.lines = lines;
    if (bytes.length > 0) this.hasText = true;
    this.scanner.take(bytes);
  }

  end(lines: FeedLines): void {
    this.lines = lines;
    // An empty response is reported as such.
    if (!this.hasText) return;
    this.scanner.end();
    if (!this.hasPath) throw noPath(this.shape);
  }

  /** The same for a part of a feed: other parts may have the path. */
  endPart(): void {
    this.scanner.end();
  }

  open(isArray: boolean): void {
    const pointers = this.next();
    if (this.shape.mayLackValues === true && this.frames.length > 0 && pointers.length > 0)
      this.hasPath = true;
    this.frames.push({
      isArray,
      pointers,
      key: "",
      index: 0,
      fields: new Map(),
      isRefused: false,
      held: [],
      inner: [],
    });
  }

  close(): void {
    const frame = this.frames.pop()!;
    const depth = this.frames.length;
    if (frame.index === 0 && frame.pointers.some((tokens) => tokens[depth] === "*"))
      this.hasPath = true;
    for (const value of frame.held) this.settle(value, frame);
    for (const { value, isChosen } of frame.inner)
      this.finish(value, isChosen && meets(frame, this.shape.whereAbove));
    this.passed();
  }

  key(text: string): void {
    this.frames.at(-1)!.key = text;
  }

  get wantsText(): boolean {
    const frame = this.frames.at(-1);
    if (frame === undefined) return this.pointers.some(({ length }) => length === 0);
    if (this.isListed()) return true;
    return frame.pointers.length > 0 && (this.isHit() || this.keys.has(frame.key));
  }

  text(value: string | undefined): void {
    const frame = this.frames.at(-1);
    if (this.isListed()) this.refuse(this.frames.at(-2)!, value);
    if (frame === undefined || frame.pointers.length > 0) this.value(value, frame);
    this.passed();
  }

  literal(text: string): void {
    const frame = this.frames.at(-1);
    if (frame !== undefined && this.keys.has(frame.key)) frame.fields.set(frame.key, text);
    if (!this.hasPath && this.isHit()) this.hasPath = true;
    this.passed();
  }

  private value(value: string | undefined, frame: PointerFrame | undefined): void {
    if (frame !== undefined && this.keys.has(frame.key) && !frame.isArray) {
      frame.fields.set(frame.key, value ?? "");
      this.refuse(frame, value);
    }
    if (!this.isHit()) return;
    this.hasPath = true;
    if (frame === undefined || this.keys.size === 0) this.write(value);
    else if (frame.isArray) this.settle(value, frame);
    else if (frame.held.push(value) > MOST_HELD)
      throw new FeedError(`an object has more than ${MOST_HELD} values that the path selects`);
  }

  /** Whether the next value is in an array that a condition needs. */
  private isListed(): boolean {
    const parent = this.frames.at(-2);
    return (
      parent !== undefined &&
      parent.pointers.length > 0 &&
      this.frames.at(-1)!.isArray &&
      this.keys.has(parent.key)
    );
  }

  private refuse(frame: PointerFrame, value: string | undefined): void {
    const { refusals = [] } = this.shape;
    if (refusals.some(({ key, isRefused }) => key === frame.key && isRefused(value ?? "")))
      frame.isRefused = true;
  }

  private settle(value: string | undefined, frame: PointerFrame): void {
    const { where, whereAbove } = this.shape;
    const isChosen = !frame.isRefused && meets(frame, where);
    const above = whereAbove && this.above();
    if (above === undefined) this.finish(value, isChosen);
    else if (whereAbove!.every(({ key }) => above.fields.has(key)))
      this.finish(value, isChosen && meets(above, whereAbove));
    else if (above.inner.push({ value, isChosen }) > MOST_HELD)
      throw new FeedError(`an object has more than ${MOST_HELD} values that the path selects`);
  }

  /** The nearest open object, if it is in an array. */
  private above(): PointerFrame | undefined {
    const at = this.frames.findLastIndex(({ isArray }) => !isArray);
    return this.frames[at - 1]?.isArray === true ? this.frames[at] : undefined;
  }

  private finish(value: string | undefined, isChosen: boolean): void {
    if (isChosen) this.write(value);
    else this.lines.dropped(Fate.NotChosen);
  }

  private write(value: string | undefined): void {
    const { valuesIn } = this.shape;
    const found = value === undefined ? [] : (valuesIn?.(value) ?? [value]);
    if (found.length === 0) this.lines.dropped(value === undefined ? Fate.BadSyntax : Fate.NoValue);
    for (const one of found)
      if (one.trim() === "") this.lines.dropped(Fate.NoValue);
      else this.values.writeText(one.trim(), this.lines);
  }

  /** Whether a pointer ends at the next value. */
  private isHit(): boolean {
    const depth = this.frames.length;
    return this.next().some(({ length }) => length === depth);
  }

  /** The pointers that lead to the next value. */
  private next(): readonly (readonly string[])[] {
    const frame = this.frames.at(-1);
    if (frame === undefined) return this.pointers;
    if (frame.pointers.length === 0) return NONE;
    const step = this.frames.length - 1;
    const key = frame.isArray ? String(frame.index) : frame.key;
    return frame.pointers.filter((tokens) => tokens[step] === "*" || tokens[step] === key);
  }

  private passed(): void {
    const frame = this.frames.at(-1);
    if (frame !== undefined) frame.index++;
  }
}

function meets({ fields }: PointerFrame, conditions: readonly RowCondition[] = []): boolean {
  return conditions.every(({ key, values, orAbsent }) => {
    const field = fields.get(key);
    return field === undefined ? orAbsent === true : values.includes(field);
  });
}

/** A JSON text in each line. An invalid line becomes one row without a rule. */
export class NdjsonFeed implements FeedReader {
  private readonly shape: JsonShape;
  private readonly open: () => JsonFeed;
  private hasRows = false;
  private hasPath = false;
  private readonly rows = new WholeLines(LONGEST_LINE);

  constructor(shape: JsonShape, values: FeedValues) {
    this.shape = shape;
    this.open = () => new JsonFeed(shape, values);
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    this.rows.take(bytes, (text, start, end) => this.line(text.subarray(start, end), lines));
  }

  end(lines: FeedLines): void {
    this.rows.end((text, start, end) => this.line(text.subarray(start, end), lines));
    // A server may report an error in the form of a row.
    if (this.hasRows && !this.hasPath) throw noPath(this.shape);
  }

  private line(text: Uint8Array, lines: FeedLines): void {
    if (text.every((byte) => byte <= 32)) {
      lines.blank();
      return;
    }
    this.hasRows = true;
    const before = lines.length;
    try {
      const feed = this.open();
      feed.take(text, lines);
      feed.endPart();
      this.hasPath ||= feed.hasPath;
      if (lines.length === before) lines.dropped(Fate.NoValue);
    } catch (error) {
      if (!(error instanceof FeedError)) throw error;
      lines.length = before;
      lines.dropped(Fate.BadSyntax);
    }
  }
}

function noPath({ paths }: JsonShape): FeedError {
  return new FeedError(`nothing in it has the path ${paths.join(" or ")}`);
}

/** The tokens of a pointer (RFC 6901). */
function tokensOf(path: string): string[] {
  if (path === "") return [];
  return path
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Takes what a JSON text consists of. */
interface JsonEvents {
  open(isArray: boolean): void;
  close(): void;
  key(text: string): void;
  /** A string; undefined if it is too long. Strings that are not wanted come as `""`. */
  text(value: string | undefined): void;
  /** A number, `true`, `false` or `null`. */
  literal(text: string): void;
  /** Whether the text of the next string is needed. Keys always are. */
  readonly wantsText: boolean;
}

const QUOTE = 34;
const DEEPEST = 64;
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

const Expects = {
  Value: 0,
  FirstValue: 1,
  FirstKey: 2,
  Key: 3,
  Colon: 4,
  After: 5,
  Done: 6,
} as const;
type Expected = (typeof Expects)[keyof typeof Expects];

/** Reads a JSON text (RFC 8259) that arrives in pieces. Its memory is the open brackets and one string. */
class JsonScanner {
  private readonly events: JsonEvents;
  private expected: Expected = Expects.Value;
  /** The open brackets: true for arrays. */
  private readonly open: boolean[] = [];
  private readonly token = new ByteBuffer(256);
  private inText = false;
  private isEscaped = false;
  private hasEscapes = false;
  private isLong = false;
  private isTaken = false;
  private line = 1;

  constructor(events: JsonEvents) {
    this.events = events;
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.inText) {
        at = this.takeText(bytes, at);
        continue;
      }
      const byte = bytes[at++]!;
      if (isLiteralByte(byte)) {
        this.token.push(byte);
        if (this.token.length > 64) throw this.problem();
        continue;
      }
      if (this.token.length > 0) this.endLiteral();
      if (byte === 10) this.line++;
      else if (byte === QUOTE) this.beginText();
      else if (byte !== 32 && byte !== 9 && byte !== 13) this.sign(byte);
    }
  }

  /** Throws a `FeedError` if the text is not complete. */
  end(): void {
    if (this.token.length > 0 && !this.inText) this.endLiteral();
    if (this.expected !== Expects.Done) throw new FeedError("the JSON text is not complete");
  }

  private beginText(): void {
    const { expected } = this;
    const isKey = expected === Expects.Key || expected === Expects.FirstKey;
    if (!isKey && expected !== Expects.Value && expected !== Expects.FirstValue)
      throw this.problem();
    this.inText = true;
    this.isEscaped = false;
    this.hasEscapes = false;
    this.isLong = false;
    this.isTaken = isKey || this.events.wantsText;
    this.token.length = 0;
  }

  private takeText(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.isEscaped) {
        this.isEscaped = false;
        continue;
      }
      if (byte === BACKSLASH) {
        this.isEscaped = true;
        this.hasEscapes = true;
      } else if (byte === QUOTE) {
        this.collect(bytes, from, at);
        this.endText();
        return at + 1;
      } else if (byte < 32) throw this.problem();
    }
    this.collect(bytes, from, at);
    return at;
  }

  private collect(bytes: Uint8Array, from: number, to: number): void {
    if (!this.isTaken || this.isLong) return;
    if (this.token.length + to - from > LONGEST_ROW) this.isLong = true;
    else this.token.append(bytes, from, to);
  }

  private endText(): void {
    this.inText = false;
    const { events, expected } = this;
    const raw = this.isTaken && !this.isLong ? decodeUtf8(this.token.view()) : "";
    this.token.length = 0;
    const text = this.hasEscapes && raw !== "" ? this.unescaped(raw) : raw;
    if (expected === Expects.Key || expected === Expects.FirstKey) {
      events.key(text);
      this.expected = Expects.Colon;
      return;
    }
    events.text(this.isLong ? undefined : text);
    this.endValue();
  }

  private unescaped(raw: string): string {
    try {
      return JSON.parse(`"${raw}"`) as string;
    } catch (error) {
      if (error instanceof SyntaxError) throw this.problem();
      throw error;
    }
  }

  private endLiteral(): void {
    const text = decodeUtf8(this.token.view());
    this.token.length = 0;
    const { expected } = this;
    if (expected !== Expects.Value && expected !== Expects.FirstValue) throw this.problem();
    if (!LITERAL.test(text)) throw this.problem();
    this.events.literal(text);
    this.endValue();
  }

  private sign(byte: number): void {
    const { expected, open } = this;
    const isValue = expected === Expects.Value || expected === Expects.FirstValue;
    if ((byte === 123 || byte === 91) && isValue) {
      if (open.length >= DEEPEST) throw new FeedError(`it is nested more than ${DEEPEST} times`);
      const isArray = byte === 91;
      open.push(isArray);
      this.events.open(isArray);
      this.expected = isArray ? Expects.FirstValue : Expects.FirstKey;
    } else if (byte === 125 || byte === 93) {
      const isArray = byte === 93;
      const mayEnd =
        expected === Expects.After ||
        expected === (isArray ? Expects.FirstValue : Expects.FirstKey);
      if (!mayEnd || open.pop() !== isArray) throw this.problem();
      this.events.close();
      this.endValue();
    } else if (byte === COLON && expected === Expects.Colon) this.expected = Expects.Value;
    else if (byte === COMMA && expected === Expects.After)
      this.expected = open.at(-1) === true ? Expects.Value : Expects.Key;
    else throw this.problem();
  }

  private endValue(): void {
    this.expected = this.open.length === 0 ? Expects.Done : Expects.After;
  }

  private problem(): FeedError {
    return new FeedError(`line ${this.line} is not valid JSON`);
  }
}

/** Letters, digits, `+`, `-` and `.` */
function isLiteralByte(byte: number): boolean {
  return (
    (byte >= 97 && byte <= 122) ||
    (byte >= 48 && byte <= 57) ||
    byte === 43 ||
    byte === 45 ||
    byte === 46 ||
    byte === 69
  );
}

/** One URL or name a line. */
export class UrlFeed implements FeedReader {
  private readonly values: FeedValues;
  private readonly rows = new WholeLines();

  constructor({ urls }: FeedSettings) {
    this.values = new FeedValues(urls);
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    this.rows.take(bytes, (text, start, end) => this.line(text, start, end, lines));
  }

  end(lines: FeedLines): void {
    this.rows.end((text, start, end) => this.line(text, start, end, lines));
  }

  private line(bytes: Uint8Array, from: number, end: number, lines: FeedLines): void {
    let start = from;
    while (start < end && bytes[start]! <= 32) start++;
    if (start === end) {
      lines.blank();
      return;
    }
    // `#`, `!` or `;`
    if (bytes[start] === 35 || bytes[start] === 33 || bytes[start] === 59) {
      lines.comment(bytes, start + 1, end);
      return;
    }
    let stop = start;
    while (stop < end && bytes[stop]! > 32) stop++;
    const before = lines.length;
    this.values.write(bytes, start, stop, lines);
    if (lines.length === before) lines.dropped(Fate.BadSyntax);
  }
}
