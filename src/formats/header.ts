import { durationMs } from "../config/duration.ts";
import type { Config } from "../config/fields.ts";
import { type HeaderValues, filledIn } from "./header-template.ts";

/** Who compiled it, with the version of this package. */
const COMPILER_NAME = "rules-compiler";

/** What of a configuration stands in a header. */
export type HeaderConfig = Pick<
  Config,
  "name" | "description" | "version" | "homepage" | "license" | "expires" | "header"
>;

export interface HeaderFacts extends HeaderValues {
  /** The version of this package. */
  readonly compiler: string;
  /** Lines for the software of subscribers, which stand near the top. */
  readonly more?: readonly string[];
  /** Whether a line says how many entries there are. */
  readonly showsCount?: boolean;
}

/** The lines above the rules. Values are put on one line each, whatever line breaks they hold. */
export function headerLines(config: HeaderConfig, facts: HeaderFacts): string[] {
  return ["", ...headerTexts(config, facts), ""].map((text) => (text === "" ? "!" : `! ${text}`));
}

/** The same without signs of comments, for other formats. */
export function headerTexts(config: HeaderConfig, facts: HeaderFacts): string[] {
  const { time, count, isTimeless = false, more = [] } = facts;
  // Some subscribers read the first thousand bytes only, and descriptions can be long.
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
  const own = (config.header ?? []).map((text) => ownLine(filledIn(text, facts)));
  const isCounted = own.some((text) => COUNT_LABEL.test(text));
  if (facts.showsCount === true && !isCounted) lines.push(`Number of entries: ${count}`);
  const moment = time.toISOString();
  return [
    ...lines,
    ...own,
    `Last modified: ${isTimeless ? "?".repeat(moment.length) : moment}`,
    "",
    `Compiled by ${COMPILER_NAME} v${facts.compiler}`,
  ];
}

const COUNT_LABEL = /^number of entries:/i;
const HOUR_MS = 3_600_000;

/** Subscribers read whole days or hours; what is shorter than an hour is one. */
function expiresText(expires: string): string {
  const hours = Math.max(1, Math.round((durationMs(expires) ?? 0) / HOUR_MS));
  const [count, unit] = hours % 24 === 0 ? [hours / 24, "day"] : [hours, "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The lines above a source's own. Credentials in an address are nobody's business. `note` says what is wrong with it. */
export function bannerLines(name: string | undefined, source: string, note?: string): string[] {
  const named = name === undefined || name === "" ? [] : [`! Source name: ${oneLine(name)}`];
  const noted = note === undefined ? [] : [`! ${note}`];
  return ["!", ...named, `! Source: ${oneLine(source)}`, ...noted, "!"];
}

/** A line break in a value would end the comment and start a rule. */
function oneLine(value: string): string {
  return value.replace(/[\r\n\u2028\u2029\u0085]+/g, " ");
}

/** Control characters and marks of text direction are for terminals and parsers, not for readers. */
const UNREADABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/** A line of the configuration's own, as one readable line; with its comment sign, if it had one, taken off. */
function ownLine(text: string): string {
  return text
    .replace(UNREADABLE, " ")
    .trim()
    .replace(/^[!#;]+\s*/, "");
}
