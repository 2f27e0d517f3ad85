import { type ConfigEntry, type ConfigNode, ConfigSyntaxError, MAX_DEPTH } from "./problems.ts";

/** Parses JSON, with comments for `.jsonc`. Everything else is strict. */
export function parseJson(text: string, allowsComments: boolean): ConfigNode {
  return new JsonReader(text, allowsComments).document();
}

const SPACE = /[ \t\r\n]*/y;
const COMMENT = /\/\/[^\r\n]*|\/\*[^]*?\*\//y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\w.+-]+/y;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Reads a document and keeps the place of every value and key, because each message names one. */
class JsonReader {
  private readonly text: string;
  private readonly allowsComments: boolean;
  private at: number;

  constructor(text: string, allowsComments: boolean) {
    this.text = text;
    this.allowsComments = allowsComments;
    this.at = text.startsWith("\ufeff") ? 1 : 0;
  }

  document(): ConfigNode {
    this.skipSpace();
    if (this.at === this.text.length)
      throw new ConfigSyntaxError("the file is empty", 0, "Remove it, then: rules-compiler init");
    const node = this.value(0);
    this.skipSpace();
    if (this.at < this.text.length) this.fail("nothing may follow the configuration");
    return node;
  }

  private value(depth: number): ConfigNode {
    const offset = this.at;
    if (depth > MAX_DEPTH) this.fail("it is nested too deeply");
    const first = this.text[offset];
    if (first === "{") return { kind: "object", offset, entries: this.entries(depth) };
    if (first === "[") return { kind: "array", offset, items: this.items(depth) };
    if (first === '"') return { kind: "scalar", offset, value: this.string() };
    const word = this.take(WORD);
    const named = WORDS.get(word);
    if (named !== undefined) return { kind: "scalar", offset, value: named };
    NUMBER.lastIndex = offset;
    if (word !== "" && NUMBER.exec(this.text)?.[0] === word)
      return { kind: "scalar", offset, value: Number(word) };
    const isNumber = /^-?[\d.]/.test(word);
    const isValueMissing = word === "" && /^[\]},:]?$/.test(this.text[offset] ?? "");
    return this.fail(
      isNumber
        ? "this is not a number"
        : isValueMissing
          ? "a value should stand here"
          : "a value, a double-quoted string or a bracket should stand here",
      offset,
    );
  }

  private items(depth: number): ConfigNode[] {
    const items: ConfigNode[] = [];
    this.at++;
    while (this.hasMore("]", "a closing bracket is missing", items.length))
      items.push(this.value(depth + 1));
    return items;
  }

  private entries(depth: number): ConfigEntry[] {
    const entries: ConfigEntry[] = [];
    const seen = new Set<string>();
    this.at++;
    while (this.hasMore("}", "a closing brace is missing", entries.length)) {
      const keyOffset = this.at;
      if (this.text[keyOffset] !== '"') this.fail("a double-quoted key should stand here");
      const key = this.string();
      if (seen.has(key)) this.fail(`the key "${key}" stands twice`, keyOffset);
      seen.add(key);
      this.skipSpace();
      if (this.text[this.at] !== ":") this.fail("a colon should stand here");
      this.at++;
      this.skipSpace();
      entries.push({ key, keyOffset, node: this.value(depth + 1) });
    }
    return entries;
  }

  /** Whether another item follows in brackets that have `count` items. Takes the comma before it, or the closing bracket. */
  private hasMore(close: "]" | "}", missing: string, count: number): boolean {
    this.skipSpace();
    if (this.at === this.text.length) this.fail(missing);
    if (this.text[this.at] === close) {
      this.at++;
      return false;
    }
    if (count === 0) return true;
    if (this.text[this.at] !== ",") this.fail("a comma should stand here");
    this.at++;
    this.skipSpace();
    if (this.text[this.at] === close)
      this.fail(
        close === "]" ? "a value should stand here" : "a double-quoted key should stand here",
      );
    return true;
  }

  /** Character by character, because a regular expression over a long string would overflow the stack. */
  private string(): string {
    const start = this.at++;
    for (;;) {
      const character = this.text[this.at];
      if (character === '"') break;
      if (character === undefined || character === "\n" || character === "\r")
        return this.fail("the string does not end", start);
      if (character < " ") return this.fail("this character must be escaped");
      if (character !== "\\") this.at++;
      else if (this.take(ESCAPE) === "") {
        const isUnicode = this.text[this.at + 1] === "u";
        this.fail(isUnicode ? "this is not a Unicode escape" : "this escape is not known");
      }
    }
    return JSON.parse(this.text.slice(start, ++this.at)) as string;
  }

  private skipSpace(): void {
    for (;;) {
      this.take(SPACE);
      if (this.text[this.at] !== "/") return;
      if (!this.allowsComments) this.fail("comments are allowed in .jsonc only");
      if (this.take(COMMENT) === "") this.fail("the comment does not end");
    }
  }

  /** Takes what the pattern matches here; empty if it does not match. */
  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0] ?? "";
    this.at += taken.length;
    return taken;
  }

  private fail(message: string, offset: number = this.at): never {
    throw new ConfigSyntaxError(message, offset);
  }
}
