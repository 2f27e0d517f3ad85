import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import * as fc from "fast-check";
import { HashedName } from "../../src/bytes/hash.ts";
import { ListRules } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/why.ts";
import { soleName } from "../../src/meaning/line.ts";
import type { BuildRecord } from "../../src/record/build-record.ts";
import { Fate } from "../../src/rules/fate.ts";
import { withParents } from "../../src/syntax/public-suffix.ts";
import { propertyRuns } from "../support/property.ts";

const name = fc
  .array(fc.constantFrom("a", "b", "A", "q_r", "-x", "é", "10", ""), { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join("."));
const line = fc
  .tuple(
    fc.constantFrom(
      "",
      "",
      "||",
      "||",
      "@@||",
      "|",
      "! ",
      "# ",
      "0.0.0.0 ",
      ":: ",
      "0.0.0.0\t",
      " ",
    ),
    name,
    fc.constantFrom("", "", "^", "^", "^$important", " # note", " b.a", "*", "/x", "."),
  )
  .map((parts) => parts.join(""));

/** A record of one frame whose rows are all in the list, below a header of one line. */
function recordOf(lines: readonly string[]): BuildRecord {
  const fates = new Uint8Array(lines.length).fill(Fate.Kept);
  const frame = { base: 0, length: lines.length, offset: 1, fates };
  return { rows: lines.length, frames: [frame] } as unknown as BuildRecord;
}

test("the index of names as bytes finds what maps of strings find", () => {
  let found = 0;
  const hashed = new HashedName();
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.array(name), (lines, asked) => {
      const list = Buffer.from(`!\n${lines.join("\n")}\n`);
      const names = new MappedNames(list, recordOf(lines));
      const maps = { subtree: new Map<string, number>(), exact: new Map<string, number>() };
      const repeats: object[] = [];
      for (const [row, text] of lines.entries()) {
        const one = soleName(Buffer.from(text).toString("latin1"));
        if (one === undefined) continue;
        const map = one.isSubtree ? maps.subtree : maps.exact;
        const first = map.get(one.name);
        if (first === undefined) map.set(one.name, row);
        else repeats.push({ row, first });
      }
      assert.deepEqual(names.repeats, repeats);
      const listed = [...maps.subtree.keys(), ...maps.exact.keys()];
      for (const one of [...asked, ...listed.filter((text) => !/[^ -~]/.test(text))]) {
        for (const kind of ["subtree", "exact"] as const) {
          const row = maps[kind].get(one);
          const rule = names.find(one)[kind];
          assert.equal(rule?.row, row, one);
          if (row === undefined) continue;
          assert.equal(rule!.text, lines[row]);
          found++;
        }
        const isAbove = withParents(one).some((parent) => maps.subtree.has(parent));
        if (hashed.read(one))
          assert.equal(names.mayFind(hashed), isAbove || maps.exact.has(one), one);
        else assert.match(one, /[^a-z0-9._-]|^$|\.$/);
      }
    }),
    propertyRuns(2000),
  );
  assert.ok(found > 500, String(found));
});

test("a name is blocked without an answer only if the answer says so", async () => {
  const seen = new Map<boolean | undefined, number>();
  const plain = name.map((text) => text.replaceAll(/[^a-z.]/g, "a"));
  const some = fc.oneof(
    { weight: 8, arbitrary: plain.map((text) => `||${text}^`) },
    { weight: 4, arbitrary: line },
    fc.constantFrom("/a\\d/", "||a*b", "*a.b^", "@@*b.a|", "/\\./", "||a.b^$badfilter", "||a.b^"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(some, { maxLength: 8 }), fc.array(name), async (all, asked) => {
      const list = Buffer.from(`!\n${all.join("\n")}\n`);
      const special = all.flatMap((text, row) =>
        soleName(Buffer.from(text).toString("latin1")) === undefined ? [{ text, row }] : [],
      );
      const rules = await ListRules.from(special, new MappedNames(list, recordOf(all)));
      const listed = all.flatMap((text) => soleName(text)?.name ?? []);
      for (const one of [...asked, ...listed, ...listed.map((text) => `b.${text}`), "a.b"]) {
        const isBlocked = rules.isBlocked(one);
        seen.set(isBlocked, (seen.get(isBlocked) ?? 0) + 1);
        if (isBlocked !== undefined)
          assert.equal(isBlocked, rules.answer(one).verdict === "blocked", one);
      }
    }),
    propertyRuns(1000),
  );
  for (const answer of [true, false, undefined]) assert.ok(seen.get(answer)! > 100, String(answer));
});
