import { Fate } from "../../rules/fate.ts";
import type { ConfigReader, RowTaker } from "./foreign-reader.ts";
import { type JsonTaker, takeTokens } from "./json-tokens.ts";
import { below, exact, subtree } from "./prefixed-names.ts";
import { isName } from "./scoped-rule.ts";

const DEEPEST = 64;
/** The text of a row that is not a rule. It is not used. */
const NO_TEXT = "-";

interface Frame {
  readonly isArray: boolean;
  /** The key under which it is. */
  readonly of: string | undefined;
  /** The key that the next value belongs to. */
  key: string | undefined;
}

/**
 * Reads a rule-set of sing-box in source format, in any layout: the names under `domain` and `domain_suffix`. All other conditions,
 * and all rules that combine or invert conditions, are settings. A line without names has a row too.
 */
export class SingBoxNames implements ConfigReader, JsonTaker {
  private take!: RowTaker;
  private frames: Frame[] = [];
  private line = 1;
  /** The first line that has no row yet. */
  private next = 1;
  private isBlank = true;

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
    this.fill(this.line, Fate.Setting);
  }

  text(value: string): void {
    this.isBlank = false;
    const frame = this.frames.at(-1);
    if (frame === undefined) return;
    if (frame.isArray) this.name(frame.of, value);
    else if (frame.key === undefined) frame.key = value;
    else {
      // One name may stand without an array.
      this.name(frame.key, value);
      frame.key = undefined;
    }
  }

  literal(): void {
    this.isBlank = false;
    const frame = this.frames.at(-1);
    if (frame?.isArray === false) frame.key = undefined;
  }

  sign(sign: string): void {
    this.isBlank = false;
    const parent = this.frames.at(-1);
    if (sign === "{" || sign === "[") {
      if (this.frames.length >= DEEPEST) this.bad();
      else
        this.frames.push({ isArray: sign === "[", of: parent?.key ?? parent?.of, key: undefined });
    } else if (sign === "}" || sign === "]") {
      this.frames.pop();
      const outer = this.frames.at(-1);
      if (outer !== undefined) outer.key = undefined;
    }
  }

  bad(): void {
    this.row(NO_TEXT, Fate.BadSyntax);
  }

  lineEnd(): void {
    this.fill(this.line + 1, this.isBlank ? Fate.Blank : Fate.Setting);
    this.isBlank = true;
    this.line++;
  }

  private name(key: string | undefined, value: string): void {
    // Conditions of a logical rule are combined, and are not rules by themselves.
    const depth = this.frames.filter(({ isArray, of }) => isArray && of === "rules").length;
    if ((key !== "domain" && key !== "domain_suffix") || depth > 1) return;
    const isBelow = key === "domain_suffix" && value.startsWith(".");
    const name = (isBelow ? value.slice(1) : value).toLowerCase();
    if (!isName(name)) this.row(NO_TEXT, Fate.BadSyntax);
    else if (!name.endsWith(".invalid"))
      this.row((key === "domain" ? exact : isBelow ? below : subtree)(name), Fate.Live);
  }

  private row(text: string, fate: Fate): void {
    this.fill(this.line, Fate.Setting);
    this.take(text, this.line, fate);
    this.next = Math.max(this.next, this.line + 1);
  }

  /** Adds a row for every line before `end` that has none. */
  private fill(end: number, fate: Fate): void {
    for (; this.next < end; this.next++)
      this.take(fate === Fate.Blank ? "" : NO_TEXT, this.next, fate);
  }
}
