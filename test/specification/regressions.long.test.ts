import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { slugOf } from "../../src/engine/plan.ts";
import { run } from "../../src/cli/main.ts";
import { withReferenceKernel } from "../support/reference/reference-kernel.ts";
import { withoutCredentials } from "../../src/diagnostics/text.ts";
import { type Config, compile, memoryHost, nodeHost } from "../support/internals.ts";

/** Faults that were found once; each test is named after what went wrong. */
async function linesOf(
  text: string,
  transformations: string[],
  more: Partial<Config> = {},
  own: string[] = [],
): Promise<string[]> {
  const config: Config = {
    name: "n",
    sources: [{ source: "s", transformations: own }],
    transformations,
    ...more,
  };
  const { bytes } = await compile(config, { host: memoryHost({ files: { s: text } }) });
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter((line) => !line.startsWith("!"));
}

test("a file with many directives makes few chunks, and row numbers do not overflow", async () => {
  const blocks = Array.from(
    { length: 22_100 },
    (_, index) => `!#if true\n||a${index}.com^\n!#endif\n`,
  ).join("");
  const lines = await linesOf(`${blocks}!#if true\n!#endif\n||a5.com^`, ["Compress"]);
  assert.equal(lines.length, 22_100);
  assert.equal(new Set(lines).size, 22_100);
});

test("an address in thousands of brackets is invalid and causes no recursion", async () => {
  const line = `${"[".repeat(50_000)}::1${"]".repeat(50_000)} x.com`;
  assert.deepEqual(await linesOf(line, ["Compress"]), [line]);
  assert.deepEqual(await linesOf("[[::1]] x.com", ["Compress"]), ["[[::1]] x.com"]);
});

test("addresses with the same normal form are duplicates", async () => {
  assert.deepEqual(
    await linesOf("1.2.3.4\n|1.2.3.4^\n||1.2.3.4^|", [
      "Compress",
      "ValidateAllowIp",
      "Deduplicate",
    ]),
    ["||1.2.3.4^"],
  );
});

test("a converted special name is a duplicate of the same text", async () => {
  assert.deepEqual(await linesOf("0.0.0.0 a_b.com\n||a_b.com^", ["Compress", "Deduplicate"]), [
    "||a_b.com^",
  ]);
  assert.deepEqual(
    await linesOf("0.0.0.0 a_b.com\n||a_b.com^", ["Deduplicate"], {}, ["Compress"]),
    ["||a_b.com^"],
  );
});

test("a signal during compilation stops the run before anything is written", async () => {
  const host = memoryHost({
    files: { "c.json": JSON.stringify({ name: "n", sources: [{ source: "s" }] }), s: "a.com" },
  });
  const stop = new AbortController();
  const slow = {
    ...host,
    realPath: async (path: string) => {
      // As a signal would: its handler runs when the loop turns next.
      setTimeout(() => stop.abort("SIGINT"), 0);
      return host.realPath(path);
    },
  };
  assert.equal(await run(["-c", "c.json", "-o", "o.txt"], slow, stop.signal), 130);
  assert.equal(host.files.has("/project/o.txt"), false);
});

test("a password that contains @ is removed completely", () => {
  assert.equal(withoutCredentials("http://user:p@ssw0rd@h:1/x@y"), "http://h:1/x@y");
  assert.equal(withoutCredentials("//user:pw@h/x"), "//h/x");
});

test("runs of blanks take linear time", async () => {
  const start = process.cpuUsage();
  await linesOf(`0.0.0.0 a.com b_c.com${" ".repeat(200_000)}# x`, ["Validate"]);
  await linesOf("a.com", [], { exclusions_sources: ["s2"] }).catch(() => {});
  const files = { s: "a.com", e: `x${" ".repeat(200_000)}y` };
  await compile(
    { name: "n", sources: [{ source: "s" }], exclusions_sources: ["e"] },
    { host: memoryHost({ files }) },
  );
  assert.ok(process.cpuUsage(start).user < 2_000_000);
});

test("a long line does not slow down a simple expression of an exclusion", async () => {
  const start = process.cpuUsage();
  await linesOf("ab".repeat(20_000), [], { exclusions: ["/a.*b.*c/", "/a.*c/"] });
  assert.ok(process.cpuUsage(start).user < 3_000_000);
});

test("a fetch with an aborted signal only rejects", async () => {
  const request = {
    url: "http://127.0.0.1:1/",
    headers: {},
    maxBytes: 1,
    onlyPublic: false,
    take: () => {},
    timeouts: { connectMs: 100, headersMs: 100, idleMs: 100, totalMs: 100 },
  };
  await assert.rejects(nodeHost().fetch({ ...request, signal: AbortSignal.abort() }), {
    code: "ECANCELED",
  });
});

test("the list level converts the further names of a hosts line", async () => {
  assert.deepEqual(await linesOf("0.0.0.0 a.com пример.рф", ["ConvertToAscii"], {}, ["Compress"]), [
    "||a.com^",
    "||xn--e1afmkfd.xn--p1ai^",
  ]);
});

test("the scheme of a URL is case-insensitive", async () => {
  const host = memoryHost({ web: { "http://h.example/x": "a.com" } });
  await compile({ name: "n", sources: [{ source: "HTTP://h.example/x" }] }, { host });
});

