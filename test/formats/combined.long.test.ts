import type { WrittenOutput, LossReason } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { COMBINED_FIELDS } from "../../src/config/outputs.ts";
import { CombinedNames } from "../../src/formats/combined/combined-names.ts";
import { combinedFormats, unboundTags } from "../../src/formats/combined/registry.ts";
import { Losses } from "../../src/formats/special-rule.ts";
import { randomList } from "../support/agreement/random-list.ts";
import { projectOf } from "../support/lists-project.ts";
import { memoryHost } from "../support/memory-host.ts";
import { isNightly } from "../support/nightly.ts";
import { relatedNames, relatedRules } from "../support/random-lists.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { TaggedNames } from "../support/resolvers/tagged-names.ts";

const CASES = isNightly ? 400 : 40;
const LISTS = ["one", "two", "three", "four"];

test("the configuration knows every combined format", () => {
  assert.deepEqual([...combinedFormats.keys()], Object.keys(COMBINED_FIELDS.format.values));
});

test("merged names say what every list says, with the rules for parents", () => {
  const random = new Random(28);
  for (let round = 0; round < CASES; round++) {
    const names = [...relatedNames(random, 60), "example", "top"];
    /** Marks by list and name. */
    const said = new Map(
      [0, 31, 32, 67 + random.below(500)].map((list) => [list, new Map<string, string>()]),
    );
    const count = Math.max(...said.keys()) + 1;
    // Many partitions, some of which are empty.
    const merged = new CombinedNames(
      () => memoryHost({ files: {} }).openScratch(),
      2 ** (20 + (round % 12)),
      count,
    );
    for (const [list, own] of said) {
      for (const name of names) if (random.chance(0.4)) own.set(name, random.pick([..."abcdef"]));
      const lines = [...own].map(([name, mark]) => `${mark}${name}\n`);
      merged.add(encodeUtf8(lines.join("")), list);
    }
    const seen = new Map<string, object>();
    for (const { bytes, start, end, self, below, allowSelf, allowBelow, own } of merged.names()) {
      const name = new TextDecoder().decode(bytes.subarray(start, end));
      assert.ok(!seen.has(name), `${name} twice`);
      const bits = { self, below, allowSelf, allowBelow, own };
      const lists = Object.entries(bits).map(([key, words]) => [key, listsOf(words)]);
      seen.set(name, Object.fromEntries(lists) as object);
    }
    merged.close();
    const expected = new Map<string, object>();
    for (const name of names) {
      const entry = {
        self: [] as number[],
        below: [] as number[],
        allowSelf: [] as number[],
        allowBelow: [] as number[],
        own: [] as number[],
      };
      for (const [list, own] of said) {
        if (own.has(name)) entry.own.push(list);
        const self = nearest(own, name, "abde");
        const below = nearest(own, name, "acdf");
        if (self !== undefined) entry["def".includes(self) ? "allowSelf" : "self"].push(list);
        if (below !== undefined) entry["def".includes(below) ? "allowBelow" : "below"].push(list);
      }
      if (entry.own.length > 0) expected.set(name, entry);
    }
    assert.deepEqual(seen, new Map([...seen.keys()].map((name) => [name, expected.get(name)])));
    assert.equal(seen.size, expected.size);
  }
});

function listsOf(words: Int32Array): number[] {
  return [...words].flatMap((word, index) =>
    Array.from({ length: 32 }, (_, bit) => 32 * index + bit).filter(
      (list) => (word >> (list & 31)) & 1,
    ),
  );
}

/** The mark of the name, if it says something about it, or of the closest parent that says something about the names below it. */
function nearest(
  marks: ReadonlyMap<string, string>,
  name: string,
  own: string,
): string | undefined {
  const mark = marks.get(name);
  if (mark !== undefined && own.includes(mark)) return mark;
  const dot = name.indexOf(".");
  return dot === -1 ? undefined : nearest(marks, name.slice(dot + 1), "acdf");
}

test("a combined file reports the rules that it cannot express, as the file of a list does, each once", async () => {
  const lost = new Set<string>();
  for (let seed = 0; seed < CASES / 2; seed++) {
    const text = (index: number): string =>
      ["||never.asked^", ...randomList(seed + index, { names: 0 }).lines, ""].join("\n");
    const project = projectOf(
      { a: text(0), b: text(1000) },
      [
        { name: "a", sources: ["a"] },
        { name: "again", sources: ["a"] },
        { name: "b", sources: ["b"] },
      ],
      {
        transformations: seed % 2 === 0 ? ["Deduplicate"] : ["Compress", "Deduplicate"],
        outputs: [{ format: "cdb", file: "{slug}.cdb" }],
        combined: [
          { format: "cdb", file: "all.cdb" },
          { format: "cdb", file: "same.cdb", lists: ["a", "again"] },
          { format: "unbound-tags", file: "all.conf" },
        ],
      },
    );
    const flags = ["blocks-suffix", "empty-output"].flatMap((code) => ["--accept", code]);
    const { exit, stdout, stderr } = await project.run("compile", "--json", "--no-cache", ...flags);
    assert.equal(exit, 0, stderr);
    const { lists, combined } = JSON.parse(stdout) as {
      lists: { outputs: WrittenOutput[] }[];
      combined: WrittenOutput[];
    };
    const [a, , b] = lists.map(({ outputs }) => lostRules(outputs[1]!));
    const [all, same, tags] = combined.map(lostRules);
    assert.deepEqual(same, a, `seed ${seed}`);
    for (const reason of RULE_LOSSES) {
      const [one = 0, other = 0] = [a![reason], b![reason]];
      const both = all![reason] ?? 0;
      assert.ok(both >= Math.max(one, other) && both <= one + other, `${seed}: ${reason} ${both}`);
      assert.equal(tags![reason] ?? 0, both, `${seed}: ${reason}`);
      if (both > 0) lost.add(reason);
    }
  }
  assert.deepEqual([...lost].toSorted(), RULE_LOSSES.toSorted(), "every reason occurred");
});

