import { CsvFeed, type CsvShape } from "./csv-feed.ts";
import {
  type RowCondition,
  DetectedFeed,
  type FeedReader,
  type FeedSettings,
  FeedValues,
  conditionsOf,
} from "./feed.ts";
import { JsonFeed, type JsonShape, NdjsonFeed, UrlFeed } from "./json-feed.ts";

/** A kind of feed. */
interface FeedFormat {
  /** Entries that are no longer valid at `now` are not taken. */
  open(settings: FeedSettings, now: Date): FeedReader;
  /** Whether it may be JSON, which is otherwise taken for an error message of the server. */
  readonly isJson?: true;
}

const urls: FeedFormat = { open: (settings) => new UrlFeed(settings) };

function csv(column: string, where: readonly RowCondition[] = []): FeedFormat["open"] {
  return (settings) => csvFeed({ column, where }, settings);
}

function csvFeed(shape: CsvShape, settings: FeedSettings): FeedReader {
  const where = [...shape.where, ...conditionsOf(settings)];
  return new CsvFeed({ ...shape, where }, new FeedValues(settings.urls));
}

function json(paths: readonly string[], more: Partial<JsonShape> = {}): FeedFormat {
  return { isJson: true, open: (settings) => jsonFeed({ paths, where: [], ...more }, settings) };
}

function jsonFeed(shape: JsonShape, settings: FeedSettings): FeedReader {
  const where = [...shape.where, ...conditionsOf(settings)];
  return new JsonFeed({ ...shape, where }, new FeedValues(settings.urls));
}

/** A feed that comes as CSV and as JSON. */
function either(openCsv: FeedFormat["open"], other: FeedFormat): FeedFormat {
  return {
    isJson: true,
    open: (settings, now) =>
      new DetectedFeed(
        () => openCsv(settings, now),
        () => other.open(settings, now),
      ),
  };
}

const verified: RowCondition = { key: "verified", values: ["yes", "true"], orAbsent: true };
const namesAndUrls: RowCondition = { key: "ioc_type", values: ["domain", "url"] };
const mispTypes: RowCondition = {
  key: "type",
  values: ["domain", "hostname", "url", "domain|ip", "hostname|port"],
  orAbsent: true,
};

const notDeleted: RowCondition = { key: "deleted", values: ["false", "0"], orAbsent: true };

/** Indicators that are neither revoked, expired nor benign (STIX 2.1, 4.7). */
function stixShape(now: Date): JsonShape {
  return {
    paths: ["/objects/*/pattern"],
    where: [
      { key: "type", values: ["indicator"] },
      { key: "pattern_type", values: ["stix"], orAbsent: true },
      { key: "revoked", values: ["false"], orAbsent: true },
    ],
    refusals: [
      { key: "valid_until", isRefused: (text) => Date.parse(text) <= now.getTime() },
      { key: "indicator_types", isRefused: (text) => text.toLowerCase() === "benign" },
    ],
    mayLackValues: true,
    valuesIn: stixValues,
  };
}

/** Whether the same bytes give other names at another time. */
export function dependsOnTime({ type }: FeedSettings): boolean {
  return type === "stix";
}

/** The feeds that can be read, by the `type` of a source. */
export const feedFormats: ReadonlyMap<string, FeedFormat> = new Map<string, FeedFormat>([
  ["urls", urls],
  [
    "csv",
    {
      open: (settings) =>
        csvFeed(
          { column: settings.column ?? "1", delimiter: settings.delimiter, where: [] },
          settings,
        ),
    },
  ],
  [
    "json",
    {
      isJson: true,
      open: (settings) => jsonFeed({ paths: [settings.path ?? ""], where: [] }, settings),
    },
  ],
  [
    "ndjson",
    {
      isJson: true,
      open: (settings) =>
        new NdjsonFeed(
          { paths: [settings.path ?? ""], where: conditionsOf(settings) },
          new FeedValues(settings.urls),
        ),
    },
  ],
  ["urlhaus", either(csv("url"), json(["/*/*/url", "/urls/*/url"]))],
  ["openphish", urls],
  ["phishtank", either(csv("url", [verified]), json(["/*/url"], { where: [verified] }))],
  [
    "threatfox",
    either(
      csv("ioc_value", [namesAndUrls]),
      json(["/*/*/ioc_value", "/data/*/ioc"], { where: [namesAndUrls] }),
    ),
  ],
  [
    "misp",
    json(
      [
        "/list/*",
        "/Event/Attribute/*/value",
        "/Event/Object/*/Attribute/*/value",
        "/response/*/Event/Attribute/*/value",
        "/response/*/Event/Object/*/Attribute/*/value",
      ],
      {
        where: [mispTypes, { key: "to_ids", values: ["true", "1"], orAbsent: true }, notDeleted],
        whereAbove: [notDeleted],
        mayLackValues: true,
        // `domain|ip` and `hostname|port` have both. A URL may contain the sign.
        valuesIn: (value) => [value.replace(/^([^/:|]*)\|.*$/s, "$1")],
      },
    ),
  ],
  ["stix", { isJson: true, open: (settings, now) => jsonFeed(stixShape(now), settings) }],
  ["tranco", { open: csv("2") }],
  ["umbrella", { open: csv("2") }],
]);

/** Opens the reader of a feed. */
export function openFeed(settings: FeedSettings, now: Date): FeedReader {
  return feedFormats.get(settings.type)!.open(settings, now);
}

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