test("a list name in another script gives a file name", () => {
  assert.ok(new TextEncoder().encode(slugOf("名".repeat(300))).length <= 200);
  assert.equal(slugOf("My  List (v2)!"), "my-list-v2");
  assert.equal(slugOf("!!!"), "rules");
});

test("an exclusion for an international name removes it from a hosts line", async () => {
  assert.deepEqual(
    await linesOf("0.0.0.0 пример.рф\n0.0.0.0 x.com пример.рф", [], {
      exclusions: ["||пример.рф^"],
    }),
    ["0.0.0.0 x.com"],
  );
});

test("a hosts line after a no-break space is split once it is trimmed", async () => {
  assert.deepEqual(
    await linesOf("x.org\n\u00a00.0.0.0\u00a0a.com\u00a0b.com\nx.org", [
      "RemoveModifiers",
      "Compress",
    ]),
    ["||x.org^", "||a.com^", "||b.com^"],
  );
});

test("an !#else inside an inactive branch is inactive", async () => {
  const text =
    "a.com\n!#if no\n!#if true\nb.com\n!#else\nc.com\n!#endif\nd.com\n!#else\ne.com\n!#endif";
  assert.deepEqual(await linesOf(text, []), ["a.com", "e.com"]);
  assert.deepEqual(
    await linesOf("!#if no\n!#if no\nb.com\n!#else\nc.com\n!#endif\n!#endif\nz.com", []),
    ["z.com"],
  );
});

test("many directives in a file that ends in many blanks take linear time", async () => {
  const start = process.cpuUsage();
  const text = `${"!#if true\na.com\n!#endif\n".repeat(5000)}${" ".repeat(1_000_000)}`;
  assert.equal((await linesOf(text, [])).length, 5000);
  assert.ok(process.cpuUsage(start).user < 3_000_000);
});

test("names with an underscore are compressed like all others", async () => {
  const text = [
    "a_b.com",
    "0.0.0.0 a_b.com",
    "x.a_b.com",
    "||y.a_b.com^",
    "0.0.0.0 z.a_b.com",
    "a_c.com # note",
    "_dmarc.d.com # note",
    "||q_r.p.com^",
    "||Q_S.p.com^",
    "||p.com^",
    "||z_z.org^$important",
    "@@||z_z.org^",
    "||n_n.org^$badfilter",
    "||n_n.org^",
    "||o.n_n.org^",
    "banner_300.gif",
  ].join("\n");
  const kept = [
    "||a_b.com^",
    "||a_c.com^",
    "||_dmarc.d.com^",
    "||p.com^",
    "||z_z.org^$important",
    "@@||z_z.org^",
    "||n_n.org^$badfilter",
    "||n_n.org^",
    "||o.n_n.org^",
  ];
  const check = async (): Promise<void> => {
    const usual = ["RemoveComments", "Compress", "Validate", "Deduplicate"];
    assert.deepEqual(await linesOf(text, usual), kept);
    assert.deepEqual(await linesOf(text, usual, {}, ["Compress"]), kept);
    const alone = await linesOf("a_b.com\nbanner_300.gif\nx.a_b.com", ["Compress"]);
    assert.deepEqual(alone, ["||a_b.com^", "banner_300.gif"]);
  };
  await check();
  await withReferenceKernel(check);
});

test("a pattern with a wildcard may end in more than one separator", async () => {
  const kept = ["||*ads.example.com^*", "||*.x.example.com^^", "||*.x.com^^*", "||*.y.com^*|"];
  // These match no name, but for the last, which is as invalid as in the reference.
  const dropped = ["||*ads.example.com^abc", "||*.x.com^*abc", "||a.com^^", "||b.com^*"];
  assert.deepEqual(await linesOf([...kept, ...dropped].join("\n"), ["Validate"]), kept);
});

/** The rules of the list of several sources. */
async function rulesOf(
  sources: Config["sources"],
  files: Record<string, string>,
  trust: "full" | "standard" = "full",
): Promise<string[]> {
  const trusted = sources.map((one) => ({ ...one, trust }));
  const { bytes } = await compile({ name: "n", sources: trusted }, { host: memoryHost({ files }) });
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.filter((line) => line.startsWith("||"));
}

test("a rule that another source cancels covers nothing in its own", async () => {
  const rules = "||a.example.com^\n||c.a.example.com^\n||b.com^\n||x.b.com^";
  const cancelling = "||ok.org^\n  ||A.example.com^$badfilter  \n! ||b.com^$badfilter\n";
  const own = { name: "own", source: "1", transformations: ["Compress"] };
  const other = { name: "other", source: "2" };
  const files = { "1": rules, "2": "||a.example.com^$badfilter" };
  const kept = ["||a.example.com^", "||c.a.example.com^", "||b.com^"];
  for (const sources of [
    [own, other],
    [other, own],
  ]) {
    const lines = await rulesOf(sources, files);
    assert.deepEqual(
      lines.filter((line) => !line.includes("$")),
      kept,
    );
  }
  assert.deepEqual((await rulesOf([own, other], { ...files, "2": cancelling })).slice(0, 3), kept);
  const included = { ...files, "2": "!#include 3", "3": cancelling };
  assert.deepEqual((await rulesOf([own, other], included)).slice(0, 3), kept);
  // It may cancel its own rules only.
  assert.deepEqual(await rulesOf([own, other], files, "standard"), [
    "||a.example.com^",
    "||b.com^",
  ]);
});
