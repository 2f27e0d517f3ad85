import assert from "node:assert/strict";
import { test } from "node:test";
import { BuildRecord } from "../../src/record/build-record.ts";
import { Other } from "../../src/kernel/kernel.ts";
import { Fate, fateName, hasCause } from "../../src/rules/fate.ts";
import { type Config, memoryHost, rowsOf } from "../support/internals.ts";
import { randomCase } from "../support/differential/random-config.ts";
import { Random } from "../support/random.ts";
import { type Recorded, compileRecorded } from "../support/recorded.ts";

/** Every row of a record, as `rowsOf` would show it. */
function* recordedRows(record: BuildRecord): Generator<object> {
  for (const { base, length, fates, others } of record.frames)
    for (let row = base; row < base + length; row++) {
      const fate = fates[row - base]!;
      const isGenerated = ((others?.[row - base] ?? 0) & Other.Generated) !== 0;
      if (isGenerated || fate === Fate.Spare) continue;
      const { file, source } = record.fileOf(row);
      const view = { fate: fateName(fate), file, source, line: record.lineOf(row) };
      if (!hasCause(fate)) yield view;
      else {
        const cause = record.causeOf(row);
        yield { ...view, by: { file: record.fileOf(cause).file, line: record.lineOf(cause) } };
      }
    }
}

function check({ result, record }: Recorded, what: string): void {
  const expected = [...rowsOf(result.rules)].map(({ fate, file, source, line, by }) => ({
    fate,
    file,
    source,
    line,
    ...(by && { by: { file: by.file, line: by.line } }),
  }));
  assert.deepEqual([...recordedRows(record)], expected, what);
  // The list's bytes are where the record says.
  for (const { base, length, fates, offset } of record.frames) {
    let live = 0;
    for (let row = base; row < base + length; row++) if (fates[row - base] === Fate.Kept) live++;
    if (live > 0) assert.equal(result.bytes[offset], 10, what);
  }
}

test("the record has the same fate for every line as the compiler, whatever the configuration", async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const { config, files } = randomCase(new Random(seed));
    const host = memoryHost({ files });
    check(await compileRecorded(config, { host, compat: true }), `seed ${seed}`);
  }
});

const MANY: Config = {
  name: "N",
  sources: [
    { source: "a.txt", name: "A", type: "adblock" },
    { source: "b.txt", name: "B", type: "hosts" },
  ],
  transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
};

function lines(start: string, count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `${start}${index % 3000}.x${index % 7}.example`,
  ).join("\n");
}

test("the record does not depend on chunks and memory", async () => {
  const files = {
    "a.txt": `!c\n||x1.example^\n${lines("n", 9000)}`,
    "b.txt": `# c\n${lines("0.0.0.0 m", 5000)}\n0.0.0.0 a.test b.test c.test\n`,
  };
  for (const options of [{}, { blockBytes: 2000 }, { blockBytes: 3000, memory: 1 << 20 }])
    check(
      await compileRecorded(MANY, { host: memoryHost({ files }), ...options }),
      JSON.stringify(options),
    );
});

test("an invalid record counts as missing", async () => {
  const { record } = await compileRecorded(MANY, {
    host: memoryHost({ files: { "a.txt": "a.com", "b.txt": "0.0.0.0 b.com" } }),
  });
  assert.equal(record.header.sources.length, 2);
  for (const bytes of [[], [1, 2, 3], [0, 0, 0, 0], [255, 255, 255, 255], [123, 125, 2, 0, 0, 0]])
    assert.equal(BuildRecord.read(Uint8Array.from(bytes)), undefined);
});
