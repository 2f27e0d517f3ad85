import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");

/** What must not come back, with what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:to|not|can|could) be had\b/, "available, unavailable"],
  [/\b(?:is|are|was|were|been) had\b/, "was fetched, is available"],
  [/\b(?:is|are|was|were|be|been) said\b/, "is reported, or an active verb"],
  [/\b(?:is|are|was|were|be|been) told\b/, "an active verb: shows, reports, receives"],
  [/(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more\b|other\b)/i, "is not a"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\bstrangers?\b/i, "untrusted sources, other users"],
  [/\bnone the worse\b/, "unaffected"],
  [/\bbad luck\b/i, "transient failure"],
  [/\bstands? in\b/, "replaces, is in"],
  [/\bstands? for\b/, "means, matches, represents"],
  [/\btried (?:once|twice|\w+ times) more\b/, "retried"],
  [/\b(?:nobody|somebody|anybody|everybody|whoever)\b/i, "name the actor: the caller, a client"],
  [/\b(?:is|are) well\b(?![- ]\w+)/, "is healthy, is valid"],
  [/\bcomes? to\b/, "results in, amounts to"],
  [/\bspeaks? of\b|\bspoken (?:to|of)\b/, "refers to, contacted"],
  [/\b(?:one|two|an?) \w+ a (?:line|row|source|name|rule|build|list|byte|file|run)\b/, "per"],
  [/\ball the same\b/, "anyway"],
  [/\banew\b/, "again"],
  [/\b(?:is|are) none\b(?! of)/, "does not exist, is invalid"],
  [/\bas (?:it|they) should\b/, "correctly"],
  [/\bmeans? nothing\b/, "is invalid"],
  [/\bkeeps? (?:the )?others back\b/, "blocks the others"],
  [/\bends? (?:with|in) \d/i, "exits with code"],
  [/\bmust be a text\b|\blists? of texts\b/, "string"],
  [/\bspans? of time\b/, "duration"],
  [
    /\bcannot unpack\b|\bpacked (?:log|database|size)\b|\bpacking method\b/i,
    "compressed, decompress",
  ],
  [
    /\b(?:given|the same|this) moment\b(?! (?:to|after))|\bmomentOf\b|\bisMoment\b|\bmomentText\b/,
    "timestamp",
  ],
  [
    /\baddress without secrets|\baddress(?:es)? (?:that answered|may contain)\b/,
    "URL; address is for IP addresses",
  ],
  [
    /\blookAt[A-Z]|\bkeepGoing\b|\bonceASecond\b|\bbehind the slashes\b/,
    "inspect, run, throttle, after `//`",
  ],
  [/\bfiles or addresses\b|\blist of addresses\b|\bhttps address\b/i, "URL"],
  [/\b(?:that|which) is there\b|\bis there already\b/, "exists"],
];

interface Passage {
  readonly area: string;
  readonly place: string;
  readonly text: string;
}

/** `src/engine`, but `src/cli/output`: large areas are cleaned one folder at a time. */
function areaOf(file: string): string {
  const parts = file.split("/").slice(0, -1);
  return parts.length === 0 ? file : parts.slice(0, parts[1] === "cli" ? 3 : 2).join("/");
}

/** All lines of a file; of a test only those with titles. */
function passagesOf(file: string): Passage[] {
  const area = areaOf(file);
  const isTest = file.startsWith("test/");
  return readFileSync(join(ROOT, file), "utf8")
    .split("\n")
    .map((text, index) => ({ area, place: `${file}:${index + 1}`, text }))
    .filter(({ text }) => !isTest || /^\s*(?:(?:await )?(?:t\.)?test|it|describe)\(/.test(text));
}

const FILES = [
  ...globSync("src/**/*.ts", { cwd: ROOT }),
  ...globSync("test/**/*.test.ts", { cwd: ROOT }).filter((file) => !file.includes("node_modules")),
  ...globSync("docs/**/*.md", { cwd: ROOT }),
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "ARCHITECTURE.md",
].map((file) => file.replaceAll("\\", "/"));

const PASSAGES = FILES.filter((file) => !file.endsWith("plain-english.test.ts")).flatMap(
  passagesOf,
);

function problemsIn(passages: readonly Passage[]): string[] {
  return passages.flatMap(({ place, text }) =>
    PHRASES.filter(([phrase]) => phrase.test(text)).map(
      ([phrase, better]) => `${place}: "${phrase.exec(text)![0]}" → ${better}: ${text.trim()}`,
    ),
  );
}

for (const [area, passages] of Map.groupBy(PASSAGES, (one) => one.area))
  test(`${area} is written in plain English`, () => {
    assert.deepEqual(problemsIn(passages), []);
  });
