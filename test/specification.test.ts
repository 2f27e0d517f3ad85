import assert from "node:assert/strict";
import { test } from "node:test";
import { specification } from "./specification/registry.ts";
import { titleOf } from "./support/specified.ts";

/** One test for each promise, titled with the very name or text; docs/reference/specification.md lists them. */
for (const section of specification)
  for (const one of section.items)
    if (one.check !== undefined) test(titleOf(section, one), () => one.check!());

test("items without a test say how they are met, and every title is unique", () => {
  const titles = specification.flatMap((section) =>
    section.items.map((one) => titleOf(section, one)),
  );
  assert.equal(new Set(titles).size, titles.length);
  for (const { items } of specification)
    for (const { item, check, met, door } of items)
      assert.ok(check !== undefined || (met !== undefined && door !== undefined), item);
});
