import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EngineOptions,
  type Config,
  compile,
  memoryHost,
  rowsOf,
} from "../support/internals.ts";

/** The rules that are left of a source, and the fates of the lines that are not. */
async function outcome(
  lines: readonly string[],
  source: Partial<Config["sources"][number]> = {},
  transformations: readonly string[] = [],
  options: EngineOptions = {},
): Promise<{ kept: string[]; fates: Record<string, string> }> {
  const url = "https://lists.example/l.txt";
  const host = memoryHost({ web: { [url]: `${lines.join("\n")}\n` } });
  const config = { name: "n", sources: [{ source: url, ...source }], transformations };
  const result = await compile(config, { host, ...options });
  const kept = new TextDecoder()
    .decode(result.bytes)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("!"));
  const rows = [...rowsOf(result.rules)].filter(({ fate }) => fate !== "kept");
  return { kept, fates: Object.fromEntries(rows.map(({ text, fate }) => [text, fate])) };
}

/** One line of each kind that a stranger may not write, with the fate it has to meet. */
const NOT_STANDARD = [
  ["||bank.example^$dnsrewrite=6.6.6.6", "rewrites"],
  ["@@||bank.example^$dnsrewrite", "rewrites"],
  ["6.6.6.6 bank.example", "real-address"],
  ["  6.6.6.6 bank.example", "real-address"],
  ["2001:4860::1 bank.example", "real-address"],
  ["6.6.6.6 localhost bank.example", "real-address"],
  ["255.255.255.255 broadcasthost", "local-name"],
  ["ff02::1 ip6-allnodes", "local-name"],
  ["||com^", "public-suffix"],
  ["||co.uk^", "public-suffix"],
  ["||CO.UK^", "public-suffix"],
  ["||com^$important", "public-suffix"],
  ["||com^$denyallow=x.com", "public-suffix"],
  ["||com.^", "public-suffix"],
  ["|com^", "public-suffix"],
  ["com", "public-suffix"],
  ["com.", "public-suffix"],
  [" com", "public-suffix"],
  [".com", "public-suffix"],
  ["*.com", "public-suffix"],
  ["||*.com^", "public-suffix"],
  ["||*.museum^", "public-suffix"],
  ["||museum", "public-suffix"],
  ["0.0.0.0 com", "public-suffix"],
  ["0.0.0.0\tcom", "public-suffix"],
  ["  0.0.0.0 com", "public-suffix"],
  [":: co.uk", "public-suffix"],
  ["||ｃom^", "public-suffix"],
  ["||c\u200bom^", "public-suffix"],
  ["com # a note", "public-suffix"],
  ["@@||com^", "public-suffix"],
  ["@@||github.io^", "public-suffix"],
  ["@@||*.github.io^$important", "public-suffix"],
  ["@@", "bad-syntax"],
  ["@@*****$important", "too-wide"],
  ["@@||*.*^$important", "too-wide"],
  ["@@/.*.*/$important", "too-wide"],
  ["*****", "too-wide"],
  ["^^^^^", "too-wide"],
  ["/[a-z]+/", "too-wide"],
  ["/.*.*/", "too-wide"],
  ["/^.*$/", "too-wide"],
  ["||*.*^", "too-wide"],
  ["||^", "too-wide"],
  ["/[[:alnum:]]/", "too-wide"],
  ["/\\p{L}/", "too-wide"],
  ["/\\x{2e}/", "too-wide"],
  ["/(?-m)^.*$/", "too-wide"],
  ["/(?s).+/", "too-wide"],
  ["/^\\d+\\.\\d+\\.\\d+\\.\\d+$/", "too-wide"],
  ["||com^*", "too-wide"],
  ["*^*", "too-wide"],
  ["://", "too-wide"],
  ["http://*", "too-wide"],
  ["|http://", "bad-syntax"],
  ["@@://$important", "too-wide"],
  ["@@||github.io^*", "public-suffix"],
  ["@@/\\.github\\.io$/", "public-suffix"],
  ["@@||githu*.io^", "public-suffix"],
  ["/\\.co\\.uk$/", "too-wide"],
  [" /[a-z]+/", "too-wide"],
  ["\t/[a-z]+/", "too-wide"],
  ["\u00a0/[a-z]+/", "too-wide"],
  ["\uff0f[a-z]+\uff0f", "too-wide"],
  ["/(a+)\\1/", "slow-regex"],
  ["/(?=a)b/", "slow-regex"],
  ["||a\u001bb.example^", "control-bytes"],
  ["! a\u001b[31m comment", "control-bytes"],
  ["||a.example^\u0085", "control-bytes"],
  [`||${"a".repeat(5000)}.example^`, "too-long"],
  ["||other.example^$badfilter", "cancels"],
] as const;

