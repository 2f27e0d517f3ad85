import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { Engine } from "../../src/engine/shared-sources.ts";
import { type Chunk, Kind, hostOf } from "../../src/rules/chunk.ts";
import { Fate } from "../../src/rules/fate.ts";
import { ChunkPool } from "../../src/rules/rule-table.ts";
import { hostsLine, nextName, readHostsLine } from "../../src/syntax/hosts-line.ts";
import { BlockCutter, ListScan } from "../../src/syntax/list-scan.ts";
import { Random, seedFrom } from "../support/random.ts";
import { type LineClass, classifyText } from "../support/reference/classify-text.ts";
import { withReferenceKernel } from "../support/reference/reference-kernel.ts";

const KINDS = new Map<number, LineClass["kind"]>([
  [Kind.Blank, "blank"],
  [Kind.Comment, "comment"],
  [Kind.Hosts, "hosts"],
  [Kind.Domain, "domain"],
  [Kind.Block, "block"],
  [Kind.Rule, "rule"],
]);

function checkLines(): void {
  const seed = seedFrom(process.env["FUZZ_SEED"]);
  const random = new Random(seed);
  const engine = new Engine();
  const seen = new Map<string, number>();
  for (let round = 0; round < 200; round++) {
    const hashComments = random.chance(0.3);
    // The first and the last line hold the blanks of the others off the ends of the file.
    const lines = [
      "x",
      ...random.times(1000, () => randomLine(random)).filter((line) => line !== ""),
      "x",
    ];
    const bytes = encodeUtf8(lines.join("\n"));
    const chunks: Chunk[] = [];
    const options = { hashComments, splitHosts: false, scanner: engine.scanner };
    engine.clear();
    const scan = new ListScan(new ChunkPool(engine.kernel), options, (chunk) => chunks.push(chunk));
    scan.read({ origin: 0, nextLine: 1 }, new BlockCutter().blockOf(bytes, true), {
      start: 0,
      end: bytes.length,
      fate: Fate.Kept,
    });
    scan.flush();
    let index = 0;
    for (const chunk of chunks) {
      for (let row = 0; row < chunk.length; row++, index++) {
        const expected = classifyText(lines[index]!, hashComments);
        const kind = KINDS.get(chunk.kind[row]!)!;
        const context = `seed ${seed}: ${JSON.stringify(lines[index])}`;
        assert.equal(kind, expected.kind, context);
        assert.equal(chunk.lineOf(row), index + 1, context);
        if (kind === "hosts")
          assert.deepEqual(
            namesOf(bytes, chunk.start[row]!, chunk.end[row]!),
            expected.hosts,
            context,
          );
        else if (kind !== "rule")
          assert.equal(hostOf(chunk, row), expected.hosts[0] ?? "", context);
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
    assert.equal(index, lines.length);
  }
  for (const kind of KINDS.values())
    assert.ok((seen.get(kind) ?? 0) > 1000, `${kind} was met often enough`);
}

test("lines are classified as by the reference implementation", checkLines);

test("lines that are read one by one are classified as by the reference implementation", async () => {
  await withReferenceKernel(async () => checkLines());
});

function namesOf(bytes: Uint8Array, start: number, end: number): string[] {
  readHostsLine(bytes, start, end);
  const names: string[] = [];
  if (hostsLine.nameStart === hostsLine.nameEnd) return names;
  do names.push(new TextDecoder().decode(bytes.subarray(hostsLine.nameStart, hostsLine.nameEnd)));
  while (nextName(bytes));
  return names;
}

function randomLine(random: Random): string {
  const host = (): string =>
    random
      .times(1 + random.below(4), () =>
        random.pick([
          "a",
          "ads",
          "Example",
          "x-y",
          "-a",
          "b-",
          "1",
          "пример",
          "",
          "a".repeat(63),
          "a".repeat(64),
          "com",
          "co.uk",
        ]),
      )
      .join(".");
  const blank = (): string => random.pick([" ", "  ", "\t", "\u00a0", "\u3000", "\v", ""]);
  const address = random.pick([
    "0.0.0.0",
    "127.0.0.1",
    "::1",
    "fe80::1%lo0",
    "FE80::1",
    "[::1]",
    "[::",
    "1.2.3",
    "256.1.1.1",
    "001.2.3.4",
    "abc",
    "face",
    "::ffff:1.2.3.4",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%",
    "0.0.0.0%lo",
    "::1%l-o",
  ]);
  const line = random.pick([
    () =>
      address +
      blank() +
      random.times(random.below(4), host).join(blank() || " ") +
      random.pick(["", "#c", " # c", "  ", " #"]),
    host,
    () =>
      `${random.pick(["||", "|", "@@||", "||*."])}${host()}${random.pick(["^", "^$", "^$,", "^$3p", "^|", "", "^ "])}`,
    () => random.pick(["! c", "# c", "#c", "#", "####", "##.x", "#\tc", "!"]),
    () => random.pick([" ", "\t", "\u00a0", "\u3000 ", "\u200b"]),
    () =>
      random
        .times(1 + random.below(8), () => random.pick([..."ab1.*^|$@#/\\ ,=:_-!я", "||", "@@"]))
        .join(""),
  ])();
  return random.chance(0.1) ? blank() + line : line;
}
