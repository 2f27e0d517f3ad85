import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import type { WrittenOutput } from "../../src/documents/facts.ts";
import { randomList } from "../support/agreement/random-list.ts";
import { FORMAT_READERS } from "../support/reference/format-readers.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { popularNames } from "../support/popularity/popular-names.ts";

const CASES = isNightly ? 5000 : 120;
const FORMATS = ["hosts", "domains", "rpz", "dnsmasq", "unbound"] as const;
/** Formats that can say any name alone. */
const EXACT: ReadonlySet<string> = new Set(["hosts", "domains"]);
const CHAINS = [["Compress"], ["RemoveComments", "Validate", "Compress", "Deduplicate"]];
const WITHOUT = ["partial", "rewrite", "badfilter", "plain-badfilter", "browser"] as const;

interface Files {
  readonly list: ListMatcher;
  readonly queries: ReadonlyMap<string, WrittenOutput["queries"]>;
  readonly isBlocked: ReadonlyMap<string, (name: string) => boolean>;
}

/** The same list without and with known names. */
async function published(
  lines: readonly string[],
  transformations: readonly string[],
  { known, logged }: { known: readonly string[]; logged: ReadonlyMap<string, number> },
): Promise<readonly [Files, Files]> {
  const config = {
    name: "N",
    sources: [{ source: "a.txt", type: "adblock" }],
    transformations,
    outputs: FORMATS.map((format) => ({ format, file: "{slug}.{format}" })),
    lists: [{ name: "before" }, { name: "after", expand: { names: ["known"], logs: ["log"] } }],
  };
  const project = new MemoryProject({
    "c.json": JSON.stringify(config),
    "a.txt": lines.join("\n"),
    known: known.join("\n"),
    log: Array.from(logged, ([name, count]) => `${count} ${name}\n`).join(""),
  });
  const accepted = ["too-few-rules", "empty-output", "blocks-suffix"];
  const { exit, stdout, stderr } = await project.run(
    "--json",
    "-c",
    "c.json",
    "--no-cache",
    ...accepted.flatMap((code) => ["--accept", code]),
  );
  assert.equal(exit, 0, stderr);
  const { lists } = JSON.parse(stdout) as { lists: { outputs: WrittenOutput[] }[] };
  const filesOf = (list: string, index: number): Files => ({
    queries: new Map(lists[index]!.outputs.map(({ format = "", queries }) => [format, queries])),
    list: ListMatcher.of(project.text(`rules/${list}.txt`)),
    isBlocked: new Map(
      FORMATS.map((format) => {
        const block = project.text(`rules/${list}.${format}`);
        return [format, FORMAT_READERS[format]!({ block, allow: "" })];
      }),
    ),
  });
  return [filesOf("before", 0), filesOf("after", 1)];
}

/** Whether only an exception that no format can say frees a name that is in no list: docs/reference/formats.md, `pattern`. */
function isUnknowable(name: string, list: ListMatcher, known: readonly string[]): boolean {
  if (known.includes(name) || list.names().has(name)) return false;
  const { meaning, by } = list.decide(name);
  return meaning === "allowed" && by.every(({ host, denied }) => (host ?? denied[0]) === undefined);
}

test(`${CASES} random lists: expand writes the known names that the list blocks, and counts the queries of a log`, async () => {
  const first = seedFrom(process.env["FUZZ_SEED"]);
  let written = 0;
  let below = 0;
  for (let seed = first; seed < first + CASES; seed++) {
    const random = new Random(seed);
    const { lines, names } = randomList(seed, { names: 50, without: WITHOUT, isTame: true });
    const known = popularNames(names, random);
    const logged = new Map(known.slice(0, 30).map((name) => [name, 1 + random.below(9)]));
    const transformations = random.pick(CHAINS);
    const [before, after] = await published(lines, transformations, { known, logged });
    const { list } = after;
    const isByPattern = (name: string): boolean =>
      list.matching(name).some(({ isAllow, host }) => !isAllow && host === undefined);
    for (const format of FORMATS)
      for (const name of new Set([...names, ...known])) {
        const said = `FUZZ_SEED=${seed}: ${name} in ${format}`;
        const [was, is] = [before, after].map((one) => one.isBlocked.get(format)!(name));
        if (is === true && was !== true && !isUnknowable(name, list, known))
          assert.ok(list.isBlocked(name), `${said} is blocked, not in the list`);
        if (EXACT.has(format))
          assert.equal(is, was === true || (known.includes(name) && list.isBlocked(name)), said);
        if (is !== true || was === true) continue;
        written++;
        if (!isByPattern(name)) below++;
      }
    for (const format of EXACT) {
      const sum = (isIn: (name: string) => boolean): number =>
        [...logged].reduce((all, [name, count]) => all + (isIn(name) ? count : 0), 0);
      const expected = {
        all: sum(() => true),
        list: sum((name) => list.isBlocked(name)),
        file: sum((name) => after.isBlocked.get(format)!(name)),
      };
      assert.deepEqual(after.queries.get(format), expected, `FUZZ_SEED=${seed}: ${format}`);
    }
  }
  assert.ok(written > CASES / 2, `${written} names written`);
  assert.ok(below > CASES / 4, `${below} names below blocked ones`);
});
