import assert from "node:assert/strict";
import { test } from "node:test";
import { renderTable } from "../../src/cli/output/table.ts";
import { fitText, textWidth } from "../../src/cli/output/reporter.ts";

test("textWidth counts columns of a terminal, as string-width does", () => {
  const widths: readonly (readonly [string, number])[] = [
    ["", 0],
    ["abc", 3],
    ["世界", 4],
    ["한국어", 6],
    ["ａ", 2],
    ["ﾊﾝ", 2],
    ["é", 1],
    ["e\u0301", 1],
    ["👨‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["1️⃣", 2],
    ["✔©™⚠→…█", 7],
    ["\u200b", 0],
    ["\u001b[31mred\u001b[39m", 3],
    ["\u001b]8;;https://example.org/\u001b\\link\u001b]8;;\u001b\\", 4],
  ];
  for (const [text, width] of widths) assert.equal(textWidth(text), width, JSON.stringify(text));
  assert.equal(fitText("世界世界", 5), "世界…");
});

test("columns of a table are aligned by what the terminal shows", () => {
  const rows = [
    ["name", "count", "why"],
    ["世界", "1", "wide"],
    ["\u001b[31mred\u001b[39m", "1,234", ""],
  ];
  assert.deepEqual(renderTable(rows, { align: "lrl" }), [
    "  name  count  why",
    "  世界      1  wide",
    "  \u001b[31mred\u001b[39m   1,234",
  ]);
});

test("names are cut, and the parts of the last column are wrapped below each other", () => {
  const parts = ["first 1,000", "second 2,000", "third 3,000"];
  const rows = [["a name of thirty columns and more", "12", parts]];
  assert.deepEqual(renderTable(rows, { align: "lrl", columns: 60, longestName: 20 }), [
    "  a name of thirty co…  12  first 1,000, second 2,000,\n                            third 3,000",
  ]);
  for (const columns of [60, 80, 120])
    for (const line of renderTable(rows, { align: "lrl", columns }).join("\n").split("\n"))
      assert.ok(textWidth(line) <= columns, line);
});

test("the last cell of a short row does not widen its column", () => {
  const rows = [
    ["a", "1", "2"],
    ["b", "a long remark"],
  ];
  assert.deepEqual(renderTable(rows, { align: "lrr" }), ["  a  1  2", "  b  a long remark"]);
});
