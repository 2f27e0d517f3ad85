import { RE2JS } from "re2js";
import { isAtOrBelow } from "./names.ts";

/** Whether a pattern is for a name alone, for it and all below it, only for those below it, or for something else. */
export type Shape = "exact" | "subtree" | "below" | "pattern" | "regex";

export interface NameTest {
  readonly shape: Shape;
  /** The name that the first three shapes are about. */
  readonly host?: string;
  readonly matches: (name: string) => boolean;
}

const HOST = "[a-z0-9_-]+(?:\\.[a-z0-9_-]+)*";
const SUBTREE = new RegExp(`^\\|\\|(${HOST})(?:\\^[|*]?|\\|)$`);
const EXACT = new RegExp(`^(?:\\||(?:http)?://)(${HOST})[|^]$`);
const BELOW = new RegExp(`^(?:\\|{0,2}\\*)?\\.(${HOST})\\^$`);
/** Rules that AdGuard's engine matches against `http://name` instead of the name. */
const OF_URL = /^(?:(?:https?)?:\/\/|\/[a-z0-9.-]+\.$)/;

/** What a pattern of adblock syntax matches, of names in lower case; undefined when it can match none. */
export function nameTest(pattern: string): NameTest | undefined {
  if (pattern.length > 1 && pattern.startsWith("/") && pattern.endsWith("/"))
    return regexTest(pattern.slice(1, -1));
  const text = pattern.toLowerCase().replace(/(?<!:\/)\/\*$/, "^");
  const subtree = SUBTREE.exec(text)?.[1];
  if (subtree !== undefined)
    return { shape: "subtree", host: subtree, matches: (name) => isAtOrBelow(name, subtree) };
  const exact = EXACT.exec(text)?.[1];
  if (exact !== undefined)
    return { shape: "exact", host: exact, matches: (name) => name === exact };
  const below = BELOW.exec(text)?.[1];
  if (below !== undefined)
    return { shape: "below", host: below, matches: (name) => name.endsWith(`.${below}`) };
  return wildcardTest(text);
}

/** `||` begins at a label, `|` at an end of the name, `^` is its end, `*` anything; without anchors a part is enough. */
function wildcardTest(text: string): NameTest | undefined {
  if (!/^[a-z0-9_.*|^:/-]*$/.test(text)) return undefined;
  const isAtLabel = text.startsWith("||");
  const isOfUrl = OF_URL.test(text);
  const start = isAtLabel ? "^(?:.*\\.)?" : text.startsWith("|") ? "^" : "";
  const body = text.replace(/^\|{1,2}/, "").replace(/\|$/, "");
  if (body.includes("|")) return undefined;
  const middle = body
    .replaceAll(/[.:/-]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("^", "(?:[^ a-z0-9.%_-]|$)");
  const end = text.length > 1 && text.endsWith("|") ? "$" : "";
  const expression = new RegExp(`${start}${middle}${end}`);
  return {
    shape: "pattern",
    matches: (name) => expression.test(isOfUrl ? `http://${name}` : name),
  };
}

/** Without repeated groups no expression takes long, and both engines agree. */
const IS_HARMLESS = /^(?:\\[.dw-]|\[[a-z0-9-]+\]|[a-z0-9.^$|-]|\(|\)(?![*+?{])|[*+?](?![*+?{]))*$/;

function regexTest(source: string): NameTest | undefined {
  try {
    const re2 = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
    if (!IS_HARMLESS.test(source)) return { shape: "regex", matches: (name) => re2.test(name) };
    const expression = new RegExp(source, "i");
    return { shape: "regex", matches: (name) => expression.test(name) };
  } catch {
    return undefined;
  }
}
