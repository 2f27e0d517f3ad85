import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { corpusConfigInPlace, missingCorpus } from "../support/corpus.ts";
import { DiskProject } from "../support/disk-project.ts";
import { blocksOf } from "../support/markdown.ts";
import { listIn } from "../support/documents.ts";

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
  const { exit, stdout, stderr } = await project.run(...words);
  assert.equal(exit, 0, stderr);
  return stdout + stderr;
}

const blocks = blocksOf(readFileSync(join(root, "docs/guide/dataset.md"), "utf8"));

test(
  "the guide: the session, and each query with its result",
  { skip: isMissing },
  async (context) => {
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
      const rows = await rowsOf(connection, text);
      assert.deepEqual(rows, blocks[index + 1]!.text.trimEnd().split("\n"), text);
      compared++;
    }
    assert.equal(compared, 2);
  },
);

test(
  "typical lists: the statement of the guide counts what stats counts",
  { skip: missingCorpus || isMissing },
  async (context) => {
    const project = new DiskProject(context);
    project.write("config.json", JSON.stringify(corpusConfigInPlace()));
    const from = ["-c", "config.json", "-o", "list.txt"];
    await runIn(project, ...from, "-q");
    await runIn(project, "export", ...from, "lines.csv.zst");
    const { stdout } = await project.run("stats", ...from, "--json");
    const stats = listIn(stdout) as {
      lines: number;
      rules: number;
      sources: {
        label: string;
        lines: number;
        kept: number;
        dropped: Record<string, number>;
      }[];
    };
    const connection = await duckdb(project.folder);
    const first = blocks.find(({ title }) => title === "duckdb");
    const counts = (await connection.runAndReadAll(first!.text)).getRowsJson();
    assert.ok(counts.length > 20);
    for (const { label: source, lines, kept, dropped } of stats.sources) {
      const own = counts.filter((row) => row[0] === source);
      const countOf = (...fates: string[]): number =>
        own
          .filter((row) => fates.includes(String(row[1])))
          .reduce((sum, row) => sum + Number(row[2]), 0);
      assert.equal(countOf(...own.map((row) => String(row[1]))), lines, source);
      assert.equal(countOf("kept"), kept, source);
      for (const [fate, count] of Object.entries(dropped)) assert.equal(countOf(fate), count);
    }
    assert.deepEqual(
      await rowsOf(
        connection,
        "SELECT count(*) FROM 'lines.csv.zst' WHERE fate = 'kept' AND kind NOT IN ('blank', 'comment')",
      ),
      [String(stats.rules)],
    );
    const { size } = statSync(join(project.folder, "lines.csv.zst"));
    context.diagnostic(`${(size / stats.lines).toFixed(2)} bytes a line`);
    assert.ok(size <= 20 * stats.lines);
  },
);
