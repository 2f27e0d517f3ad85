import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { domainToUnicode } from "node:url";
import { ListRules } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/why.ts";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { isNightly } from "../support/nightly.ts";
import { memoryHost } from "../support/internals.ts";
import { Random } from "../support/random.ts";
import { compileRecorded } from "../support/recorded.ts";

const LISTS = isNightly ? 3000 : 60;
/** The program of AdGuard Home's own engine, which reads lists and names as JSON. */
const JUDGE = process.env["URLFILTER_JUDGE"];

const NAMES = [
  "one.com",
  "ads.one.com",
  "x1.ads.one.com",
  "a_b.one.com",
  "_dmarc.two.net",
  "f-.two.net",
  "q.f-.two.net",
  "three.co.uk",
  "xn--bcher-kva.de",
  "shop.xn--bcher-kva.de",
  "xn--e1afmkfd.xn--p1ai",
  "name.c0m",
  "host.lan1",
  "two.c",
];
/** Engines reject a rule with any other name in `$denyallow`. */
const PLAIN_NAMES = NAMES.filter((name) => !/_|-\.|\.(?:c|c0m|lan1)$/.test(name));
const ADDRESSES = ["0.0.0.0", "127.0.0.1", "::", "::1", "[::1]", "000.0.0.0", "0:0:0:0:0:0:0:1"];

/** A name in a spelling that people use. */
function spelled(random: Random, names = NAMES): string {
  let name = random.pick(names);
  if (random.chance(0.4)) name = domainToUnicode(name) || name;
  if (random.chance(0.2)) name = name.toUpperCase();
  else if (random.chance(0.25)) name = name.replace(/^./, (first) => first.toUpperCase());
  return random.chance(0.15) ? `${name}.` : name;
}

function note(random: Random, isTight: boolean): string {
  return random.chance(0.2)
    ? random.pick([" # Note", "\t# x.Two.net", isTight ? "#Note" : ""])
    : "";
}

function randomLine(random: Random): string {
  const name = spelled(random);
  const tail = random.chance(0.2) ? "$important" : "";
  const hosts = (): string =>
    `${random.pick(ADDRESSES)}${random.pick([" ", "\t", "  ", "\u00a0"])}${random
      .times(1 + random.below(3), () => spelled(random))
      .join(" ")}${note(random, true)}`;
  return random.pick([
    () => `${name}${note(random, false)}`,
    hosts,
    hosts,
    () => `||${name}^${tail}`,
    () => `|${name}^${tail}`,
    () => `@@||${name}^${tail}`,
    () =>
      `||${name.replace(/\.$/, "")}^$denyallow=Q9.${spelled(random, PLAIN_NAMES).replace(/\.$/, "")}`,
    () => `HTTP://${name}^`,
    () => ` ${name} `,
  ])();
}

const ASKED = NAMES.flatMap((name) => [name, `q9.${name}`, `${name}.zz.org`, `zz${name}`]);
const NAME = "[a-z0-9_-]+(?:\\.[a-z0-9_-]+)*";
const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const NORMAL = new RegExp(
  [
    `^(?:${LABEL}\\.)+(?:[a-z]{2,}|xn--[a-z0-9]+)(?:\\s+#.*)?$`,
    `^(?:0\\.0\\.0\\.0|127\\.0\\.0\\.1|[0:]*1?)(?:[ \\t]+${NAME})+(?:\\s+#.*)?$`,
    `^(?:@@)?(?:\\|{1,2}|http://)${NAME}\\^(?:\\$(?:important|denyallow=${NAME}))?$`,
  ].join("|"),
);

async function published(
  lines: readonly string[],
  trust: "full" | "standard",
): Promise<{ text: string; why: (name: string) => string }> {
  const host = memoryHost({ files: { "a.txt": `${lines.join("\n")}\n` } });
  const sources = [{ source: "a.txt", name: "A", type: "adblock" as const, trust }];
  const { result, record } = await compileRecorded({ name: "N", sources }, { host });
  const rules = await ListRules.of(record, new MappedNames(result.bytes, record));
  const text = new TextDecoder().decode(result.bytes);
  result.close();
  return { text, why: (name) => rules.answer(name).verdict };
}

function rulesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

test("every line that names a host is published in its normal form", async () => {
  for (let seed = 1; seed <= LISTS; seed++) {
    const random = new Random(seed);
    const lines = random.times(12, () => randomLine(random));
    for (const trust of ["full", "standard"] as const)
      for (const line of rulesIn((await published(lines, trust)).text))
        assert.match(line, NORMAL, `seed ${seed}, trust ${trust}`);
  }
});

test("why agrees with AdGuard's engine about lines in any spelling", async (context) => {
  if (missingEngine !== false) return context.skip(missingEngine);
  const engineOf = await adguardEngine();
  for (let seed = 1; seed <= LISTS; seed++) {
    const random = new Random(seed);
    const lines = random.times(8, () => randomLine(random));
    const { text, why } = await published(lines, "full");
    // This engine takes every name alone for a pattern, knows no scheme, and neither underscores nor hyphens at the end of a label.
    const rules = rulesIn(text);
    if (rules.some((line) => line.startsWith("http") || /^[^\s|@]+(?:\s+#.*)?$/.test(line)))
      continue;
    const engine = engineOf(text);
    for (const name of ASKED)
      if (!/_|-\./.test(name))
        assert.equal(why(name), engine(name), `seed ${seed}: ${name}\n${text}`);
  }
});

test("why agrees with AdGuard Home's engine about lines in any spelling", async (context) => {
  if (JUDGE === undefined) return context.skip("URLFILTER_JUDGE names no program");
  const documents: { list: string; names: string[] }[] = [];
  const answers: string[][] = [];
  for (let seed = 1; seed <= LISTS; seed++) {
    const random = new Random(seed);
    const lines = random.times(1 + random.below(10), () => randomLine(random));
    const { text, why } = await published(lines, "full");
    documents.push({ list: text, names: ASKED });
    answers.push(ASKED.map(why));
  }
  const input = documents.map((one) => JSON.stringify(one)).join("\n");
  const judged = execFileSync(JUDGE, { input, encoding: "utf8", maxBuffer: 1 << 28 })
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as string[]);
  for (const [index, answer] of answers.entries())
    for (const [at, name] of ASKED.entries())
      assert.equal(
        answer[at],
        judged[index]![at],
        `${name}\n${rulesIn(documents[index]!.list).join("\n")}`,
      );
  return undefined;
});
