// What a database does of the same work: distinct names, then those without a parent among them. No comments of ours are
// parsed, nothing is validated, no order is kept. usage: node distinct-parents.mjs OUTPUT INPUT…
import { DuckDBInstance } from "@duckdb/node-api";

const [output, ...inputs] = process.argv.slice(2);
const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const files = inputs.map((file) => `'${file}'`).join(", ");
await db.run(`
  CREATE TABLE names AS
  SELECT DISTINCT lower(regexp_extract(line, '^(?:0\\.0\\.0\\.0 |127\\.0\\.0\\.1 |\\|\\|)?([a-zA-Z0-9.-]+\\.[a-zA-Z0-9-]+)\\^?$', 1)) AS name
  FROM read_csv([${files}], columns = {line: 'VARCHAR'}, delim = '\\x01', quote = '', escape = '', header = false,
    ignore_errors = true, max_line_size = 4000000)
`);
await db.run(`DELETE FROM names WHERE name = '' OR name IS NULL`);
await db.run(`
  COPY (
    SELECT '||' || name || '^' FROM names n
    WHERE NOT EXISTS (
      SELECT 1 FROM (
        SELECT DISTINCT m.name AS child FROM names m, (SELECT unnest(range(1, 8)) AS k) s
        JOIN names p ON p.name = array_to_string(string_split(m.name, '.')[s.k + 1:], '.')
        WHERE s.k < len(string_split(m.name, '.')) - 1
      ) c WHERE c.child = n.name)
  ) TO '${output}' (FORMAT csv, HEADER false, QUOTE '')
`);
