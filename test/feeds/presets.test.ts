import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FEED_NAMES } from "../../src/config/sources.ts";
import { FeedError, type FeedSettings } from "../../src/feeds/feed.ts";
import { feedFormats } from "../../src/feeds/registry.ts";
import { namesOf, readFeed } from "../support/read-feed.ts";

const folder = join(import.meta.dirname, "../fixtures/feeds");

function linesOf(file: string, settings: FeedSettings): string[] {
  return readFeed(readFileSync(join(folder, file)), settings).filter(
    (line) => !line.startsWith("# "),
  );
}

const EXPECTED: readonly (readonly [string, FeedSettings, readonly string[]])[] = [
  [
    "urlhaus.csv",
    { type: "urlhaus" },
    [
      "malware.example.com",
      "#i",
      "hacked.example.org #p",
      "raw.githubusercontent.com #s",
      // A row of two lines.
      "",
      "upper.example.net",
      "after.example.net",
    ],
  ],
  [
    "urlhaus.csv",
    { type: "urlhaus", urls: "host", where: { url_status: "offline" } },
    ["#w", "#w", "hacked.example.org", "#w", "", "#w", "#w"],
  ],
  ["urlhaus.json", { type: "urlhaus" }, ["malware.example.com", "hacked.example.org #p"]],
  [
    "openphish.txt",
    { type: "openphish" },
    [
      "login.example.com",
      "phish.example.org",
      "shop.example.net #p",
      "sites.google.com #s",
      "victim.github.io",
      "github.io #s",
      "trick.example.com",
      "#i",
    ],
  ],
  [
    "openphish.txt",
    { type: "urls", urls: "host" },
    [
      "login.example.com",
      "phish.example.org",
      "shop.example.net",
      "sites.google.com #s",
      "victim.github.io",
      "github.io #s",
      "trick.example.com",
      "#i",
    ],
  ],
  [
    "phishtank.csv",
    { type: "phishtank" },
    ["#n", "phish.example.com", "comma.example.com #p", "#w"],
  ],
  ["phishtank.json", { type: "phishtank" }, ["phish.example.com", "#w"]],
  ["threatfox.csv", { type: "threatfox" }, ["c2.example.com", "#w", "gate.example.org #p", "#w"]],
  ["threatfox.json", { type: "threatfox" }, ["c2.example.com", "#w"]],
  ["misp-warninglist.json", { type: "misp" }, ["one.example.com", "two.example.com", "#i"]],
  [
    "misp-event.json",
    { type: "misp" },
    ["attr.example.com", "#w", "#w", "both.example.com", "object.example.com", "#w"],
  ],
  [
    "stix.json",
    { type: "stix" },
    [
      "bad.example.com",
      "or1.example.com",
      "or2.example.com",
      "or3.example.com",
      "url.example.com",
      "#n",
      "#n",
      "#w",
      "#w",
      "#n",
    ],
  ],
  ["tranco.csv", { type: "tranco" }, ["google.com", "example.net", "xn--bcher-kva.example"]],
  ["umbrella.csv", { type: "umbrella" }, ["google.com", "#h", "a.example.net"]],
];

for (const [file, settings, expected] of EXPECTED)
  test(`${file} as ${JSON.stringify(settings)}`, () => {
    assert.deepEqual(linesOf(file, settings), expected);
  });

test("every kind of feed has a fixture, and the configuration knows all of them", () => {
  // `json` is a format of lists, too.
  assert.deepEqual([...feedFormats.keys()].toSorted(), [...FEED_NAMES, "json"].toSorted());
  const generic = ["csv", "json", "ndjson"];
  const tested = new Set([...EXPECTED.map(([, { type }]) => type), ...generic]);
  assert.deepEqual(
    [...feedFormats.keys()].filter((type) => !tested.has(type)),
    [],
  );
});

test("a feed that is cut, or something else, is refused", () => {
  for (const [file, settings] of EXPECTED) {
    const bytes = readFileSync(join(folder, file));
    if (!file.endsWith(".json")) continue;
    for (let end = 1; end < bytes.length - 2; end += 7)
      assert.throws(() => readFeed(bytes.subarray(0, end), settings), FeedError, `${file} ${end}`);
  }
  const bad: readonly (readonly [string, FeedSettings])[] = [
    ["id,link\n1,http://a.example.com/\n", { type: "urlhaus" }],
    ["a,b\n1,a.example.com\n", { type: "csv", column: "host" }],
    ["a,b\n1,a.example.com\n", { type: "csv", column: "b", where: { c: "1" } }],
    ['1,"a.example.com\n2,b.example.com\n', { type: "csv", column: "2" }],
    [`"${"x".repeat(70_000)}",a.example.com\n`, { type: "csv", column: "2" }],
    ["x".repeat(70_000), { type: "urls" }],
    ["<xml/>", { type: "stix" }],
    ['{"objects":[]}]', { type: "stix" }],
    ["[".repeat(70), { type: "json", path: "/*" }],
    ['{"a":1,}', { type: "json", path: "/a" }],
    ["[1 2]", { type: "json", path: "/*" }],
    ['{"a" "b"}', { type: "json", path: "/*" }],
    ['["a\nb"]', { type: "json", path: "/*" }],
    ['["\\x"]', { type: "json", path: "/*" }],
    ["[tru]", { type: "json", path: "/*" }],
    ["[1}", { type: "json", path: "/*" }],
  ];
  for (const [text, settings] of bad)
    assert.throws(() => readFeed(text, settings), FeedError, text.slice(0, 40));
});

