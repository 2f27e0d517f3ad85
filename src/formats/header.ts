import type { Config } from "../config/fields.ts";

/** Who compiled it, with the version of this package. */
const COMPILER_NAME = "rules-compiler";

/** The lines above the rules. Values are put on one line each, whatever line breaks they hold. */
export function headerLines(
  config: Config,
  version: string,
  time: Date,
  more: readonly string[] = [],
): string[] {
  return ["", ...headerTexts(config, version, time, more), ""].map((text) =>
    text === "" ? "!" : `! ${text}`,
  );
}

/** The same without signs of comments, for other formats. */
export function headerTexts(
  config: Pick<Config, "name" | "description" | "version" | "homepage" | "license">,
  version: string,
  time: Date,
  more: readonly string[] = [],
): string[] {
  // Some subscribers read the first thousand bytes only, and descriptions can be long.
  const lines = [`Title: ${oneLine(config.name)}`, ...more];
  for (const [label, value] of [
    ["Description", config.description],
    ["Version", config.version],
    ["Homepage", config.homepage],
    ["License", config.license],
  ] as const) {
    if (value !== undefined && value !== "") lines.push(`${label}: ${oneLine(value)}`);
  }
  return [
    ...lines,
    `Last modified: ${time.toISOString()}`,
    "",
    `Compiled by ${COMPILER_NAME} v${version}`,
  ];
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
