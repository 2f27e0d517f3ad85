// Distinct lines under a memory limit: the least of the same work. usage: node distinct-names.mjs OUTPUT MEMORY FOLDER INPUT [THREADS]
import { DuckDBInstance } from "@duckdb/node-api";

const [output, memory, folder, input, threads] = process.argv.slice(2);
const text = (value) => `'${value.replaceAll("'", "''")}'`;
const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
await db.run(`SET memory_limit = ${text(memory)}`);
await db.run(`SET temp_directory = ${text(`${folder}/duckdb`)}`);
if (threads !== undefined) await db.run(`SET threads = ${Number(threads)}`);
await db.run("SET preserve_insertion_order = false");
await db.run(`
  COPY (
    SELECT DISTINCT line FROM read_csv(${text(input)}, columns = {line: 'VARCHAR'}, delim = '\\x01', quote = '', escape = '',
      header = false, strict_mode = false)
  ) TO ${text(output)} (FORMAT csv, HEADER false, QUOTE '')
`);
