import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { corpusConfigInPlace, missingCorpus } from "../support/corpus.ts";
import { DiskProject } from "../support/disk-project.ts";
import { blocksOf } from "../support/markdown.ts";

const root = join(import.meta.dirname, "../..");
const isMissing =
  !existsSync(join(root, "bench/duckdb/node_modules/@duckdb")) &&
  "NO DUCKDB: npm run duckdb installs it";

interface Connection {
  run(query: string): Promise<unknown>;
  runAndReadAll(query: string): Promise<{ getRowsJson(): unknown[][] }>;
}

/** A real DuckDB in memory, which finds files in a folder. */
async function duckdb(folder: string): Promise<Connection> {
  const tools = createRequire(join(root, "bench/duckdb/package.json"));
  const { DuckDBInstance } = tools("@duckdb/node-api") as {
    DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> };
  };
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(`SET file_search_path = '${folder}'`);
  return connection;
}

async function rowsOf(connection: Connection, query: string): Promise<string[]> {
  const rows = (await connection.runAndReadAll(query)).getRowsJson();
  return rows.map((row) => row.join(" | "));
}

/** Versions of zstd differ by a few bytes. */
function withoutSizes(text: string): string {
  return text.replaceAll(/, [\d.]+ k?B$/gm, "");
}

async function runIn(project: DiskProject, ...words: string[]): Promise<string> {
  const { exit, stderr } = await project.run(...words);
  assert.equal(exit, 0, stderr);
  return stderr;
}

test(
  "the guide: the session, and each query with its result",
  { skip: isMissing },
  async (context) => {
    const blocks = blocksOf(readFileSync(join(root, "docs/guide/dataset.md"), "utf8"));
    const project = new DiskProject(context);
    for (const { title, language, text } of blocks)
      if (title !== undefined && language !== "sql" && /\.\w+$/.test(title))
        project.write(title, text);
    const session = blocks.find(({ title }) => title === "session")!.text;
    let shown = "";
    for (const [, command] of session.matchAll(/^\$ rules-compiler (.*)$/gm))
      shown += `$ rules-compiler ${command}\n${await runIn(project, ...command!.split(" "))}`;
    assert.equal(withoutSizes(shown), withoutSizes(session));
    const connection = await duckdb(project.folder);
    let compared = 0;
    for (const [index, { title, text }] of blocks.entries()) {
      if (title !== "duckdb") continue;
      const query = text.replace(/TO '([^']*)'/, `TO '${project.folder}/$1'`);
      const rows = await rowsOf(connection, query);
      const next = blocks[index + 1];
      if (next?.title !== "result") continue;
      assert.deepEqual(rows, next.text.trimEnd().split("\n"), text);
      compared++;
    }
    assert.equal(compared, 3);
    assert.equal(
      project.text("names.csv"),
      "name\nads.example.com\nbanner.example.co.uk\nmetrics.example.com\n",
    );
    await runIn(project, "-c", "domains.json", "-o", "domains.txt", "-q");
    const rules = project
      .text("domains.txt")
      .split("\n")
      .filter((line) => /^[^!]/.test(line));
    assert.deepEqual(rules.toSorted(), ["example.co.uk", "example.com"]);
  },
);

test(
  "typical lists: counts in DuckDB are those of stats, in 8 bytes a line",
  { skip: missingCorpus || isMissing },
  async (context) => {
    const project = new DiskProject(context);
    project.write("config.json", JSON.stringify(corpusConfigInPlace()));
    const from = ["-c", "config.json", "-o", "list.txt"];
    await runIn(project, ...from, "-q");
    await runIn(project, "export", ...from, "dataset");
    const { stdout } = await project.run("stats", ...from, "--json");
    const stats = JSON.parse(stdout) as {
      lines: number;
      rules: number;
      sources: { source: string; lines: number; covered: number; duplicate: number }[];
    };
    const connection = await duckdb(project.folder);
    const counts = await rowsOf(
      connection,
      `SELECT source, count(*), count(*) FILTER (fate = 'covered'),
         count(*) FILTER (fate IN ('duplicate', 'same-host'))
       FROM 'dataset/lines.parquet' WHERE part = 1 GROUP BY source`,
    );
    const expected = stats.sources.map(({ source, lines, covered, duplicate }) =>
      [source, lines, covered, duplicate].join(" | "),
    );
    assert.deepEqual(counts.toSorted(), expected.toSorted());
    const live =
      "FROM 'dataset/lines.parquet' WHERE fate = 'live' AND kind NOT IN ('blank', 'comment')";
    assert.deepEqual(await rowsOf(connection, `SELECT count(*) ${live}`), [String(stats.rules)]);
    // What the list consists of, by another way: the names of live lines.
    assert.deepEqual(
      await rowsOf(
        connection,
        `SELECT count(*) FROM (SELECT name FROM 'dataset/names.parquet'
         EXCEPT SELECT name ${live})`,
      ),
      ["0"],
    );
    const { size } = statSync(join(project.folder, "dataset/lines.parquet"));
    context.diagnostic(`${(size / stats.lines).toFixed(2)} bytes a line`);
    assert.ok(size <= 8 * stats.lines);
  },
);