test("values that are not plain names", () => {
  const cases: Readonly<Record<string, string>> = {
    "hxxp://a[.]example[.]com": "a.example.com",
    "hXXps[:]//a(.)example{.}com/": "a.example.com",
    "h**p://a[dot]example.com": "a.example.com",
    "a[.]example[.]com": "a.example.com",
    "http[://]a.example.com/x": "a.example.com #p",
    "a.example.com.": "a.example.com",
    "A.EXAMPLE.COM:8080": "a.example.com",
    "a.example.com:8080/x": "a.example.com #p",
    "//a.example.com/": "a.example.com",
    "http://bücher.example/": "xn--bcher-kva.example",
    "http://a.example.com?x": "a.example.com #p",
    "http://a.example.com\\@b.example.com": "a.example.com #p",
    "http://b.example.com@a.example.com": "a.example.com",
    "http://[2001:db8::1]/": "#i",
    "http://1.2.3.4/": "#i",
    "1.2.3.4": "#i",
    "http://0x7f.1/": "#i",
    "a.0x1f": "#i",
    "javascript:alert(1)": "#x",
    "mailto:x@a.example.com": "#x",
    "data://a.example.com": "#x",
    localhost: "#h",
    "http:///x": "#h",
    "-a.example.com": "#h",
    "a-.example.com": "#h",
    "a.example.com-": "#h",
    "a..example.com": "#h",
    "a_b.example.com": "#h",
    "*.example.com": "#h",
    "||a.example.com^": "#h",
    "http://a.example.com%2f/": "#h",
    "http://a%2eexample.com/": "#h",
    [`${"a".repeat(64)}.example.com`]: "#h",
    [`${"a.".repeat(127)}com`]: "#h",
  };
  for (const [value, expected] of Object.entries(cases))
    assert.deepEqual(readFeed(value, { type: "urls" }), [expected], value);
});

test("a row per line of CSV, whatever the row is", () => {
  const text = [
    "# comment",
    "host;kind;note",
    'a.example.com;x;"two',
    'lines; and a ""quote"""',
    "",
    "b.example.com;y;",
    '"c.example.com" ; "x";',
    "d.example.com",
    '"e.example.com"f;x;',
    ";x;",
  ].join("\r\n");
  const settings: FeedSettings = {
    type: "csv",
    column: "host",
    delimiter: ";",
    where: { kind: "x" },
  };
  const expected = ["# comment", "#n", "", "a.example.com", "", "#w", "c.example.com"];
  assert.deepEqual(readFeed(text, settings), [...expected, "#w", "#x", "#n"]);
});

test("lines of NDJSON stand alone", () => {
  const text = '{"h":"a.example.com"}\n\nnot json\n{"h":["b.example.com"]}\n{"h":"c.example.com"';
  assert.deepEqual(readFeed(text, { type: "ndjson", path: "/h" }), [
    "a.example.com",
    "",
    "#x",
    "#n",
    "#x",
  ]);
  const deep = readFeed(text, { type: "ndjson", path: "/h/0" });
  assert.equal(deep[3], "b.example.com");
});

test("an error in the form of a feed fails", () => {
  const errors: readonly (readonly [FeedSettings, string])[] = [
    [{ type: "ndjson", path: "/host" }, '{"error":"quota"}\n{"error":"quota"}\n'],
    [{ type: "ndjson", path: "/host" }, "quota exceeded\n"],
    [{ type: "json", path: "/data/*/host" }, '{"error":"quota"}'],
    [{ type: "json", path: "/data/*/host" }, '{"data":[{"name":"a.example.com"}]}'],
    [{ type: "stix" }, '{"title":"Unauthorized"}'],
    [{ type: "misp" }, '{"message":"Authentication failed"}'],
    [{ type: "urlhaus" }, '{"query_status":"unknown_auth_key"}'],
    [{ type: "phishtank" }, '{"errortext":"x"}'],
    [{ type: "csv", column: "3" }, "too many requests\nwait a minute\n"],
  ];
  for (const [settings, text] of errors)
    assert.throws(() => readFeed(text, settings), FeedError, `${settings.type} ${text}`);
});

