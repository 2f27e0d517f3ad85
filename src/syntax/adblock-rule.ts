/** Parses and formats adblock syntax as strings, for the few lines that are more than a name. */

export interface AdblockRule {
  readonly isAllow: boolean;
  readonly pattern: string;
  readonly modifiers: readonly Modifier[];
}

export interface Modifier {
  readonly name: string;
  /** As written, including escapes and further `=`; absent if empty. */
  readonly value?: string;
}

/** Modifiers of browser filters that a DNS rule does not need: only the name matters. */
export const BROWSER_MODIFIERS: ReadonlySet<string> = new Set([
  "third-party",
  "3p",
  "document",
  "doc",
  "all",
  "popup",
  "network",
]);

/** Parses a line; undefined if nothing follows its `@@`. */
export function parseAdblockRule(line: string): AdblockRule | undefined {
  let rest = line.trim();
  const isAllow = rest.startsWith("@@");
  if (isAllow) rest = rest.slice(2);
  if (rest === "") return isAllow ? undefined : { isAllow, pattern: "", modifiers: [] };
  const split = isRegexPattern(rest) ? -1 : modifiersStart(rest);
  if (split === -1) return { isAllow, pattern: rest, modifiers: [] };
  return {
    isAllow,
    pattern: rest.slice(0, split),
    modifiers: parseModifiers(rest.slice(split + 1)),
  };
}

/** `/…/` is a pattern as a whole, including any `$`. Only the value of the modifier `replace=` can end with a slash. */
function isRegexPattern(rule: string): boolean {
  return rule.startsWith("/") && rule.endsWith("/") && !rule.includes("replace=");
}

/** The last `$` that is not escaped by a backslash. A `$` at the very start always counts. */
function modifiersStart(rule: string): number {
  for (let at = rule.lastIndexOf("$"); at !== -1; at = rule.lastIndexOf("$", at - 1)) {
    if (at === 0 || rule[at - 1] !== "\\") return at;
  }
  return -1;
}

/** Splits on commas that are not escaped by a backslash. Skips empty parts. */
function parseModifiers(text: string): Modifier[] {
  const modifiers: Modifier[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && (text[at] !== "," || text[at - 1] === "\\")) continue;
    if (at > start) modifiers.push(parseModifier(text.slice(start, at)));
    start = at + 1;
  }
  return modifiers;
}

function parseModifier(part: string): Modifier {
  const equals = part.indexOf("=");
  // Keep escapes in a name, so that parsing the formatted rule yields the same modifiers.
  const name = equals === -1 ? part : part.slice(0, equals);
  const value = equals === -1 ? "" : part.slice(equals + 1);
  return value === "" ? { name } : { name, value };
}

export function formatAdblockRule(rule: AdblockRule): string {
  const modifiers = rule.modifiers.map(({ name, value }) =>
    value === undefined ? name : `${name}=${value}`,
  );
  const tail = modifiers.length === 0 ? "" : `$${modifiers.join(",")}`;
  return `${rule.isAllow ? "@@" : ""}${rule.pattern}${tail}`;
}

/** A valid modifier name, as resolvers write it. */
const MODIFIER_NAME = /^~?[\w-]+$/;

/**
 * The rule without empty modifiers and without blanks around modifiers. Some resolvers read `||a.com^$`, `$,important` and
 * `$ badfilter` as we do; others see a pattern or a modifier that never matches. All read the tidied rule the same way.
 */
export function tidyRule(text: string): string {
  const tidied = tidiedOnce(text);
  // The result may have an empty tail again: `||a.com^$,$`.
  return tidied === text ? text : tidyRule(tidied);
}

function tidiedOnce(text: string): string {
  const rule = parseAdblockRule(text);
  if (rule === undefined || rule.pattern === "") return text;
  const modifiers = rule.modifiers
    .map(({ name, value }) => ({
      name: name.trim(),
      ...(value !== undefined && { value: value.trim() }),
    }))
    .filter(({ name }) => name !== "");
  if (!modifiers.every(({ name }) => MODIFIER_NAME.test(name))) return text;
  return formatAdblockRule({ ...rule, pattern: rule.pattern.trim(), modifiers });
}
