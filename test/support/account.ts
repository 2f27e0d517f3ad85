import assert from "node:assert/strict";
import { type CompileResult, rowsOf } from "./internals.ts";

/** The promise that every line has a fate, checked on a result: by the report's sums and by counting rows again. */
export function checkAccount(result: CompileResult): void {
  const { report } = result;
  for (const source of report.sources) {
    const dropped = Object.values(source.dropped).reduce((sum, count) => sum + count, 0);
    assert.equal(source.lines, source.kept + dropped, `lines of ${source.label}`);
  }
  const counted = report.sources.map(() => 0);
  let last = "";
  for (const { source, file, line } of rowsOf(result.rules)) {
    const place = `${source} ${file}:${line}`;
    // The further names of a hosts line stand right below it.
    if (place !== last) counted[source]!++;
    last = place;
  }
  assert.deepEqual(
    report.sources.map(({ lines }) => lines),
    counted,
    "every line read is a row with a place",
  );
}