test("a feed without entries is empty, and does not fail", () => {
  const empty: readonly (readonly [FeedSettings, string])[] = [
    [{ type: "ndjson", path: "/host" }, "\n"],
    [{ type: "ndjson", path: "/hosts/*" }, '{"hosts":[]}\n'],
    [{ type: "ndjson", path: "/host" }, '{"host":null}\n'],
    [{ type: "json", path: "/data/*/host" }, '{"data":[]}'],
    [{ type: "stix" }, '{"objects":[{"type":"identity"}]}'],
    [{ type: "stix" }, '{"objects":[]}'],
    [{ type: "misp" }, '{"Event":{"info":"x"}}'],
    [{ type: "urlhaus" }, '{"query_status":"ok","urls":[]}'],
    [{ type: "phishtank" }, "[]"],
    [{ type: "csv", column: "host" }, "host,status\n"],
  ];
  for (const [settings, text] of empty)
    assert.deepEqual(namesOf(readFeed(text, settings)), [], `${settings.type} ${text}`);
});

function indicator(name: string, more: object): object {
  return {
    type: "indicator",
    pattern: `[domain-name:value = '${name}.example.com']`,
    ...more,
  };
}

test("STIX: expired, revoked and benign indicators are not taken", () => {
  const now = new Date("2026-11-16T00:00:00Z");
  const objects = [
    indicator("plain", {}),
    indicator("past", { valid_until: "2026-11-15T23:59:59.999Z" }),
    indicator("exact", { valid_until: "2026-11-16T00:00:00Z" }),
    indicator("future", { valid_until: "2026-11-16T00:00:01Z" }),
    indicator("odd", { valid_until: "some day" }),
    { valid_until: "2020-01-01T00:00:00Z", ...indicator("before", {}) },
    indicator("revoked", { revoked: true }),
    indicator("kept", { revoked: false, indicator_types: ["malicious-activity", "unknown"] }),
    indicator("benign", { indicator_types: ["unknown", "benign"] }),
    { indicator_types: ["benign"], ...indicator("first", {}) },
    indicator("nested", { x: { valid_until: "2020-01-01T00:00:00Z", revoked: true } }),
  ];
  const lines = readFeed(JSON.stringify({ objects }), { type: "stix" }, [7], now);
  assert.deepEqual(
    namesOf(lines),
    ["plain", "future", "odd", "kept", "nested"].map((name) => `${name}.example.com`),
  );
  assert.equal(lines.length, objects.length);
});

function attribute(name: string, more: object): object {
  return {
    type: "domain",
    value: `${name}.example.com`,
    ...more,
  };
}

test("MISP: deleted attributes and those that are not meant for detection are not taken", () => {
  const text = JSON.stringify({
    Event: {
      Attribute: [
        attribute("kept", { to_ids: true, deleted: false }),
        attribute("deleted", { to_ids: true, deleted: true }),
        attribute("context", { to_ids: false }),
        attribute("number", { to_ids: 1, deleted: 0 }),
      ],
    },
  });
  assert.deepEqual(namesOf(readFeed(text, { type: "misp" })), [
    "kept.example.com",
    "number.example.com",
  ]);
});

test("a real header wins over a comment that names the same columns", () => {
  const text = "# url,host\nhost,url\na.example.com,b.example.com\n";
  const settings = { type: "csv", column: "host" };
  assert.deepEqual(namesOf(readFeed(text, settings)), ["a.example.com"]);
  const commented = "# url,host\nb.example.com,a.example.com\n";
  assert.deepEqual(namesOf(readFeed(commented, settings)), ["a.example.com"]);
});

test("paths on platforms and behind shorteners do not block them", () => {
  for (const host of [
    "lnkd.in",
    "wa.me",
    "t.me",
    "bit.ly",
    "goo.gl",
    "docs.google.com",
    "www.google.de",
    "google.co.uk",
    "google.com.br",
    "www.amazon.co.jp",
    "amazon.de",
    "sites.google.com",
    "weebly.com",
  ])
    assert.deepEqual(readFeed(`https://${host}/x\n`, { type: "urls", urls: "host" }), [
      `${host} #s`,
    ]);
  for (const host of [
    "evil.weebly.com",
    "google.evil.com",
    "mygoogle.com",
    "amazon.example",
    "amazon.com-x.example",
  ])
    assert.deepEqual(readFeed(`https://${host}/x\n`, { type: "urls", urls: "host" }), [host]);
});

function domainOf(value: string, more = ""): string {
  return `{"type":"domain","to_ids":true,"value":"${value}"${more}}`;
}

function attributes(...all: string[]): string {
  return `"Attribute":[${all.join(",")}]`;
}

test("attributes of deleted MISP objects are left out, wherever the object says so", () => {
  const event = `{"Event":{${attributes(domainOf("event.example.com"))},"deleted":true,"Object":[
    {"deleted":true,${attributes(domainOf("first.example.com"))}},
    {${attributes(domainOf("last.example.com"), domainOf("late.example.com"))},"deleted":"1"},
    {"deleted":false,${attributes(domainOf("kept.example.com"), domainOf("own.example.com", ',"deleted":true'))}},
    {${attributes(domainOf("one.example.com"), domainOf("no.example.com", ',"deleted":true'), domainOf("two.example.com"))}}
  ]}}`;
  assert.deepEqual(readFeed(new TextEncoder().encode(event), { type: "misp" }), [
    "event.example.com",
    "#w",
    "#w",
    "#w",
    "kept.example.com",
    "#w",
    "one.example.com",
    "#w",
    "two.example.com",
  ]);
});
