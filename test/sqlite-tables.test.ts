import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { SqliteTables } from "../site/playground/sqlite-tables.ts";
import { HostError } from "../src/host/host.ts";
import { Random } from "./support/random.ts";

/** Tables as Pi-hole creates them. */
const TABLES = [
  'CREATE TABLE "group" (id INTEGER PRIMARY KEY AUTOINCREMENT, enabled BOOLEAN NOT NULL DEFAULT 1, name TEXT UNIQUE NOT NULL, description TEXT)',
  `CREATE TABLE adlist
(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	address TEXT NOT NULL,
	enabled BOOLEAN NOT NULL DEFAULT 1,
	date_added INTEGER NOT NULL DEFAULT (cast(strftime('%s', 'now') as int)), -- seconds, since 1970
	comment TEXT,
	UNIQUE(address, enabled)
)`,
  "CREATE TABLE adlist_by_group (adlist_id INTEGER NOT NULL REFERENCES adlist (id), group_id INTEGER NOT NULL, PRIMARY KEY (adlist_id, group_id))",
];

function textOf(random: Random): string {
  const length = random.pick([0, 3, 40, 200, 5000, 30_000]);
  return random.pick(["ä", "x", "https://lists.example/"]).repeat(length).slice(0, length);
}

/** A file that SQLite wrote, with what SQLite reads from it. */
function written(context: TestContext, random: Random): { bytes: Uint8Array; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "gravity.db");
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec(`PRAGMA page_size = ${random.pick([512, 1024, 4096, 65_536])}`);
  for (const table of TABLES) database.exec(table);
  const rows = random.pick([0, 1, 30, 400]);
  const list = database.prepare(
    "INSERT INTO adlist (address, enabled, date_added, comment) VALUES (?, ?, ?, ?)",
  );
  const member = database.prepare("INSERT OR IGNORE INTO adlist_by_group VALUES (?, ?)");
  database.exec("BEGIN");
  for (let row = 0; row < rows; row++) {
    const date = random.pick([0, 1, 127, -1, 70_000, 1_763_000_000, -(2 ** 40), 2 ** 50]);
    const comment = random.pick([null, textOf(random)]);
    list.run(`${row} ${textOf(random)}`, random.below(2), date, comment);
    member.run(random.below(50), random.below(3));
  }
  database.exec("COMMIT");
  if (random.below(2) === 0) database.exec("DELETE FROM adlist WHERE id % 3 = 0");
  database.exec("ALTER TABLE adlist ADD COLUMN type INTEGER NOT NULL DEFAULT 7");
  database.exec("INSERT INTO adlist (address, comment, type) VALUES ('last', 'c', 1)");
  database.close();
  return { path, bytes: readFileSync(path) };
}

test("tables of an SQLite file are read as SQLite reads them", (context) => {
  for (let seed = 0; seed < 25; seed++) {
    const { path, bytes } = written(context, new Random(seed));
    const database = new DatabaseSync(path, { readOnly: true });
    const own = new SqliteTables(bytes);
    for (const table of ["group", "adlist", "adlist_by_group"]) {
      const expected = database.prepare(`SELECT * FROM "${table}" ORDER BY rowid`).all();
      const rows = expected.map((row) => ({ ...row }));
      assert.deepEqual(own.rows(table), rows, `seed ${seed}, ${table}`);
    }
    assert.equal(own.rows("missing"), undefined);
    database.close();
  }
});

test("a damaged SQLite file gives rows or a message, and nothing else", (context) => {
  const random = new Random(1);
  let failures = 0;
  for (let seed = 100; seed < 110; seed++) {
    const { bytes } = written(context, new Random(seed));
    for (let round = 0; round < 60; round++) {
      const damaged = bytes.slice(0, random.pick([bytes.length, random.below(bytes.length)]));
      // The header, the schema and any other place.
      for (let change = random.below(6); change > 0 && damaged.length > 0; change--)
        damaged[random.below(random.pick([110, 600, damaged.length]))] = random.below(256);
      try {
        const tables = new SqliteTables(damaged);
        for (const table of ["group", "adlist", "adlist_by_group"]) tables.rows(table);
      } catch (error) {
        assert.ok(error instanceof HostError, String(error));
        failures++;
      }
    }
  }
  assert.ok(failures > 100, `${failures} were noticed`);
});
