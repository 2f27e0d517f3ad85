import { BACKSLASH, COLON, COMMA } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { FeedError, LONGEST_ROW } from "./feed-reader.ts";

/** Takes what a JSON text consists of. */
export interface JsonEvents {
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
export class JsonScanner {
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
