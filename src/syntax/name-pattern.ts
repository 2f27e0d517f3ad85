/** Characters that a pattern which can match a host name is made of. */
const NAME_PATTERN = /^[a-z0-9_.*|^-]*$/;

/** Whether a host name, in lower case, is matched by a pattern of adblock syntax that is no regular expression. */
export type NameTest = (name: string) => boolean;

/** What a resolver makes of a pattern. The report's page has these too, as JSON. */
export interface PatternParts {
  readonly startsAtLabel: boolean;
  readonly startsAtName: boolean;
  readonly endsName: boolean;
  /** What stands between its stars. */
  readonly parts: readonly string[];
}

/**
 * What a resolver makes of a pattern: `||` begins at a label, `|` at either end of the name, `^` is the end of the name,
 * `*` is anything; without anchors a part of the name is enough. Undefined when no name can match.
 */
export function namePattern(pattern: string): NameTest | undefined {
  const read = patternParts(pattern);
  return read === undefined ? undefined : (name) => matchesPattern(name, read);
}

/** The same as a regular expression, for software that knows nothing else. It may take long: do not match by it here. */
export function patternExpression(pattern: string): string | undefined {
  const read = patternParts(pattern);
  if (read === undefined) return undefined;
  const { startsAtLabel, startsAtName, endsName, parts } = read;
  const start = startsAtLabel ? "(?:^|\\.)" : startsAtName ? "^" : "";
  const body = parts.map((part) => part.replaceAll(".", "\\.")).join(".*");
  return `${start}${body}${endsName ? "$" : ""}`;
}

export function patternParts(pattern: string): PatternParts | undefined {
  const text = withoutScheme(pattern.toLowerCase());
  if (!NAME_PATTERN.test(text)) return undefined;
  const startsAtLabel = text.startsWith("||");
  const startsAtName = !startsAtLabel && text.startsWith("|");
  const body = text.slice(startsAtLabel ? 2 : startsAtName ? 1 : 0);
  const end = endOfName(body);
  const inner = end === -1 ? body : body.slice(0, end);
  // A bar that is not an anchor is a character, and names have none.
  if (/[|^]/.test(inner) || body.slice(0, -1).includes("|")) return undefined;
  return { startsAtLabel, startsAtName, endsName: end !== -1, parts: inner.split(/\*+/) };
}

/** Where `^` or `|` says that the name ends: only those and stars follow. -1 when nothing says so. */
function endOfName(body: string): number {
  let end = -1;
  for (let at = body.length - 1; at >= 0; at--) {
    const character = body[at];
    if (character === "|" || character === "^") end = at;
    else if (character !== "*") break;
  }
  return end;
}

/** The engine sees `http://name`: a scheme, or the `/` of `/ads.`, is the start of the name, and `/*` behind is its end. */
function withoutScheme(pattern: string): string {
  return pattern
    .replace(/^(?:(?:http)?:\/\/(?![|/])|\/(?=[a-z0-9.-]+\.$))/, "|")
    .replace(/\/\*$/, "^");
}

/**
 * Whether engines differ in what a pattern is for: all or some match it against `http://name/`, where `||name/` is for a
 * name and `http*` for every name.
 */
export function isForAddress(pattern: string): boolean {
  const text = pattern.toLowerCase();
  if (/^\|?http(?:[:/*^|]|$)/.test(text) && !/^http:\/\/[^|/]/.test(text)) return true;
  if (!/[:/]/.test(text) || patternParts(text) !== undefined) return false;
  return /^[|:/]*[a-z0-9_.*-]*[/^|*]*$/.test(text);
}

/** Texts that must stand in every name which a pattern matches. */
export function patternTexts(pattern: string): string[] {
  return withoutScheme(pattern.toLowerCase())
    .split(/[*|^]+/)
    .filter((text) => text !== "");
}

/** Whether a name matches. The text of this function and the next is in the report's page: they use nothing but each other. */
export function matchesPattern(name: string, pattern: PatternParts): boolean {
  if (pattern.startsAtName) return matchesFrom(name, 0, pattern);
  if (!pattern.startsAtLabel) {
    const found = name.indexOf(pattern.parts[0]!);
    if (found === -1) return false;
    if (pattern.parts.length > 1) return matchesFrom(name, found, pattern);
    return !pattern.endsName || name.endsWith(pattern.parts[0]!);
  }
  for (let at = 0; ;) {
    if (matchesFrom(name, at, pattern)) return true;
    const dot = name.indexOf(".", at);
    if (dot === -1) return false;
    at = dot + 1;
  }
}

/** Parts one after the other with anything in between, each as early as it can be, the last at the end if it must. */
export function matchesFrom(name: string, from: number, pattern: PatternParts): boolean {
  const { parts, endsName } = pattern;
  if (!name.startsWith(parts[0]!, from)) return false;
  let at = from + parts[0]!.length;
  const last = parts.length - 1;
  if (last === 0) return !endsName || at === name.length;
  for (let part = 1; part < last; part++) {
    const found = name.indexOf(parts[part]!, at);
    if (found === -1) return false;
    at = found + parts[part]!.length;
  }
  if (!endsName) return name.includes(parts[last]!, at);
  return name.length - parts[last]!.length >= at && name.endsWith(parts[last]!);
}
