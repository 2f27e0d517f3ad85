import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDoors, doors } from "./doors.ts";
import { specification } from "./registry.ts";
import { titleOf } from "../support/specified.ts";

/** One test for each promise, titled with the very name or text; docs/reference/specification.md lists them. */
for (const section of specification)
  for (const one of section.items)
    if (one.check !== undefined) test(titleOf(section, one), () => one.check!());

test("items without a test have a door, which is run, or of which the page says that it is not", () => {
  const titles = specification.flatMap((section) =>
    section.items.map((one) => titleOf(section, one)),
  );
  assert.equal(new Set(titles).size, titles.length);
  for (const { items } of specification)
    for (const { item, check, met, door } of items)
      if (check === undefined) {
        assert.ok(met !== undefined, item);
        assert.ok(
          doors.some((one) => one.door === door),
          item,
        );
      }
});

test("every door has its file and its test, and every package is a door", () => {
  checkDoors();
  const [first, ...others] = doors;
  assert.throws(() => checkDoors([{ ...first!, file: "gone.json" }, ...others]), /gone\.json/);
  assert.throws(() => checkDoors([{ ...first!, test: "test/gone.test.ts" }, ...others]), /gone/);
  const unlisted = doors.filter(({ file }) => file !== "packaging/cargo");
  assert.throws(() => checkDoors(unlisted), /packaging\/cargo is a door/);
});
