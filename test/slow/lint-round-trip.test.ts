import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, memoryHost } from "../../src/index.ts";
import { chooseKernel } from "../../src/kernel/choice.ts";
import { LINT_TRANSFORMATIONS, lintList } from "../../src/lint/lint-list.ts";
import { Random } from "../support/random.ts";

test("10,000 random lists: what is compiled from them is the same after --fix, which leaves nothing to mend", async () => {
  const random = new Random(8_112_026);
  // Sixteen megabytes less for each of forty thousand compiles; the two forms give the same columns.
  chooseKernel("script");
  for (let round = 0; round < 10_000; round++) {
    const text = randomList(random);
    const type = random.pick(["adblock", "hosts", "domains"] as const);
    const { problems, fixed } = await lintOf(text, type);
    const context = `round ${round}: ${JSON.stringify(text)} → ${JSON.stringify(fixed)}`;
    assert.equal(await compiledOf(fixed, type), await compiledOf(text, type), context);
    if (round % 10 !== 0) continue;
    const again = await lintOf(fixed, type);
    assert.deepEqual(
      again.problems.filter(({ isFixable }) => isFixable),
      [],
      context,
    );
    if (!problems.some(({ isFixable }) => isFixable)) assert.equal(fixed, text, context);
  }
});

async function lintOf(
  text: string,
  type: "adblock" | "hosts" | "domains",
): ReturnType<typeof lintList> {
  return await lintList("/project/l.txt", type, memoryHost({ files: { "l.txt": text } }));
}

async function compiledOf(text: string, type: "adblock" | "hosts" | "domains"): Promise<string> {
  const host = memoryHost({ files: { "l.txt": text }, now: new Date(0) });
  const { bytes } = await compile(
    { name: "x", sources: [{ source: "l.txt", type }], transformations: [...LINT_TRANSFORMATIONS] },
    { host, workers: 1 },
  );
  return new TextDecoder().decode(bytes);
}

function randomList(random: Random): string {
  const name = (): string =>
    `${random.pick(["", "a.", "b.", "a.b.", "A."])}${random.pick(["x", "y", "ads"])}.${random.pick(["example", "com", "co.uk", "github.io"])}`;
  const line = (): string =>
    random.pick([
      () => `||${name()}^`,
      () => `||${name()}^$important`,
      () => `@@||${name()}^`,
      () => `0.0.0.0 ${name()}`,
      () => `127.0.0.1\t${name()} ${name()} # note`,
      () => name(),
      () => `*.${name()}`,
      () => `|${name()}^`,
      () => `/^${name()}$/`,
      () => `||${name()}^$badfilter`,
      () => `||${name()}^$denyallow=${name()}`,
      () => `! ${name()}`,
      () => `# ${name()}`,
      () => `#${name()}`,
      () => `||${random.pick(["com", "uk", "*", "пример.рф"])}^`,
      () => "",
      () => "!#if (adguard)",
      () => "!#endif",
      () => "example.org##.ad",
    ])();
  const lines = random.times(random.below(12), () => {
    const text = line();
    if (text.startsWith("!#")) return text;
    // With a blank before it, it is a comment.
    if (random.chance(0.02)) return " !#include none.txt";
    if (random.chance(0.1)) return `${random.pick([" ", "\t", "  "])}${text}`;
    return random.chance(0.1) ? `${text}${random.pick([" ", "\t "])}` : text;
  });
  const balanced = balance(lines);
  const mark = random.chance(0.05) ? "\uFEFF" : "";
  const end = random.pick(["\n", "\n", "\n", "\r\n", "\r"]);
  const text = balanced.join(end) + (random.chance(0.7) ? end : "");
  // A file is read without the blanks that it begins with.
  return text.trimStart().startsWith("!#include") ? randomList(random) : mark + text;
}

/** An `!#if` without its end is no list. */
function balance(lines: readonly string[]): string[] {
  let open = 0;
  const kept = lines.filter((line) => {
    if (line.trim() === "!#if (adguard)") open++;
    if (line.trim() !== "!#endif") return true;
    if (open === 0) return false;
    open--;
    return true;
  });
  return [...kept, ...Array.from({ length: open }, () => "!#endif")];
}
