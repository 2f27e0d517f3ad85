import { CsvFeed, type CsvShape } from "./csv-feed.ts";
import { DetectedFeed } from "./detected-feed.ts";
import type { FeedReader } from "./feed-reader.ts";
import { type Condition, type FeedSettings, conditionsOf } from "./feed-settings.ts";
import { FeedValues } from "./feed-value.ts";
import { JsonFeed, type JsonShape, NdjsonFeed } from "./json-feed.ts";
import { stixValues } from "./stix-pattern.ts";
import { UrlFeed } from "./url-feed.ts";

/** A kind of feed. */
interface FeedFormat {
  /** Entries that are no longer valid at `now` are not taken. */
  open(settings: FeedSettings, now: Date): FeedReader;
  /** Whether it may be JSON, which is otherwise taken for an error message of the server. */
  readonly isJson?: true;
}

const urls: FeedFormat = { open: (settings) => new UrlFeed(settings) };

function csv(column: string, where: readonly Condition[] = []): FeedFormat["open"] {
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

const verified: Condition = { key: "verified", values: ["yes", "true"], orAbsent: true };
const namesAndUrls: Condition = { key: "ioc_type", values: ["domain", "url"] };
const mispTypes: Condition = {
  key: "type",
  values: ["domain", "hostname", "url", "domain|ip", "hostname|port"],
  orAbsent: true,
};

const notDeleted: Condition = { key: "deleted", values: ["false", "0"], orAbsent: true };

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