const RULE_LOSSES: readonly LossReason[] = ["modifier", "rewrite", "regex", "pattern"];

function lostRules({ losses = [] }: WrittenOutput): Partial<Record<LossReason, number>> {
  const rules = losses.filter(({ reason }) => RULE_LOSSES.includes(reason));
  return Object.fromEntries(rules.map(({ reason, count }) => [reason, count]));
}

test("unbound-tags: whatever the file cannot say is reported", () => {
  const random = new Random(30);
  const names = ["example", "x.example", "y.example", "z.x.example", "z.z.x.example"];
  let exact = 0;
  for (let round = 0; round < 20 * CASES; round++) {
    const merged = new CombinedNames(() => memoryHost({ files: {} }).openScratch(), 2 ** 20, 2);
    const said = ["one", "two"].map(() => new Map<string, string>());
    for (const [list, own] of said.entries()) {
      for (const name of names.slice(0, 4))
        if (random.chance(0.4)) own.set(name, random.pick([..."abcdef"]));
      merged.add(encodeUtf8([...own].map(([name, mark]) => `${mark}${name}\n`).join("")), list);
    }
    let text = "";
    const losses = new Losses();
    const file = { write: (piece: Uint8Array) => void (text += new TextDecoder().decode(piece)) };
    const lists = ["one", "two"].map((name) => ({ name, tag: name }));
    const target = { name: "t", losses, openScratch: assert.fail };
    unboundTags.write(
      { lists, header: [], names: () => merged.names() },
      { ...target, files: [{ ...file, rewrite: assert.fail }] },
    );
    merged.close();
    if (losses.all().length > 0) continue;
    exact++;
    const tagged = new TaggedNames(text);
    for (const tags of [["one"], ["two"], ["one", "two"]])
      for (const name of names) {
        const isMeant = said.some(
          (own, list) =>
            tags.includes(lists[list]!.tag) && "abc".includes(nearest(own, name, "abde") ?? "-"),
        );
        const rules = JSON.stringify(said.map((own) => [...own]));
        assert.equal(
          tagged.isBlocked(name, tags),
          isMeant,
          `${name} for ${tags.join(" ")}: ${rules}`,
        );
      }
  }
  assert.ok(exact > CASES, String(exact));
});

interface Printed {
  readonly combined: readonly {
    readonly outcome: string;
    readonly names: number;
    readonly losses: readonly { readonly count: number }[];
  }[];
}

for (const isMixed of [false, true])
  test(`unbound-tags: 16 combinations of lists ${isMixed ? "with exceptions never block more than their lists" : "block what their lists block"}`, async () => {
    const random = new Random(29);
    let missed = 0;
    let asked = 0;
    for (let round = 0; round < CASES / 10; round++) {
      const texts = Object.fromEntries(
        LISTS.map((name) => [name, `${relatedRules(random, 25, isMixed).join("\n")}\n`]),
      );
      const lists = LISTS.map((name) => ({ name, sources: [name] }));
      const combined = [{ format: "unbound-tags", file: "tags.conf" }];
      const project = projectOf(texts, lists, { combined });
      const { exit, stdout, stderr } = await project.run("--json", "--accept", "blocks-suffix");
      assert.equal(exit, 0, stderr);
      const { losses } = (JSON.parse(stdout) as Printed).combined[0]!;
      const tagged = new TaggedNames(project.text("rules/tags.conf"));
      const naive = LISTS.map((name) => new NaiveNames(project.text(`rules/${name}.txt`)));
      for (let bits = 0; bits < 16; bits++)
        for (const name of relatedNames(random, 40)) {
          const own = LISTS.filter((_, list) => (bits & (1 << list)) !== 0);
          const isMeant = naive.some(
            (list, index) => (bits & (1 << index)) !== 0 && list.isBlocked(name),
          );
          const isBlocked = tagged.isBlocked(name, own);
          asked++;
          if (isMeant === isBlocked) continue;
          assert.ok(
            isMeant && losses.length > 0,
            `${name} with ${own.join(" ")} in round ${round}`,
          );
          missed++;
        }
    }
    assert.ok(isMixed ? missed < asked / 5 : missed === 0, `${missed} of ${asked}`);
  });
