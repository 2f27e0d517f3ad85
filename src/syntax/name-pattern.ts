/** Characters that a pattern which can match a host name is made of. */
const NAME_PATTERN = /^[a-z0-9_.*|^-]*$/;

/** Whether a host name, in lower case, is matched by a pattern of adblock syntax that is no regular expression. */
export type NameTest = (name: string) => boolean;

/**
 * What a resolver makes of a pattern: `||` begins at a label, `|` at either end of the name, `^` is the end of the name,
 * `*` is anything; without anchors a part of the name is enough. Undefined when no name can match.
 */
export function namePattern(pattern: string): NameTest | undefined {
  const read = patternParts(pattern);
  if (read === undefined) return undefined;
  const { startsAtLabel, startsAtName, endsName, parts } = read;
  return (name) => {
    if (startsAtName) return matchesFrom(name, 0, parts, endsName);
    if (!startsAtLabel) return matchesFrom(name, 0, ["", ...parts], endsName);
    for (let at = 0; at !== -1; at = nextLabel(name, at))
      if (matchesFrom(name, at, parts, endsName)) return true;
    return false;
  };
}

/** The same as a regular expression, for where there is nothing else. */
export function patternExpression(pattern: string): string | undefined {
  const read = patternParts(pattern);
  if (read === undefined) return undefined;
  const { startsAtLabel, startsAtName, endsName, parts } = read;
  const start = startsAtLabel ? "(?:^|\\.)" : startsAtName ? "^" : "";
  const body = parts.map((part) => part.replaceAll(".", "\\.")).join(".*");
  return `${start}${body}${endsName ? "$" : ""}`;
}

export interface PatternParts {
  readonly startsAtLabel: boolean;
  readonly startsAtName: boolean;
  readonly endsName: boolean;
  /** What stands between its stars. */
  readonly parts: readonly string[];
}

export function patternParts(pattern: string): PatternParts | undefined {
  const text = withoutScheme(pattern.toLowerCase());
  if (!NAME_PATTERN.test(text)) return undefined;
  const startsAtLabel = text.startsWith("||");
  const startsAtName = !startsAtLabel && text.startsWith("|");
  let body = text.slice(startsAtLabel ? 2 : startsAtName ? 1 : 0);
  const endsName = /[|^][|^*]*$/.test(body);
  body = body.replace(/[|^][|^*]*$/, "");
  if (/[|^]/.test(body)) return undefined;
  return { startsAtLabel, startsAtName, endsName, parts: body.split("*") };
}

/** The engine sees `http://name`: what a pattern says of the scheme says nothing. */
function withoutScheme(pattern: string): string {
  return pattern.replace(/^\|?(?:\*|https?)?:(?:\/\/|\^|\*)*\|*/, "|");
}

/** The longest text that must stand in every name which a pattern matches. */
export function longestLiteral(pattern: string): string {
  let longest = "";
  for (const part of withoutScheme(pattern.toLowerCase()).split(/[*|^]+/))
    if (part.length > longest.length) longest = part;
  return longest;
}

function nextLabel(name: string, at: number): number {
  const dot = name.indexOf(".", at);
  return dot === -1 ? -1 : dot + 1;
}

/** Parts one after the other with anything in between, each as early as it can be, the last at the end if it must. */
function matchesFrom(
  name: string,
  from: number,
  parts: readonly string[],
  endsName: boolean,
): boolean {
  const [first = "", ...others] = parts;
  if (!name.startsWith(first, from)) return false;
  let at = from + first.length;
  const last = others.pop();
  if (last === undefined) return !endsName || at === name.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  if (!endsName) return name.includes(last, at);
  return name.length - last.length >= at && name.endsWith(last);
}
