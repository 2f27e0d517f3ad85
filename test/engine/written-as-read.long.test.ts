import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Config, compile, memoryHost } from "../support/internals.ts";
import { missingEngine } from "../support/reference/adguard-engine.ts";

const GOOD = "good.txt";
const EVIL = "https://evil.example/l.txt";
const CHAIN = ["RemoveComments", "Compress", "Validate", "Deduplicate"];

async function published(
  lines: { readonly good?: readonly string[]; readonly evil: readonly string[] },
  transformations: readonly string[],
  trust: "full" | "standard" | "block-only" = "block-only",
): Promise<string[]> {
  const host = memoryHost({
    files: { [GOOD]: (lines.good ?? ["||keep.example^"]).join("\n") },
    web: { [EVIL]: `||evil.example^\n${lines.evil.join("\n")}\n` },
  });
  const config: Config = {
    name: "n",
    sources: [{ source: GOOD }, { source: EVIL, trust }],
    transformations: [...transformations],
  };
  const { bytes } = await compile(config, { host });
  return new TextDecoder().decode(bytes).split("\n");
}

/** Lines below our own header and the banners of the sources. */
function body(list: readonly string[]): string[] {
  return list.slice(list.findIndex((line) => line.startsWith("! Source:")) + 2);
}

for (const tail of ["$", "$,", "$,,", "$ ", " $", "$ ,"])
  test(`a rule with the empty modifiers ${JSON.stringify(tail)} is written without them`, async () => {
    const lines = { good: ["||ads.example.com^"], evil: [`||example.com^${tail}`] };
    for (const chain of [[], ["Compress"], CHAIN, ["RemoveModifiers"]]) {
      const list = await published(lines, chain);
      assert.ok(list.includes("||example.com^"), chain.join());
      assert.ok(!list.some((line) => line.includes("$")), chain.join());
    }
  });

for (const [written, read] of [
  ["@@||a.example^$", "@@||a.example^"],
  ["@@||a.example^$dnstype=A,", "@@||a.example^$dnstype=A"],
  ["||a.example^$,important", "||a.example^$important"],
  ["||a.example^$important, dnstype=A", "||a.example^$important,dnstype=A"],
  ["||a.example^ $important", "||a.example^$important"],
  ["/^ads[0-9]/$", "/^ads[0-9]/"],
] as const)
  test(`${written} is written as ${read}, whatever the trust`, async () => {
    for (const trust of ["full", "standard"] as const)
      assert.ok((await published({ evil: [written] }, [], trust)).includes(read), trust);
  });

for (const [written, read] of [
  ["@@||a.example^$important", "@@||a.example^"],
  ["@@||a.example^$ important ,", "@@||a.example^"],
  ["@@|a.example^|$important", "@@|a.example^|"],
  ["@@||a.example^$dnstype=A,important", "@@||a.example^$dnstype=A"],
  ["@@/^a[0-9]\\.example$/$important", "@@/^a[0-9]\\.example$/"],
  ["  @@||a.example^$important", "@@||a.example^"],
] as const)
  test(`the exception ${JSON.stringify(written)} overrides blocks only if its source is fully trusted`, async () => {
    for (const chain of [[], CHAIN]) {
      assert.ok((await published({ evil: [written] }, chain, "standard")).includes(read));
      assert.ok(
        !(await published({ evil: [written] }, chain, "standard")).join().includes("important"),
      );
      assert.ok((await published({ evil: [written] }, [], "full")).join().includes("important"));
    }
  });

test("a block that InvertAllow inverts does not become an important exception", async () => {
  const list = await published({ evil: ["||a.example^$important"] }, ["InvertAllow"], "standard");
  assert.ok(list.includes("@@||a.example^"), list.join("\n"));
});

test("exceptions that lose $important are counted", async () => {
  const host = memoryHost({
    web: { [EVIL]: "||b.example^\n@@||a.example^$important\n@@||c.example^\n" },
  });
  const { report } = await compile({ name: "n", sources: [{ source: EVIL }] }, { host });
  assert.deepEqual(
    [report.sources[0]!.weakened, report.sources[0]!.kept, report.sources[0]!.dropped],
    [1, 3, {}],
  );
});

