/** Tokens of the STIX 2.1 pattern language, as far as names need them. */
const TOKEN =
  /\s+|(?<text>'(?:[^'\\]|\\.)*')|(?<path>[a-z][a-z0-9-]*:[a-zA-Z0-9_.'[\]*-]+)|(?<word>[A-Za-z]+)|(?<sign>!=|<=|>=|[=<>()[\],])/gy;
const NAMED = new Set(["domain-name:value", "url:value"]);
const MOST_TOKENS = 5000;

/**
 * The names and URLs of a pattern that each suffice to match it: comparisons by `=` or `IN`, joined by OR. Empty for any other pattern:
 * `[domain-name:value = 'a.example' AND …]` does not mean that the name alone is bad.
 */
export function stixValues(pattern: string): string[] {
  const tokens = tokensOf(pattern);
  return tokens === undefined ? [] : (new PatternReader(tokens).read() ?? []);
}

interface Token {
  readonly kind: "text" | "path" | "word" | "sign";
  readonly text: string;
}

function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < pattern.length; at = TOKEN.lastIndex) {
    const groups = TOKEN.exec(pattern)?.groups;
    if (groups === undefined || tokens.length > MOST_TOKENS) return undefined;
    for (const kind of ["text", "path", "word", "sign"] as const)
      if (groups[kind] !== undefined) tokens.push({ kind, text: groups[kind] });
  }
  return tokens;
}

/** `pattern = "[" or "]" { "OR" "[" or "]" }`, `or = one { "OR" one }`, `one = "(" or ")" | path ("=" text | "IN" "(" texts ")")`. */
class PatternReader {
  private readonly tokens: readonly Token[];
  private readonly found: string[] = [];
  private at = 0;
  private depth = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  /** Undefined if the pattern says anything else. */
  read(): string[] | undefined {
    do if (!this.has("[") || !this.either() || !this.has("]")) return undefined;
    while (this.has("OR"));
    return this.at === this.tokens.length ? this.found : undefined;
  }

  private either(): boolean {
    do if (!this.one()) return false;
    while (this.has("OR"));
    return true;
  }

  private one(): boolean {
    if (this.has("(")) {
      if (++this.depth > 50) return false;
      return this.either() && this.has(")");
    }
    const path = this.next("path");
    if (path === undefined) return false;
    const isNamed = NAMED.has(path);
    if (this.has("=")) return this.value(isNamed);
    if (!this.has("IN") || !this.has("(")) return false;
    do if (!this.value(isNamed)) return false;
    while (this.has(","));
    return this.has(")");
  }

  private value(isNamed: boolean): boolean {
    const text = this.next("text");
    if (text === undefined) return false;
    if (isNamed) this.found.push(text.slice(1, -1).replace(/\\(.)/gs, "$1"));
    return true;
  }

  private has(text: string): boolean {
    const { kind, text: own } = this.tokens[this.at] ?? {};
    if (own !== text || kind === "text") return false;
    this.at++;
    return true;
  }

  private next(kind: Token["kind"]): string | undefined {
    const token = this.tokens[this.at];
    if (token?.kind !== kind) return undefined;
    this.at++;
    return token.text;
  }
}
