// Reads the report of `compile --json` from standard input, of one list or of several and of any size, and writes the outputs
// of the GitHub Action.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

const text = readFileSync(0, "utf8");
// Lists are done in any order.
const reports = reportsIn(text).sort((a, b) => (a.name < b.name ? -1 : 1));
const outputs = reports.flatMap((report) => report.outputs ?? []);
const files = outputs.map(({ file }) => String(file).replace(/[\r\n]/g, ""));
const rules = reports.reduce((sum, report) => sum + report.rules, 0);
const degraded = reports.some((report) => report.degraded);
// Nobody can guess where the value ends, whatever a file is called.
const end = `end-${randomBytes(16).toString("hex")}`;
const lines = [
  `rules=${rules}`,
  `degraded=${degraded}`,
  `file=${files[0] ?? ""}`,
  `files<<${end}`,
  ...files,
  end,
];
process.stdout.write(`${lines.join("\n")}\n`);

/** No report at all when nothing was compiled. */
function reportsIn(input) {
  try {
    return [JSON.parse(input)].flat();
  } catch {
    const found = input.split("\n").filter((line) => line.trim() !== "");
    return found.map((line) => JSON.parse(line));
  }
}
