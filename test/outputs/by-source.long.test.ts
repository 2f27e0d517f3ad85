import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";

const CASES = isNightly ? 2000 : 200;
const BY_SOURCE = ["adblock", "hosts", "domains", "wildcard"];

type Sources = readonly (readonly string[])[];

function configOf(count: number, more: object): string {
  return JSON.stringify({
    name: "L",
    sources: Array.from({ length: count }, (_, index) => ({
      source: `${index}.txt`,
      name: `S ${index}`,
      type: "adblock",
    })),
    ...more,
  });
}

function putSources(project: MemoryProject, sources: Sources): void {
  for (const [index, lines] of sources.entries())
    project.write(`${index}.txt`, `${lines.join("\n")}\n`);
}

async function compile(project: MemoryProject): Promise<void> {
  const words = ["compile", "-q", "-c", "c.json", "--no-cache", "--no-record"];
  const { exit, stderr } = await project.run(...words);
  assert.equal(exit, 0, stderr);
}

function rulesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !/^[!#]/.test(line));
}

/** The rules of each source's file. */
function filesOf(project: MemoryProject, format: string, count: number): string[][] {
  return Array.from({ length: count }, (_, index) =>
    rulesIn(project.text(`rules/${format}/s-${index}.txt`)),
  );
}

/** The owner of each rule; fails if two files have it. */
function ownersIn(files: readonly (readonly string[])[]): Map<string, number> {
  const owners = new Map<string, number>();
  for (const [source, rules] of files.entries())
    for (const rule of rules) {
      assert.equal(owners.get(rule) ?? source, source, `${rule} is in two files`);
      owners.set(rule, source);
    }
  return owners;
}

/** What a rule of the list looks like, by its line in a source. */
function listed(line: string, isCompressed: boolean): string {
  const name = isCompressed
    ? /^(?:0\.0\.0\.0 )?(?<name>[a-z0-9.-]+)$/.exec(line)?.groups
    : undefined;
  return name === undefined ? line : `||${name["name"]}^`;
}

const FORMS = ["||%^", "||%^", "||%^", "0.0.0.0 %", "%", "@@||%^", "||%^$important", "|%^"];

function randomLine(random: Random): string {
  const name = `${random.chance(0.3) ? `${random.pick(["a", "b"])}.` : ""}n${random.below(40)}.example`;
  return random.pick(FORMS).replace("%", name);
}

function changed(sources: Sources, random: Random): string[][] {
  return sources.map((lines) => {
    const kept = lines.filter(() => !random.chance(0.1));
    return [...kept, ...random.times(random.below(4), () => randomLine(random))];
  });
}

interface Day {
  readonly sources: Sources;
  readonly owners: ReadonlyMap<string, number>;
}

/** Compares the owners of a day with what a simple search in the sources gives. */
function checkOwners(day: Day, before: Day | undefined, isCompressed: boolean): void {
  const has = (source: number, rule: string): boolean =>
    day.sources[source]!.some((line) => listed(line, isCompressed) === rule);
  for (const [rule, owner] of day.owners) {
    const old = before?.owners.get(rule);
    const first = day.sources.findIndex((_, source) => has(source, rule));
    const expected = old !== undefined && has(old, rule) ? old : first;
    assert.equal(owner, expected, `${rule}, before: ${old}`);
  }
}

/** How many lines differ, and how many rules of both days have another owner. */
function changesBetween(a: Day, b: Day): { readonly lines: number; readonly owners: number } {
  let lines = 0;
  for (const [source, rules] of a.sources.entries()) {
    const [old, fresh] = [new Set(rules), new Set(b.sources[source])];
    lines += [...old].filter((rule) => !fresh.has(rule)).length;
    lines += [...fresh].filter((rule) => !old.has(rule)).length;
  }
  const both = [...b.owners].filter(([rule]) => a.owners.has(rule));
  return { lines, owners: both.filter(([rule, owner]) => a.owners.get(rule) !== owner).length };
}

test("random lists: each rule is in one file, all files are the list, and owners are stable", async () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]));
  const total = { lines: 0, owners: 0, rules: 0 };
  for (let round = 0; round < CASES; round++) {
    const count = 2 + random.below(4);
    const isCompressed = random.chance(0.7);
    const format = random.pick(BY_SOURCE);
    const project = new MemoryProject({
      "c.json": configOf(count, {
        transformations: isCompressed ? ["Compress", "Deduplicate"] : ["Deduplicate"],
        outputs: [
          { format: "adblock", by: "source", file: "adblock/{source}.txt" },
          ...(format === "adblock"
            ? []
            : [{ format, by: "source", file: `${format}/{source}.txt` }]),
          { format, file: "whole.txt" },
        ],
      }),
    });
    let sources: Sources = random.times(count, () =>
      random.times(5 + random.below(25), () => randomLine(random)),
    );
    let before: Day | undefined;
    for (let days = 0; days < 2; days++) {
      // A name without its subdomains can be all that is left, which `wildcard` cannot express.
      putSources(project, [[...sources[0]!, "||always.example^"], ...sources.slice(1)]);
      await compile(project);
      const files = filesOf(project, "adblock", count);
      assert.deepEqual(files.flat().toSorted(), rulesIn(project.text("rules/l.txt")).toSorted());
      const whole = rulesIn(project.text("rules/whole.txt")).toSorted();
      const others = filesOf(project, format, count);
      assert.deepEqual(others.flat().toSorted(), whole);
      ownersIn(others);
      const owners = ownersIn(files);
      owners.delete("||always.example^");
      const day = { sources, owners };
      checkOwners(day, before, isCompressed);
      if (before !== undefined) {
        const { lines, owners: moved } = changesBetween(before, day);
        total.lines += lines;
        total.owners += moved;
        assert.ok(moved <= 1.02 * lines, `${moved} owners changed with ${lines} lines`);
      }
      total.rules += owners.size;
      before = day;
      sources = changed(sources, random);
    }
  }
  assert.ok(total.owners > CASES / 10, "owners changed at all");
});
