import { someOf } from "../diagnostics/some-of.ts";
import type { ConfigNode } from "./config-node.ts";
import type { ConfigProblems } from "./config-problems.ts";
import type { SourceConfig } from "./config.ts";
import { FEED_NAMES, type FeedName } from "./source-fields.ts";

/** A name or a number from 1 to 999, as text. */
export function columnOf(
  node: ConfigNode,
  path: string,
  problems: ConfigProblems,
): string | undefined {
  const value = node.kind === "scalar" ? node.value : undefined;
  if (typeof value === "string" && value !== "") return value;
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value < 1000)
    return String(value);
  problems.invalid(
    node.offset,
    `${path} must be the name of a column, or its number`,
    "Write 1 for the first column",
  );
  return undefined;
}

/** Texts by key. */
export function matchesOf(
  node: ConfigNode,
  path: string,
  problems: ConfigProblems,
): Record<string, string> | undefined {
  if (node.kind !== "object") {
    problems.invalid(
      node.offset,
      `${path} must be an object`,
      'Write { "status": "online" } with a column and its value',
    );
    return undefined;
  }
  const matches: Record<string, string> = Object.create(null);
  for (const { key, node: value } of node.entries)
    if (value.kind === "scalar") matches[key] = String(value.value);
    else
      problems.invalid(value.offset, `${path} must contain only texts`, "Write one value per key");
  return matches;
}

type FeedField = "column" | "delimiter" | "pointer" | "where" | "urls";

/** The types that each field is for. */
const TYPES: Readonly<Record<FeedField, readonly string[]>> = {
  column: ["csv"],
  delimiter: ["csv"],
  pointer: ["json", "ndjson"],
  where: ["csv", "json", "ndjson", "urlhaus", "phishtank", "threatfox", "misp", "stix"],
  urls: ["json", ...FEED_NAMES],
};

/** Whether a source is a feed, not a list. */
export function isFeed({ type, pointer }: Pick<SourceConfig, "type" | "pointer">): boolean {
  return FEED_NAMES.includes(type as FeedName) || (type === "json" && pointer !== undefined);
}

/** Problems of a source whose fields have the right types. */
export function* feedProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  const { type = "adblock", column, pointer, delimiter } = source;
  for (const [field, types] of Object.entries(TYPES))
    if (source[field as FeedField] !== undefined && !types.includes(type))
      yield {
        message: `${at}.${field} is not for type ${type}`,
        hint: `It is for ${someOf(types)}`,
      };
  if (type === "csv" && column === undefined)
    yield {
      message: `${at}.column is required for type csv`,
      hint: "Name the column with names or URLs",
    };
  if (type === "ndjson" && pointer === undefined)
    yield {
      message: `${at}.pointer is required for type ndjson`,
      hint: 'Write "/host" or similar',
    };
  if (pointer !== undefined && !/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer))
    yield {
      message: `${at}.pointer is not a JSON Pointer`,
      hint: 'Begin each step with /, as in "/data/*/host"',
    };
  for (const field of ["urls", "where"] as const)
    if (type === "json" && pointer === undefined && source[field] !== undefined)
      yield {
        message: `${at}.${field} needs a pointer`,
        hint: "Without a pointer, json is a list",
      };
  if (delimiter !== undefined && !/^[\t!$%&*+,/:;<=>?@^_|~]$/.test(delimiter))
    yield {
      message: `${at}.delimiter must be one character, and not a letter, digit, blank or quote`,
      hint: 'Write ";" or "\\t"',
    };
}
