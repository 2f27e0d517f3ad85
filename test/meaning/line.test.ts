import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { Engine } from "../../src/engine/shared-sources.ts";
import { PlainList } from "../../src/explain/plain-list.ts";
import {
  foldedName,
  nameSlice,
  namesIn,
  readLine,
  readNameSlice,
  soleName,
} from "../../src/meaning/line.ts";
import { type Chunk, Flag, Kind, hostOf } from "../../src/rules/chunk.ts";
import { Fate } from "../../src/rules/fate.ts";
import { ChunkPool } from "../../src/rules/rule-table.ts";
import { BlockCutter, ListScan } from "../../src/syntax/list-scan.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { Random, seedFrom } from "../support/random.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { readExactly } from "../support/reference/rule-syntax.ts";
import { missingJudge, urlfilterJudge } from "../support/reference/urlfilter-judge.ts";

const LABELS = ["a", "ads", "x-y", "-a", "b-", "a_b", "1", "xn--p1ai", "xn--b", "com", "c0m", "UP"];
const ADDRESSES =
  "0.0.0.0 127.0.0.1 :: ::1 1.2.3.4 fe80::1%lo0 FE80::1 ::ffff:1.2.3.4 [::] 00.0.0.0 1.2.3 face.cafe 1.2.3.4%x ::1% 1::2::3 0".split(
    " ",
  );
const BLANKS = [" ", " ", "  ", "\t", "\v", "\f", "\u00a0"];
const ENDS = ["", "", "", " # note", "#note", " #note", "\t#", "##.ad", " ##x", "#x#", "  ", "."];
const AROUND = [
  ["||", "^"],
  ["@@||", "^"],
  ["|", "|"],
  ["*.", "^"],
  ["||", "^$important"],
] as const;

function randomName(random: Random): string {
  const labels = random.times(1 + random.below(3), () => random.pick(LABELS));
  return [...labels, ...(random.chance(0.8) ? ["com"] : ["é"]).slice(0, random.below(3))].join(".");
}

function randomLine(random: Random): string {
  const name = randomName(random);
  const end = random.pick(ENDS);
  if (random.chance(0.2)) {
    const [before, after] = random.pick(AROUND);
    return before + name + after + end;
  }
  if (random.chance(0.3)) return name + end;
  const blank = random.pick(BLANKS);
  const more = random.chance(0.3) ? random.pick(BLANKS) + randomName(random) : "";
  return random.pick(ADDRESSES) + blank + name + more + end;
}

/** Names that a line may be about: its words, their parts, and names around them. */
function namesAround(line: string): string[] {
  const words = line.toLowerCase().match(/[a-z0-9._-]+/g) ?? [];
  const names = words.flatMap((word) => {
    const name = word.replace(/^\.+|\.+$/g, "");
    return [name, name.slice(0, -1), `x.${name}`, `${name}.net`];
  });
  return [...new Set(names)].filter((name) => /^[^.]+(?:\.[^.]+)*$/.test(name));
}

async function answersOf(line: string, names: readonly string[]): Promise<string[]> {
  const { rules } = await PlainList.read(encodeUtf8(`${line}\n`));
  return names.map((name) => rules.answer(name).verdict);
}

test("a list of one line means what AdGuard's engine makes of the line", async () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]));
  const lines = [...new Set(random.times(3000, () => randomLine(random)))];
  const differing: string[] = [];
  for (const line of lines) {
    const names = namesAround(line);
    const matcher = new ListMatcher([line], readExactly);
    const answers = await answersOf(line, names);
    for (const [at, name] of names.entries())
      if (answers[at] !== matcher.meaning(name))
        differing.push(`${JSON.stringify(line)} ${name}: ${answers[at]}`);
  }
  assert.deepEqual(differing, []);
});

test("AdGuard Home's engine agrees", { skip: missingJudge }, async () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]) + 1);
  const lines = [...new Set(random.times(6000, () => randomLine(random)))];
  const questions = lines.map((line) => ({ list: line, names: namesAround(line) }));
  const judged = urlfilterJudge(questions);
  const differing: string[] = [];
  for (const [index, { list, names }] of questions.entries()) {
    const answers = await answersOf(list, names);
    for (const [at, name] of names.entries())
      if (answers[at] !== judged[index]![at])
        differing.push(
          `${JSON.stringify(list)} ${name}: ${answers[at]}, not ${judged[index]![at]}`,
        );
  }
  assert.deepEqual(differing.slice(0, 20), []);
});

