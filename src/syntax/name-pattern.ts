/** The characters of patterns that can match a host name. */
const NAME_PATTERN = /^[a-z0-9_.*|^-]*$/;

/** Whether an adblock pattern, which is not a regular expression, matches a host name in lower case. */
export type NameTest = (name: string) => boolean;

/** A pattern as a resolver interprets it. The page of the report contains these too, as JSON. */
export interface PatternParts {
  readonly startsAtLabel: boolean;
  readonly startsAtName: boolean;
  readonly endsName: boolean;
  /** The texts between its stars. */
  readonly parts: readonly string[];
}

/**
 * Interprets a pattern as a resolver does: `||` matches at the start of a label, `|` at either end of the name, `^` at the
 * end of the name, `*` matches anything. Without anchors, it matches any part of the name. Undefined if no name can match.
 */
export function namePattern(pattern: string): NameTest | undefined {
  const read = patternParts(pattern);
  return read === undefined ? undefined : (name) => matchesPattern(name, read);
}

/** The pattern as a regular expression, for other software. It may be slow: do not match with it here. */
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
  // A bar that is not an anchor is an ordinary character, which names never contain.
  if (/[|^]/.test(inner) || body.slice(0, -1).includes("|")) return undefined;
  const parts = inner.includes("**") ? inner.split(/\*+/) : inner.split("*");
  return { startsAtLabel, startsAtName, endsName: end !== -1, parts };
}

/** Where `^` or `|` marks the end of the name, followed only by these and stars. -1 if there is no such mark. */
function endOfName(body: string): number {
  let end = -1;
  for (let at = body.length - 1; at >= 0; at--) {
    const character = body[at];
    if (character === "|" || character === "^") end = at;
    else if (character !== "*") break;
  }
  return end;
}

/** Resolvers match against `http://name`: a scheme, or the `/` of `/ads.`, starts the name, and a final `/*` ends it. */
function withoutScheme(pattern: string): string {
  return pattern
    .replace(/^(?:(?:http)?:\/\/(?![|/])|\/(?=[a-z0-9.-]+\.$))/, "|")
    .replace(/\/\*$/, "^");
}

/**
 * Whether engines interpret a pattern differently: some match it against `http://name/`, where `||name/` matches one name
 * and `http*` matches every name.
 */
export function isForAddress(pattern: string): boolean {
  const text = pattern.toLowerCase();
  if (/^\|?http(?:[:/*^|]|$)/.test(text) && !/^http:\/\/[^|/]/.test(text)) return true;
  if (!/[:/]/.test(text) || patternParts(text) !== undefined) return false;
  return /^[|:/]*[a-z0-9_.*-]*[/^|*]*$/.test(text);
}

/** Texts that every name which the pattern matches contains. */
export function patternTexts(pattern: string): string[] {
  return withoutScheme(pattern.toLowerCase())
    .split(/[*|^]+/)
    .filter((text) => text !== "");
}

/** Whether a name matches. The report's page contains the source of this function and the next: they only use each other. */
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

/** Matches the parts in order, each as early as possible, and the last at the end of the name if `endsName` is set. */
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
