import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { parseAdblockRule } from "./adblock-rule.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";

/** The name of `name # note`. */
const NOTED_NAME = /^(?<name>[^\s#|^$/*@!]+)\s+#/;
/** A pattern that consists of one name: `name`, `|name^`, `||name^|`, `://name^`. */
const NAME_PATTERN = /^(?<start>\|\|?(?:https?:\/\/)?|:\/\/)?(?<name>[^\s#|^$/*@!:,~?=&]+)[|^]*$/;
/** The same as a regular expression: `/^name$/`, `/(^|\.)name$/`. */
const NAME_EXPRESSION = /^\/(?:\^|\((?:\?:)?\^\|\\\.\))(?<name>[\w-]+(?:\\\.[\w-]+)+)\$\/$/;

/** The names of a rule in any syntax, as written. Empty unless the rule matches exactly these names. */
export function namesOfLine(line: string): string[] {
  const text = line.trim();
  const bytes = encodeUtf8(text);
  if (readHostsLine(bytes, 0, bytes.length)) {
    const names: string[] = [];
    do names.push(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    while (nextName(bytes));
    return names;
  }
  const noted = NOTED_NAME.exec(text)?.groups?.["name"];
  if (noted !== undefined) return noted.includes(".") ? [noted] : [];
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  const expression = NAME_EXPRESSION.exec(pattern)?.groups?.["name"];
  if (expression !== undefined) return [expression.replaceAll("\\.", ".")];
  const { start, name } = NAME_PATTERN.exec(pattern)?.groups ?? {};
  if (name === undefined || name.startsWith(".")) return [];
  // A single word matches parts of names, unless it has an anchor.
  return start !== undefined || name.includes(".") ? [name] : [];
}