const FIXED: readonly [line: string, name: string, verdict: string][] = [
  ["face.cafe weird.example.com", "weird.example.com", "neither"],
  ["1.2.3 short.example.com", "short.example.com", "neither"],
  ["0.0.0.0 x.example.com#note", "x.example.com", "neither"],
  ["0.0.0.0 UPPER.example.com # c", "upper.example.com", "neither"],
  ["fe80::1%lo0 zone.example.com", "zone.example.com", "blocked"],
  ["[::] zone.example.com", "zone.example.com", "neither"],
  ["||müller.de^", "xn--mller-kva.de", "neither"],
  ["com", "a.com", "neither"],
  ["a_b.com", "x.a_b.com", "blocked"],
  ["example.com##.ad", "example.co", "neither"],
];

test("lines that readers used to take for something else", async () => {
  for (const [line, name, verdict] of FIXED)
    assert.deepEqual(await answersOf(line, [name]), [verdict], line);
});

/** The rows that the scanner makes of lines. */
function* scanned(lines: readonly string[]): Generator<{ chunk: Chunk; row: number; at: number }> {
  const engine = new Engine();
  const bytes = encodeUtf8(lines.join("\n"));
  const chunks: Chunk[] = [];
  const options = { hashComments: false, splitHosts: false, scanner: engine.scanner };
  const scan = new ListScan(new ChunkPool(engine.kernel), options, (chunk) => chunks.push(chunk));
  scan.read({ origin: 0, nextLine: 1 }, new BlockCutter().blockOf(bytes, true), {
    start: 0,
    end: bytes.length,
    fate: Fate.Kept,
  });
  scan.flush();
  let at = 0;
  for (const chunk of chunks)
    for (let row = 0; row < chunk.length; row++, at++) yield { chunk, row, at };
  assert.equal(at, lines.length);
}

/** What the scanner says of lines, beside what `line` says of their texts. */
function checkScanned(lines: readonly string[]): number {
  let names = 0;
  for (const { chunk, row, at } of scanned(lines)) {
    const text = lines[at]!;
    const context = JSON.stringify(text);
    const kind = chunk.kind[row]!;
    const flags = chunk.flags[row]!;
    const bytes = encodeUtf8(text);
    const isSlice = readNameSlice(bytes, 0, bytes.length);
    const sole = soleName(text);
    if (isSlice)
      assert.deepEqual(
        { name: text.slice(nameSlice.start, nameSlice.end), isSubtree: nameSlice.isSubtree },
        sole,
        context,
      );
    if (kind < Kind.Hosts || kind === Kind.Rule) continue;
    names++;
    const read = namesIn(text);
    assert.equal(read[0], foldedName(hostOf(chunk, row)), context);
    assert.equal(read.length > 1, (flags & Flag.SeveralNames) !== 0, context);
    // A resolver reads an ordinary row as its name, or cannot read it at all.
    if ((flags & Flag.Ordinary) !== 0 && sole === undefined)
      assert.notEqual(readLine(text).kind, "names", context);
    // A resolver separates words at spaces and tabs only, and a comment shortens the name before it.
    if (sole !== undefined && !/\S#|[\v\f\u00a0]/.test(text))
      assert.deepEqual([sole.name], read, context);
  }
  return names;
}

test("the scanner finds the names that the reader of lines finds", () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]) + 2);
  // The first and the last line hold the blanks of the others off the ends of the file.
  assert.ok(checkScanned(["x", ...random.times(30_000, () => randomLine(random)), "x"]) > 5000);
});

test("the same in real lists", { skip: missingCorpus }, () => {
  const folder = corpusFolder("typical");
  let names = 0;
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    if (!file.endsWith(".txt")) continue;
    const text = readFileSync(join(folder, file), "utf8").replace(/^\ufeff/, "");
    const lines = text.replaceAll("\r", "").split("\n");
    // Every seventh line: the commonest ones are all alike.
    names += checkScanned(["x", ...lines.filter((line, at) => line !== "" && at % 7 === 0), "x"]);
  }
  assert.ok(names > 10_000, String(names));
});
