import { durationMs } from "../config/duration.ts";
import type { Config } from "../config/config.ts";
import { type HeaderValues, filledIn } from "./header-template.ts";

const COMPILER_NAME = "rules-compiler";

/** The fields of a configuration that appear in a header. */
export type HeaderConfig = Pick<
  Config,
  "name" | "description" | "version" | "homepage" | "license" | "expires" | "header"
>;

export interface HeaderFacts extends HeaderValues {
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
  const lines = [`Title: ${oneLine(config.name)}`];
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
  const moment = time.toISOString();
  return [
    ...lines,
    ...userLines,
    `Last modified: ${isTimeless ? "?".repeat(moment.length) : moment}`,
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
