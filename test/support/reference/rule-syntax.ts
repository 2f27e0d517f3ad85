import { isIP } from "node:net";
import { asciiLabels, hostsName } from "./names.ts";

/** A line of a list, read by the documents on DNS filtering syntax and nothing of the compiler's. */
export type Line =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "hosts";
      readonly text: string;
      readonly names: readonly string[];
      readonly isSinkhole: boolean;
    }
  | {
      readonly kind: "rule";
      readonly text: string;
      readonly isAllow: boolean;
      readonly pattern: string;
      readonly modifiers: readonly Modifier[];
    };

export interface Modifier {
  readonly name: string;
  readonly value: string;
}

const NOTHING: Line = { kind: "nothing" };
/** No label begins with a hyphen: `-banner.js` is a pattern. */
const PLAIN_NAME = /^(?!-|.*\.-)[\w\u0080-\uffff-]+(?:\.[\w\u0080-\uffff-]+)+\.?$/;
const BROWSER_RULE = /#@?[$%?]{0,2}#|\$@?\$/;

export function readLine(line: string): Line {
  const text = line.trim();
  if (text === "" || text.startsWith("!") || text.startsWith("#")) return NOTHING;
  const [first = "", ...others] = text
    .replace(/\s#.*$/, "")
    .trim()
    .split(/[ \t]+/);
  if (others.length > 0 && isIP(first) > 0)
    return { kind: "hosts", text, names: others.map(hostsName), isSinkhole: isSinkhole(first) };
  if (others.length === 0 && isPlainName(first))
    return { kind: "hosts", text, names: [hostsName(first)], isSinkhole: true };
  if (BROWSER_RULE.test(text)) return NOTHING;
  return readRule(text);
}

const DOMAIN =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)*(?:[a-zA-Z]{2,63}|xn--[a-zA-Z0-9]{4,59})$/;

/**
 * The same as AdGuard's engine reads it, and not as it was meant: names count as they are written, `#` takes the character before it,
 * and no letters are converted.
 */
export function readExactly(line: string): Line {
  const text = line.trim();
  if (text === "" || text.startsWith("!") || text.startsWith("#")) return NOTHING;
  if (/^[^#]*[^# ]#@?(?:[$%]|\$?\?)?#/.test(text)) return NOTHING;
  const words = text.replace(/[^]#[^]*$/, "").match(/[^ \t]+/g) ?? [];
  const [first = "", ...others] = words;
  // An IPv6 address may have a zone, of any characters.
  const address = /^([^%]*:[^%]*)%.+$/s.exec(first)?.[1] ?? first;
  if (others.length > 0 && isIP(address) > 0)
    return { kind: "hosts", text, names: others.filter(isAsked), isSinkhole: true };
  if (words.length === 1 && first.length < 254 && DOMAIN.test(first))
    return { kind: "hosts", text, names: [first].filter(isAsked), isSinkhole: true };
  const rule = readRule(text, (pattern) => pattern);
  const isOther = rule.kind === "rule" && /[^ -~]/.test(rule.pattern);
  return isOther && !/^\/.+\/$/.test(rule.pattern) ? NOTHING : rule;
}

/** Resolvers are asked for names in lower-case ASCII and without a final dot. */
function isAsked(name: string): boolean {
  return /^[!-~]*[!-\-/-~]$/.test(name) && name === name.toLowerCase();
}

function isPlainName(text: string): boolean {
  return PLAIN_NAME.test(text) && isIP(text) === 0;
}

function isSinkhole(address: string): boolean {
  return address === "0.0.0.0" || address.startsWith("127.") || /^[0:]*[01]?$/.test(address);
}

function readRule(text: string, written = asciiLabels): Line {
  const isAllow = text.startsWith("@@");
  const body = isAllow ? text.slice(2) : text;
  const at = body.length > 1 && /^\/.*\/$/.test(body) ? -1 : modifiersAt(body);
  const pattern = written(at === -1 ? body : body.slice(0, at));
  const modifiers = at === -1 ? [] : body.slice(at + 1).split(/(?<!\\),/);
  return { kind: "rule", text, isAllow, pattern, modifiers: modifiers.map(readModifier) };
}

/** The last `$` without a backslash before it. One at the very end belongs to the pattern. */
function modifiersAt(body: string): number {
  for (let at = body.length - 2; at >= 0; at--)
    if (body[at] === "$" && body[at - 1] !== "\\") return at;
  return -1;
}

function readModifier(part: string): Modifier {
  const [, name = part, value = ""] = /^(.*?)=(.*)$/.exec(part) ?? [];
  return { name, value };
}
