import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { decide } from "../../src/meaning/verdict.ts";
import { PAGE_SCRIPT } from "../../src/report/page-script.ts";

test("the script of the report has every function that it calls", () => {
  const rules: readonly Parameters<typeof decide>[0][] = [
    [
      { isAllow: false, rewrite: "A 1.2.3.4" },
      { isAllow: true, rewrite: "" },
    ],
    [{ isAllow: false, rewrite: "A 1.2.3.4" }],
    [{ isAllow: false }, { isAllow: true, isImportant: true }],
    [{ isAllow: false, isPartial: true }],
  ];
  assert.match(PAGE_SCRIPT, /\nstartSearch\(\);$/, "and nothing that a script cannot have");
  const functions = PAGE_SCRIPT.slice(0, PAGE_SCRIPT.lastIndexOf("startSearch();"));
  const found = runInNewContext(
    `${functions}; JSON.stringify(${JSON.stringify(rules)}.map((one) => decide(one).verdict))`,
  ) as string;
  assert.deepEqual(
    JSON.parse(found),
    rules.map((one) => decide(one).verdict),
  );
});