for (const [line, fate] of NOT_STANDARD)
  test(`an untrusted source may not contain ${JSON.stringify(line.slice(0, 50))}`, async () => {
    const { kept, fates } = await outcome(["||good.example^", line]);
    assert.deepEqual(kept, ["||good.example^"]);
    assert.equal(fates[line] ?? Object.values(fates)[0], fate);
    // With all the passes that could make something else of it.
    const all = await outcome(["||good.example^", line], {}, [
      "RemoveComments",
      "ConvertToAscii",
      "TrimLines",
      "RemoveModifiers",
      "Compress",
    ]);
    assert.deepEqual(all.kept, ["||good.example^"]);
  });

const STANDARD = [
  "||ads.example.com^",
  "0.0.0.0 ads.example.net",
  "ads.example.org",
  "@@||ads.example.com^",
  "@@||ads.example.com^$important",
  "||tracker.example.com^$client=10.0.0.1",
  "||*.ads.example.com^",
  "-banner-ad.",
  "/^ads?[0-9]+\\./",
  "/^(.*[./])?gift[a-z0-9-]{1,}\\.gifts?(:.*)?$/",
  "/((tcp|udp):)?204\\.194\\.54\\.\\d{1,3}([:/].*)?$/",
  "||dyndns.org^",
  "||xn--e1afmkfd.xn--p1ai^",
];

test("permitted lines of an untrusted source are not changed", async () => {
  const { kept } = await outcome(STANDARD);
  // An exception loses its $important. The rule for a shared host stays; a name on it that devices need stays reachable.
  const written = STANDARD.map((line) =>
    line.startsWith("@@") ? line.replace("$important", "") : line,
  );
  assert.deepEqual(kept, written);
});

test("a block-only source has neither exceptions nor $important", async () => {
  const { kept, fates } = await outcome(STANDARD, { trust: "block-only" });
  const refused = [
    "@@||ads.example.com^",
    "@@||ads.example.com^$important",
    "||tracker.example.com^$client=10.0.0.1",
  ];
  assert.deepEqual(
    kept,
    STANDARD.filter((line) => !refused.includes(line)),
  );
  for (const line of refused) assert.equal(fates[line], "not-block-only");
});

test("only the public suffixes of a hosts line are dropped", async () => {
  const { kept } = await outcome(["0.0.0.0 a.example com b.example"]);
  assert.deepEqual(kept, ["0.0.0.0 a.example b.example"]);
});

test("$badfilter cancels rules of its own source, before and after it", async () => {
  const lines = ["||a.example^", "||a.example^$badfilter", "||b.example^$important"];
  const more = ["||b.example^$important,badfilter", "||a.example^", "||c.example^"];
  const { kept, fates } = await outcome([...lines, ...more]);
  assert.deepEqual(kept, ["||c.example^"]);
  assert.equal(fates["||a.example^"], "cancelled");
  assert.equal(fates["||b.example^$important"], "cancelled");
});

test("a fully trusted source, and every source with --compat, has no limits", async () => {
  const lines = NOT_STANDARD.map(([line]) => line);
  assert.equal((await outcome(lines, {}, [], { compat: true })).kept.length, lines.length - 1);
  // Control characters are nobody's to publish.
  const own = NOT_STANDARD.filter(([, fate]) => fate !== "control-bytes").map(([line]) => line);
  assert.equal((await outcome(own, { trust: "full" })).kept.length, own.length);
});

async function ofFile(trust?: "standard"): Promise<string> {
  const host = memoryHost({ files: { "l.txt": "||com^\n||a.example^\n" } });
  const source = { source: "l.txt", ...(trust === undefined ? {} : { trust }) };
  const { bytes } = await compile({ name: "n", sources: [source] }, { host });
  return new TextDecoder().decode(bytes);
}

test("files are trusted by default", async () => {
  assert.match(await ofFile(), /\|\|com\^/);
  assert.doesNotMatch(await ofFile("standard"), /\|\|com\^/);
});

test("one line cannot remove the rules of other sources", async () => {
  const evil = "https://evil.example/l.txt";
  const good = "https://good.example/l.txt";
  const names = Array.from({ length: 1000 }, (_, index) => `||name${index}.com^`);
  for (const line of ["||com^", "0.0.0.0 com", "||com^$important"]) {
    const host = memoryHost({ web: { [evil]: `${line}\n`, [good]: names.join("\n") } });
    const config = {
      name: "n",
      sources: [{ source: evil }, { source: good }],
      transformations: ["Compress", "Deduplicate"],
    };
    assert.equal((await compile(config, { host })).report.rules, 1000, line);
  }
});
