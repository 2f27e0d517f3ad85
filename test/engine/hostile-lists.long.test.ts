import assert from "node:assert/strict";
import { test } from "node:test";
import { type Config, CompilerError, compile, memoryHost } from "../support/internals.ts";
import { checkAccount } from "../support/account.ts";
import { Random, seedFrom } from "../support/random.ts";
import { PLAIN_NAMES, VALIDATOR_NAMES } from "../support/transformation-names.ts";
import process from "node:process";

const ALL: readonly string[] = PLAIN_NAMES;
const VALIDATORS: readonly string[] = VALIDATOR_NAMES;
const seed = seedFrom(process.env["FUZZ_SEED"]);

/** Lines that ended runs of other compilers, or were meant to. */
const KNOWN_BAD = [
  "||com^",
  "0.0.0.0 com",
  "decade of com",
  "0.0.0.0  # placeholder",
  "0.0.0.0  ",
  "@@",
  "@@@@",
  "||",
  "||^",
  "^",
  "$",
  "$$",
  "$,",
  "/",
  "//",
  "/(/",
  "/(a+)+$/",
  "/[/",
  "__proto__",
  "constructor",
  "toString",
  "*",
  "*****",
  "||*^",
  "||*.*^",
  "@@*****$important",
  "/.*/",
  "/\u001b[31m/",
  "||a.com^$",
  "||a.com^$,,,",
  "||a.com^$=",
  "||a.com^$\\",
  "\\$",
  "\\,",
  "!",
  "#",
  "##",
  "####",
  "[",
  "]",
  "[::",
  "::",
  ":::",
  "::1",
  "1",
  "1.",
  "1.2",
  "256.256.256.256 x",
  "0.0.0.0\u00a0a.com",
  "0.0.0.0\u3000a.com",
  "\ufeff",
  "\u200b",
  "\u2028",
  "\u202e||a.com^",
  "||goo\u200bgle.com^",
  "||\ud800.com^",
  "||xn--a.com^",
  "||xn--.com^",
  "||пример.рф:8080^",
  "example.com##.реклама",
  "||a\u200db.com^",
  "||рус^",
  ". . .",
  "...",
  ".",
  "-",
  "_",
  "%",
  "%%lo0 a",
  "fe80::1%lo0",
  "fe80::1%lo0 x",
];

test("no line of 100,000 random lines fails a run", async (context) => {
  const random = new Random(seed);
  const pieces = [
    ...KNOWN_BAD,
    ..."ab1.*^|$@#/\\ ,=:_-!\t\u00a0\u0007\u001bя例💩".split(""),
    "com",
    "example.org",
    "0.0.0.0 ",
    "||",
    "@@",
    "://",
    "localhost",
    "third-party",
    "a".repeat(70),
    "$dnsrewrite=1.2.3.4",
  ];
  let lines = 0;
  while (lines < 100_000) {
    const text = random
      .times(1000, () =>
        random
          .times(1 + random.below(5), () => random.pick(pieces))
          .join("")
          .replace(/^!#/, "! #"),
      )
      .join(random.pick(["\n", "\r\n", "\r"]));
    const result = await compile(randomConfig(random), {
      host: memoryHost({ files: { "s.txt": text } }),
    });
    checkAccount(result);
    lines += 1000;
  }
  context.diagnostic(`seed ${seed}: ${lines} lines`);
});

test("1,000 hostile bodies give a result or an error with the source, never a crash or a hang", async (context) => {
  const random = new Random(seed + 1);
  const outcomes = { compiled: 0, refused: 0 };
  for (let index = 0; index < 1000; index++) {
    const started = process.cpuUsage();
    try {
      const result = await compile(randomConfig(random), {
        host: memoryHost({ files: { "s.txt": hostileBody(random) } }),
      });
      checkAccount(result);
      outcomes.compiled++;
    } catch (error) {
      assert.ok(error instanceof CompilerError, `seed ${seed}, body ${index}: ${String(error)}`);
      assert.ok(
        error.diagnostics.some(({ severity, message }) => severity === "error" && message !== ""),
      );
      outcomes.refused++;
    }
    const { user, system } = process.cpuUsage(started);
    assert.ok(user + system < 5_000_000, `seed ${seed}, body ${index} took ${user + system} µs`);
  }
  context.diagnostic(`seed ${seed}: ${JSON.stringify(outcomes)}`);
  assert.ok(outcomes.compiled > 100 && outcomes.refused > 100, "both ways were taken");
});

function randomConfig(random: Random): Config {
  const top = ALL.filter(() => random.chance(0.5));
  const own = ALL.filter(() => random.chance(0.5));
  (random.chance(0.5) ? top : own).push(random.pick(VALIDATORS));
  return {
    name: "hostile",
    sources: [
      {
        source: "s.txt",
        transformations: own,
        ...(random.chance(0.3) ? { exclusions: ["/(a+)+$/", "*a*b*c*", "."] } : {}),
      },
    ],
    transformations: top,
  };
}

function hostileBody(random: Random): Uint8Array | string {
  const lines = random.times(1 + random.below(200), () => random.pick(KNOWN_BAD)).join("\n");
  switch (random.below(10)) {
    case 0:
      return Uint8Array.from(random.times(random.below(3000), () => random.below(256)));
    case 1:
      return `<!DOCTYPE html><html>${lines}`;
    case 2:
      return `!#if ${"(".repeat(random.below(30_000))}true\n${lines}\n!#endif`;
    case 3:
      return `!#include ${random.pick(["s.txt", "../../etc/passwd", "/etc/hostname", "http://127.0.0.1:9/", "", "x", "./s.txt"])}\n${lines}`;
    case 4:
      return `!#if true\n`.repeat(random.below(2000)) + lines;
    case 5:
      return Uint8Array.from([
        0x1f,
        0x8b,
        8,
        0,
        ...random.times(random.below(100), () => random.below(256)),
      ]);
    case 6:
      return Uint8Array.from([
        random.pick([0xff, 0xfe]),
        random.pick([0xfe, 0xff]),
        ...random.times(random.below(500), () => random.below(256)),
      ]);
    case 7:
      return `0.0.0.0 ${"a.".repeat(random.below(20_000))}com\n${"я".repeat(random.below(20_000))}\n${" ".repeat(random.below(50_000))}#\u2028`;
    case 8:
      return `0.0.0.0${" a.com".repeat(random.below(70_000))}`;
    default:
      return lines;
  }
}
