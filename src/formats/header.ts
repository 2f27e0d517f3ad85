import { durationMs } from "../diagnostics/text.ts";
import { encodeUtf8, lineEnd } from "../bytes/text.ts";
import type { Config } from "../config/lists.ts";

const COMPILER_NAME = "rules-compiler";

/** The fields of a configuration that appear in a header. */
export type HeaderConfig = Pick<
  Config,
  "name" | "title" | "description" | "version" | "homepage" | "license" | "expires" | "header"
>;

interface HeaderFacts extends HeaderValues {
  /** The version of this package. */
  readonly compiler: string;
  /** Lines for the software of subscribers, near the top. */
  readonly more?: readonly string[];
  /** Whether a line shows the number of entries. */
  readonly showsCount?: boolean;
}

/** The comment lines above the rules. Line breaks in values are removed. */
export function headerLines(config: HeaderConfig, facts: HeaderFacts): string[] {
  return ["", ...headerTexts(config, facts), ""].map((text) => (text === "" ? "!" : `! ${text}`));
}

/** The same lines without comment signs, for other formats. */
export function headerTexts(config: HeaderConfig, facts: HeaderFacts): string[] {
  const { time, count, isTimeless = false, more = [] } = facts;
  // Some clients read only the first thousand bytes, and descriptions can be long.
  const lines = [`Title: ${oneLine(config.title ?? config.name)}`];
  if (config.expires !== undefined) lines.push(`Expires: ${expiresText(config.expires)}`);
  lines.push(...more);
  for (const [label, value] of [
    ["Description", config.description],
    ["Version", filledIn(config.version ?? "", facts)],
    ["Homepage", config.homepage],
    ["License", config.license],
  ] as const) {
    if (value !== undefined && value !== "") lines.push(`${label}: ${oneLine(value)}`);
  }
  const userLines = (config.header ?? []).map((text) => userLine(filledIn(text, facts)));
  const isCounted = userLines.some((text) => COUNT_LABEL.test(text));
  if (facts.showsCount === true && !isCounted) lines.push(`Number of entries: ${count}`);
  const timestamp = time.toISOString();
  return [
    ...lines,
    ...userLines,
    `Last modified: ${isTimeless ? "?".repeat(timestamp.length) : timestamp}`,
    "",
    `Compiled by ${COMPILER_NAME} v${facts.compiler}`,
  ];
}

const COUNT_LABEL = /^number of entries:/i;
const HOUR_MS = 3_600_000;

/** Clients expect whole days or hours; shorter times become one hour. */
function expiresText(expires: string): string {
  const hours = Math.max(1, Math.round((durationMs(expires) ?? 0) / HOUR_MS));
  const [count, unit] = hours % 24 === 0 ? [hours / 24, "day"] : [hours, "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The comment lines above the rules of a source. The caller removes credentials from the address. */
export function bannerLines(name: string | undefined, source: string, note?: string): string[] {
  const named = name === undefined || name === "" ? [] : [`! Source name: ${oneLine(name)}`];
  const noted = note === undefined ? [] : [`! ${note}`];
  return ["!", ...named, `! Source: ${oneLine(source)}`, ...noted, "!"];
}

/** A line break would end the comment and start a rule. */
function oneLine(value: string): string {
  return value.replace(/[\r\n\u2028\u2029\u0085]+/g, " ");
}

/** Control characters and direction marks can mislead terminals, parsers and readers. */
const UNREADABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/** A header line of the configuration as one readable line, without a comment sign. */
function userLine(text: string): string {
  return text
    .replace(UNREADABLE, " ")
    .trim()
    .replace(/^[!#;]+\s*/, "");
}

/** The values for the placeholders in a header. */
export interface HeaderValues {
  readonly time: Date;
  /** The number of rules in the list, or of entries in a file. */
  readonly count: number;
  /** Replaces everything that depends on the clock with `?`, at the same length, to compare two versions by their rules alone. */
  readonly isTimeless?: boolean;
}

/** Replaces the placeholders. Other text in braces stays unchanged. */
function filledIn(text: string, values: HeaderValues): string {
  return text.replace(/\{(?:date|time|count)\}/g, (template) => {
    if (template === "{count}") return String(values.count);
    const digits = values.time.toISOString().replace(/\D/g, "");
    const shown = template === "{date}" ? digits.slice(0, 8) : digits.slice(8, 12);
    return values.isTimeless === true ? "?".repeat(shown.length) : shown;
  });
}

/** Whether one of the texts depends on the number of rules, which is known only at the end. */
export function needsCount(texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.includes("{count}") === true);
}

/** The lines of a format for one name: the texts before, between and after its occurrences. */
export class LineTemplate {
  readonly parts: readonly Uint8Array[];
  private readonly texts: readonly string[];
  /** The number of lines per name. */
  readonly lines: number;
  private readonly fixed: number;

  /** Templates with the same key produce the same lines. */
  get key(): string {
    return this.texts.join("%");
  }

  constructor(lines: readonly string[]) {
    this.texts = `${lines.join("\n")}\n`.split("%");
    this.parts = this.texts.map(encodeUtf8);
    this.lines = lines.length;
    this.fixed = this.parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** The size of the lines for `count` names, which take `length` bytes with their line feeds. */
  size(count: number, length: number): number {
    return (length - count) * (this.parts.length - 1) + count * this.fixed;
  }

  /** How many of the first names of a block have lines that fit into a number of bytes. */
  fitting(names: Uint8Array, most: number, bytes: number): number {
    const occurrences = this.parts.length - 1;
    if (names.length * occurrences + most * this.fixed <= bytes) return most;
    let left = bytes;
    let start = 0;
    for (let count = 0; count < most; count++) {
      const end = lineEnd(names, start);
      left -= (end - start) * occurrences + this.fixed;
      if (left < 0) return count;
      start = end + 1;
    }
    return most;
  }

  /** The lines for one name. */
  text(name: string): string {
    return this.texts.join(name);
  }
}