for (const line of [
  "||bank.com^$important\\,dnsrewrite=6.6.6.6",
  "||bank.com^$third-party\\,badfilter",
  "||bank.com^$all\\,client=10.0.0.1",
  "||bank.com^$IMPORTANT",
  "||bank.com^$ badfilter",
  "||bank.com^$dns\trewrite=6.6.6.6",
  "||bank.com^$script",
  "||bank.com^$~important",
])
  test(`a rule with an unknown modifier is dropped: ${JSON.stringify(line)}`, async () => {
    for (const trust of ["standard", "block-only"] as const)
      for (const chain of [[], ["RemoveModifiers"], ["RemoveModifiers", "Validate"]]) {
        const list = await published({ evil: [line] }, chain, trust);
        assert.ok(!list.some((one) => one.includes("bank.com")), `${trust} ${chain.join()}`);
      }
  });

for (const line of [
  "! Diff-Path: http://127.0.0.2:7002/e-s-1-60.patch",
  "! see ! Diff-Path: http://127.0.0.2:7002/e-s-1-60.patch",
  "||x.example^ ! Diff-Path: http://127.0.0.2:7002/e-s-1-60.patch",
  "  ! Diff-Expires: 1h",
  "! Title: Another list",
  "# Title: Another list",
  "!Expires: 1 minute",
  "! Redirect: https://evil.example/",
  "! Last modified: 2020-01-01",
  "! Checksum: abc",
  "!+ NOT_PLATFORM(windows)",
  " !#if (false)",
  "\t!#endif",
  "!#safari_cb_affinity",
  "! note\u2028||bank.com^$dnsrewrite=6.6.6.6",
  "! note\u0085||bank.com^",
  "! \u202Eetatsba",
  "||a\u202Eb.example^",
  "! a\uFEFFb",
])
  test(`no source brings ${JSON.stringify(line)} into the list`, async () => {
    for (const trust of ["full", "standard", "block-only"] as const)
      for (const chain of [[], ["TrimLines"], ["TrimLines", "Validate", "Deduplicate"]]) {
        const list = body(await published({ evil: [line, "||end.example^"] }, chain, trust));
        assert.ok(list.includes("||end.example^"), `${trust} ${chain.join()}`);
        assert.ok(!list.some((one) => one.trim() === line.trim()), `${trust} ${chain.join()}`);
        assert.ok(!list.some((one) => /[\u0085\u2028\u202E\uFEFF]|bank\.com/.test(one)));
      }
  });

test("other comments stay", async () => {
  const lines = ["! A note on the next rule", "! License: CC0", "# thanks to all"];
  const list = await published({ evil: [...lines, "||a.example^"] }, []);
  for (const line of lines) assert.ok(list.includes(line), line);
});

test(
  "with the published list, AdGuard's engine blocks what both sources name",
  { skip: missingEngine },
  async () => {
    const path = "../oracle/node_modules/@adguard/tsurlfilter/dist/es/index.js";
    const { DnsEngine, RuleStorage, StringRuleList } = (await import(
      pathToFileURL(join(import.meta.dirname, path)).href
    )) as Record<
      string,
      new (...values: unknown[]) => { match(name: string): { basicRule: unknown } }
    >;
    const lines = {
      good: ["||ads.example.com^"],
      evil: ["||example.com^$", "||ads.example.com^$,"],
    };
    for (const chain of [CHAIN, ["Compress"], []]) {
      const text = (await published(lines, chain)).join("\n");
      const engine = new DnsEngine!(new RuleStorage!([new StringRuleList!(0, text, true, true)]));
      for (const name of ["ads.example.com", "example.com"])
        assert.notEqual(engine.match(name).basicRule, null, `${name} ${chain.join()}`);
    }
  },
);
