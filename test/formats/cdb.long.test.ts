import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileSet } from "../../src/publish/file-set.ts";
import { ListFile } from "../../src/publish/list-file.ts";
import { CdbReader } from "../support/reference/cdb-reader.ts";
import { MemoryDatabase, cdbOf } from "../support/cdb-of.ts";
import { memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { writeFormat } from "../support/write-format.ts";

const hasCdb = spawnSync("cdb", ["-h"]).error === undefined;

/** The records as tinycdb reads them. */
function dumped(file: string): string {
  const { stdout, status, stderr } = spawnSync("cdb", ["-d", file], { maxBuffer: 1e9 });
  assert.equal(status, 0, String(stderr));
  return stdout.toString("latin1");
}

function randomKey(random: Random): string {
  return Array.from({ length: random.below(40) }, () =>
    String.fromCharCode(random.below(256)),
  ).join("");
}

test("random records: tinycdb and a reader by the specification find every value", () => {
  const folder = mkdtempSync(join(tmpdir(), "cdb-"));
  const random = new Random(11);
  try {
    for (const count of [0, 1, 2, 3, 10, 100, 1000, 20_000]) {
      const database = new MemoryDatabase();
      const first = new Map<string, string>();
      const records: string[] = [];
      for (let index = 0; index < count; index++) {
        const again = first.size > 0 && random.below(20) === 0;
        const key = again ? random.pick([...first.keys()].slice(0, 50)) : randomKey(random);
        const value = "0".repeat(random.below(3));
        database.add(key, value);
        if (!first.has(key)) first.set(key, value);
        records.push(`+${key.length},${value.length}:${key}->${value}\n`);
      }
      const size = database.writer.bytes;
      const bytes = database.finish();
      assert.equal(bytes.length, size, "the size is known before");
      const reader = new CdbReader(bytes);
      for (const [key, value] of first) assert.equal(reader.get(key), value);
      for (let index = 0; index < 200; index++) {
        const key = `${randomKey(random)}?`;
        assert.equal(reader.get(key), first.get(key));
      }
      if (!hasCdb) continue;
      const file = join(folder, "a.cdb");
      writeFileSync(file, bytes);
      assert.equal(dumped(file), `${records.join("")}\n`);
      for (const [key, value] of [...first].slice(0, 20)) {
        if (key === "" || key.includes("\0")) continue;
        const question = join(folder, "key");
        writeFileSync(question, Buffer.from(key, "latin1"));
        const asked = spawnSync("sh", [
          "-c",
          'cdb -q -n 1 "$1" "$(cat "$2")"',
          "sh",
          file,
          question,
        ]);
        if (!key.endsWith("\n")) assert.equal(asked.stdout.toString("latin1"), value);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Two texts that can replace each other without changing the hash. */
const ALIKE = ["bA", "cb"] as const;

test("keys with the same hash are all found, and tables that do not fit into memory", () => {
  const database = new MemoryDatabase();
  const keys = Array.from({ length: 4096 }, (_, number) =>
    Array.from({ length: 12 }, (_bit, bit) => ALIKE[(number >> bit) & 1]).join(""),
  );
  for (const key of keys) database.add(key, key.slice(-1));
  const reader = new CdbReader(database.finish());
  for (const key of keys.filter((_, index) => index % 97 === 0))
    assert.equal(reader.get(key), key.slice(-1));
  assert.equal(reader.get(`${keys[0]!.slice(0, -2)}zz`), undefined);
});

test("a record that does not fit is refused, and the size never exceeds the limit", () => {
  for (const largest of [2048 + 26, 2048 + 27, 2048 + 3 * 27 + 26]) {
    const database = new MemoryDatabase(largest);
    for (let index = 0; index < 10; index++) database.add(`k${index}`, "1");
    assert.ok(database.writer.isFull);
    assert.ok(database.writer.bytes <= largest);
    assert.equal(database.writer.count, Math.floor((largest - 2048) / 27));
  }
});

function databaseOf(lines: readonly string[]): { reader: CdbReader; reasons: string[] } {
  const { block, losses } = writeFormat("cdb", lines);
  return { reader: new CdbReader(cdbOf(block)), reasons: losses.map(({ reason }) => reason) };
}

const SHAPES = [
  "||%^",
  "||%^",
  "|%^",
  "||*.%^",
  "@@||%^",
  "@@|%^",
  "@@||*.%^",
  "||%^$important",
  "@@||%^$important",
  "||%^$denyallow=a.%|b.a.%",
];

test("random rules: the database answers exactly like the list", () => {
  const random = new Random(12);
  const nameOf = (): string =>
    [...Array.from({ length: random.below(4) }, () => random.pick(["a", "b"])), "x", "zq"].join(
      ".",
    );
  for (let round = 0; round < 300; round++) {
    const lines = Array.from({ length: 1 + random.below(7) }, () =>
      random.pick(SHAPES).replaceAll("%", nameOf()),
    );
    const naive = new NaiveNames(lines.join("\n"));
    const { reader, reasons } = databaseOf(lines);
    assert.deepEqual(reasons, [], lines.join("\n"));
    for (let asked = 0; asked < 20; asked++) {
      const name = nameOf();
      assert.equal(reader.isBlocked(name), naive.isBlocked(name), `${name}\n${lines.join("\n")}`);
    }
  }
});

test("what a database cannot express is reported", () => {
  const { reasons, reader } = databaseOf([
    "||a.example^",
    "/ads[0-9]/",
    "||b.*.example^",
    "||c.example^$client=1.2.3.4",
    "||d.example^$dnsrewrite=1.2.3.4",
    "||1.2.3.4^",
  ]);
  assert.deepEqual(reasons.toSorted(), ["modifier", "not-a-name", "pattern", "regex", "rewrite"]);
  assert.ok(reader.isBlocked("x.a.example"));
});

function project(more: object): MemoryProject {
  const config = {
    name: "It's ours",
    sources: [{ name: "A", source: "a.txt", type: "adblock" }],
    outputs: [{ format: "cdb", ...more }],
  };
  return new MemoryProject({
    "c.json": JSON.stringify(config),
    "a.txt": "||a.example^\n@@||c.a.example^\n",
  });
}

const COMPILE = ["compile", "-c", "c.json", "--no-cache"];

test("the program writes the database with its Lua file, and again only if names change", async () => {
  const made = project({});
  const { exit, stderr } = await made.run(...COMPILE);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /written rules\/it-s-ours\.cdb: cdb, 1 name/);
  const reader = new CdbReader(made.memory.files.get("/project/rules/it-s-ours.cdb")!);
  assert.ok(reader.isBlocked("b.a.example") && !reader.isBlocked("c.a.example"));
  assert.match(made.text("rules/it-s-ours.cdb.lua"), /LISTS = \{ 'It\\039s ours' \}/);
  const again = await made.run(...COMPILE);
  assert.match(again.stderr, /unchanged rules\/it-s-ours\.cdb/);
});

test("a database cannot be split or limited in bytes", async () => {
  for (const more of [{ split: { max_rules: 1 } }, { fit: { max_bytes: "1M" } }]) {
    const { exit, stderr } = await project(more).run(...COMPILE);
    assert.equal(exit, 2, stderr);
    assert.match(stderr, /outputs\[0\]: cdb cannot be split or limited in bytes/);
  }
  const { stderr } = await project({ fit: { max_rules: 5 } }).run(...COMPILE);
  assert.match(stderr, /written rules\/it-s-ours\.cdb/);
});

test("a new database is not published in the second of the old one", async () => {
  const waits: number[] = [];
  const touched: string[] = [];
  const host = memoryHost({ files: { "/project/a.cdb": "old" } });
  const moment = Date.UTC(2026, 0, 1, 12, 0, 5, 300);
  const timed = {
    ...host,
    now: () => new Date(moment),
    stampOf: async () => ({ text: "", changed: moment - 200 }),
    wait: async (ms: number) => void waits.push(ms),
    touch: async (path: string) => void touched.push(path),
  };
  const file = new ListFile("/project/a.cdb", timed);
  await file.open();
  file.write(Buffer.from("new"));
  assert.equal(await file.stageLater(new FileSet("/project/a.cdb", "/project", timed)), "written");
  assert.deepEqual(waits, [700]);
  assert.match(touched.join(), /\.a\.cdb\..*\.tmp$/);
});
