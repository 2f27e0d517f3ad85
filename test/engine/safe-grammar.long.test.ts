import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { test } from "node:test";
import { RE2JS } from "re2js";
import { PROTECTED_NAMES, householdKinds } from "../../src/engine/protected-names.ts";
import { compile, memoryHost } from "../support/internals.ts";
import { naiveRules } from "../support/naive-matcher.ts";
import { Random, seedFrom } from "../support/random.ts";
import { isNightly } from "../support/nightly.ts";

const CASES = isNightly ? 100_000 : 10_000;
const BATCH = 500;
// The same cases every time, unless others are asked for: what is found by chance belongs into a run of its own.
const seed = seedFrom(process.env["FUZZ_SEED"] ?? "20261115");
const URL_OF_LIST = "https://stranger.example/l.txt";

const PIECES = [
  ..."||,|,^,^^,$,$$,@@,*,**,.,..,-,/,//,\\,#,##,!,[,],(,),+,?,{2,},=,~, ,\t,\u00a0,\u200b,\u3000,\u001b[31m,\u0007,\u0085,\u202e,｜,．,＊,／,＠".split(
    ",",
  ),
  ..."com,co.uk,net,org,github.io,xn--p1ai,рф,localhost,example.com,ads.example.net,a,b,0,127.1,COM,ｃｏｍ,c\u00adom".split(
    ",",
  ),
  ..."0.0.0.0,127.0.0.1,::,::1,6.6.6.6,255.255.255.255,10.0.0.1,2001:db8::1,0x7f.1".split(","),
  ..."important,badfilter,dnsrewrite=1.2.3.4,dnsrewrite,client=x,ctag=y,denyallow=a.com,dnstype=A,third-party,all,~important".split(
    ",",
  ),
  "/.*/",
  "/^a/",
  "/(a+)+$/",
  "/[a-z]+/",
  "/\\bads\\b/",
  "/(?=x)y/",
];
const TEMPLATES = [
  "||X^",
  "||X^$X",
  "@@||X^$X",
  "0.0.0.0 X",
  "X X X",
  "/X/",
  "|X|",
  "X",
  "*X*",
  "X # X",
];
const STEPS = [
  "RemoveComments",
  "Compress",
  "RemoveModifiers",
  "Deduplicate",
  "TrimLines",
  "ConvertToAscii",
  "Validate",
];

function randomLine(random: Random): string {
  const word = (): string => random.times(1 + random.below(3), () => random.pick(PIECES)).join("");
  if (random.chance(0.3))
    return random.times(random.below(6), word).join(random.pick(["", " ", "."]));
  return random.pick(TEMPLATES).replaceAll("X", word);
}

/** Protected names, the list's own server and names that people need among them. */
const KEPT = new Set([
  ...PROTECTED_NAMES,
  ...householdKinds().keys(),
  new URL(URL_OF_LIST).hostname,
]);

/** Names of the test's own that nobody blocks. */
const ENDINGS = ["com", "net", "org", "de", "co.uk", "museum", "xn--p1ai", "xyz", "jp"];
const ORDINARY = ENDINGS.flatMap((ending) =>
  Array.from(
    { length: 12 },
    (_, index) => `${"kharbouvilt"[index] ?? "q"}w${index * 37}z.${ending}`,
  ),
);

/** Why a line may not have come out of a stranger's text; undefined when it may. */
function escapeOf(line: string, onlyBlocks: boolean): string | undefined {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/.test(line)) return "a control character";
  if (Buffer.byteLength(line) > 4096) return "too long";
  const text = line.trim();
  if (text === "" || text.startsWith("!") || text.startsWith("#")) return undefined;
  // Ours: a rule for more than a protected name gets an exception.
  if (KEPT.has(/^@@\|(?<name>[a-z0-9.-]+)\^$/.exec(text)?.groups?.["name"] ?? "")) return undefined;
  const [first = "", second] = text.split(/\s+/);
  if (
    second !== undefined &&
    !second.startsWith("#") &&
    /^[\d.]+$|^[\da-f:.]*:[\da-f:.]*$/i.test(first)
  )
    if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(first) && !/^(?:0+\.0+\.0+\.0+|127\.)/.test(first))
      return "a real address";
  const isRegex = /^(?:@@)?\/.*\/$/.test(text);
  const modifiers = isRegex ? [] : text.slice(text.lastIndexOf("$") + 1 || text.length).split(",");
  const names = modifiers.map((one) => one.split("=")[0]!);
  if (names.includes("dnsrewrite") || names.includes("badfilter")) return "a modifier";
  if (
    onlyBlocks &&
    (text.startsWith("@@") || names.some((one) => ["important", "client", "ctag"].includes(one)))
  )
    return "not only blocking";
  if (isRegex) {
    try {
      RE2JS.compile(text.replace(/^@@/, "").slice(1, -1));
    } catch {
      return "a regular expression that is not linear";
    }
  }
  const rules = naiveRules([text]);
  for (const { matches } of rules) {
    const taken = ORDINARY.filter((name) => matches(name));
    if (taken.length > ORDINARY.length / 10)
      return `takes in ${taken.length} of ${ORDINARY.length} names`;
    for (const ending of ENDINGS)
      if (ORDINARY.filter((name) => name.endsWith(`.${ending}`)).every((name) => matches(name)))
        return `takes in all of ${ending}`;
  }
  return undefined;
}

for (const trust of ["standard", "block-only"] as const)
  test(`only the safe grammar of ${CASES} untrusted lines (${trust}) is published`, async (context) => {
    const random = new Random(seed);
    let kept = 0;
    for (let start = 0; start < CASES; start += BATCH) {
      const lines = random.times(BATCH, () => randomLine(random));
      const host = memoryHost({ web: { [URL_OF_LIST]: `||keep.example^\n${lines.join("\n")}\n` } });
      const transformations = STEPS.filter(() => random.chance(0.4));
      const result = await compile(
        { name: "n", sources: [{ source: URL_OF_LIST, trust }], transformations },
        { host, limits: { pageBytes: 4096, partitions: 8 } },
      );
      result.close();
      for (const line of new TextDecoder().decode(result.bytes).split("\n")) {
        kept++;
        const reason = escapeOf(line, trust === "block-only");
        assert.equal(
          reason,
          undefined,
          `seed ${seed}: ${JSON.stringify(line)} after ${transformations.join()}, perhaps from ${JSON.stringify(lines.filter((one) => one.includes(line.slice(4, 8)) || /рф/.test(one)).slice(0, 5))}`,
        );
      }
    }
    context.diagnostic(`${kept} lines came out, 0 escapes`);
  });
