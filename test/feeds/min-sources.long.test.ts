import assert from "node:assert/strict";
import { test } from "node:test";
import { domainToASCII } from "node:url";
import * as fc from "fast-check";
import { type Config, compile, memoryHost, rowsOf } from "../support/internals.ts";
import { propertyRuns } from "../support/property.ts";

/** Cases of one compile: their names are different, so that they do not touch each other. */
const TOGETHER = 10;

const name = fc.integer({ min: 0, max: 5 }).map((number) => `n${number}.CASE.example`);
const line = fc.oneof(
  { weight: 3, arbitrary: name },
  { weight: 3, arbitrary: name.map((one) => `||${one}^`) },
  { weight: 3, arbitrary: name.map((one) => `0.0.0.0 ${one}`) },
  fc.array(name, { minLength: 2, maxLength: 3 }).map((some) => `127.0.0.1 ${some.join(" ")}`),
  name.map((one) => `||N${one.slice(1)}^`),
  name.map((one) => `${one} # note`),
  name.map((one) => `||a_${one}.com^`),
  name.map((one) => `a_${one}.com.\t# note`),
  name.map((one) => `0.0.0.0 a_${one}.com`),
  name.map((one) => `Bü${one}`),
  name.map((one) => `||bü${one}.^`),
  name.map((one) => `||www.${one}^`),
  name.map((one) => `||${one}^$important`),
  name.map((one) => `@@||${one}^`),
  name.map((one) => `||${one}^$badfilter`),
  name.map((one) => `192.0.2.1 ${one}`),
  fc.array(name, { minLength: 2, maxLength: 3 }).map((some) => `192.0.2.1 ${some.join(" ")}`),
  fc.constantFrom("! comment", "# comment", ""),
);
const cases = fc.record({
  least: fc.integer({ min: 1, max: 4 }),
  /** By case and source. */
  lines: fc.array(fc.tuple(...Array.from({ length: 4 }, () => fc.array(line, { maxLength: 6 }))), {
    minLength: TOGETHER,
    maxLength: TOGETHER,
  }),
});

/** The keys of a line: names that it blocks, or its text. Empty for lines that always stay. */
function keysOf(written: string): string[] {
  const text = written
    .replace(/\s+# note$/, "")
    .replace(/\.(?=\^?$)/, "")
    .replace(/(?:b|B)ü[^^]*/, (one) => domainToASCII(one));
  if (/^[!#]|^@@|^$/.test(text) || text.endsWith("badfilter")) return [];
  const hosts = /^(?:0\.0\.0\.0|127\.0\.0\.1) (?<names>.*)$/.exec(text)?.groups?.["names"];
  if (hosts !== undefined) return hosts.toLowerCase().split(" ");
  const real = /^192\.0\.2\.1 (?<names>.*)$/.exec(text)?.groups?.["names"];
  if (real !== undefined) return real.split(" ").map((one) => `text |${one}^$dnsrewrite=192.0.2.1`);
  const block = /^\|\|(?<name>[^^]*)\^$/.exec(text)?.groups?.["name"];
  if (block !== undefined) return [block.toLowerCase()];
  return [/[ $]/.test(text) ? `text ${text}` : text.toLowerCase()];
}

function isExempt(text: string): boolean {
  return /^@@|badfilter$/.test(text);
}

/** The keys that a list with these lines publishes. */
function publishedKeys(lines: Iterable<string>): string[] {
  return [...new Set([...lines].flatMap(keysOf))].toSorted();
}

test("min_sources publishes what enough sources have", async () => {
  let [published, dropped] = [0, 0];
  await fc.assert(
    fc.asyncProperty(cases, async ({ least, lines }) => {
      const files: Record<string, string> = {};
      const texts = Array.from({ length: 4 }, (_, source) =>
        lines.flatMap((sources, index) =>
          sources[source]!.map((text) => text.replaceAll("CASE", `c${index}`)),
        ),
      );
      for (const [source, own] of texts.entries())
        files[`${source}.txt`] = `! ${source}\n${own.join("\n")}\n`;
      const config: Config = {
        name: "n",
        min_sources: least,
        sources: texts.map((_, source) => ({ source: `${source}.txt`, type: "adblock" })),
      };
      const result = await compile(config, { host: memoryHost({ files }) });
      const live = [...rowsOf(result.rules)].filter(({ fate }) => fate === "kept");
      const few = [...rowsOf(result.rules)].filter(({ fate }) => fate === "few-sources");
      result.close();
      const has = texts.map((own) => new Set(own.flatMap(keysOf)));
      const all = publishedKeys(texts.flat());
      const expected = all.filter((key) => has.filter((keys) => keys.has(key)).length >= least);
      assert.deepEqual(publishedKeys(live.map(({ text }) => text)), expected);
      // Exceptions and rules that cancel others stay.
      assert.deepEqual(
        live
          .map(({ text }) => text)
          .filter(isExempt)
          .toSorted(),
        texts.flat().filter(isExempt).toSorted(),
      );
      published += expected.length;
      dropped += few.length;
    }),
    propertyRuns(500 / TOGETHER),
  );
  assert.ok(published > 500 && dropped > 500, `${published} published, ${dropped} dropped`);
});
