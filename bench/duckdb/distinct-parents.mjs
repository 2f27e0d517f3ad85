// What a database does of the same work: distinct names, then those without a parent among them. Nothing is validated and
// no order is kept. usage: node distinct-parents.mjs OUTPUT INPUT…
import { DuckDBInstance } from "@duckdb/node-api";

const [output, ...inputs] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const files = inputs.map((file) => `'${file.replaceAll("'", "''")}'`).join(", ");
await db.run(`
  CREATE TABLE names AS
  SELECT DISTINCT name FROM (
    SELECT lower(regexp_extract(line, '^(?:0\\.0\\.0\\.0 |127\\.0\\.0\\.1 |\\|\\|)?([a-zA-Z0-9.-]+\\.[a-zA-Z0-9-]+)\\^?$', 1)) AS name
    FROM read_csv([${files}], columns = {line: 'VARCHAR'}, delim = '\\x01', quote = '', escape = '', header = false,
      ignore_errors = true, strict_mode = false, max_line_size = 4000000)
  ) WHERE name <> ''
`);
await db.run(`
  COPY (
    SELECT '||' || name || '^' FROM names ANTI JOIN (
      SELECT child FROM (
        SELECT name AS child, unnest(list_transform(range(2, len(parts)), k -> array_to_string(parts[k:], '.'))) AS name
        FROM (SELECT name, string_split(name, '.') AS parts FROM names) WHERE len(parts) > 2
      ) SEMI JOIN names USING (name)
    ) covered ON names.name = covered.child
  ) TO '${output}' (FORMAT csv, HEADER false, QUOTE '')
`);
