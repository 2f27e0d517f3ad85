import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { test } from "node:test";
import { Compilation } from "../../src/engine/compile.ts";
import { type Plan, planOf } from "../../src/engine/plan.ts";
import { SharedSources } from "../../src/engine/shared-sources.ts";
import { listFeatures } from "../../src/features/registry.ts";
import { memoryHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";

const SEQUENCES = isNightly ? 500 : 25;
const SOURCES = ["a.txt", "b.txt", "c.txt"];

/** Without a validator, rules for public suffixes cover others. */
function planFor(random: Random): Plan {
  const validate = random.chance(0.5) ? ["Validate"] : [];
  const config = {
    name: "L",
    sources: SOURCES.map((source) => ({ name: source, source })),
    transformations: ["RemoveModifiers", "Compress", ...validate, "Deduplicate"],
  };
  return planOf(config, { features: listFeatures });
}

const BUILT_AT = new Date("2026-11-10T00:00:00Z");

/** Mostly names of equal length, in few domains, so that changed names look alike and cover each other. */
function randomLine(random: Random): string {
  const domain = `d${random.below(6)}.${random.pick(["com", "org", "github.io"])}`;
  const name = `${random.pick(["", "", `s${random.below(4)}.`])}${domain}`;
  return random.pick([
    () => `||${name}^`,
    () => `||${name}^`,
    () => name,
    () => `0.0.0.0 ${name}`,
    () => `0.0.0.0 ${name} ${name}`,
    () => `||${name.toUpperCase()}^`,
    () => `||${name}^$third-party`,
    () => `||${domain}^$badfilter`,
    () => `||${random.pick(["com", "github.io"])}^`,
    () => `! ${name}`,
  ])();
}

/** The list and its record, without times. */
async function compiled(
  plan: Plan,
  files: ReadonlyMap<string, Uint8Array>,
  shared?: SharedSources,
): Promise<string> {
  const host = memoryHost({ files: {} });
  for (const [path, bytes] of files) host.files.set(path, bytes);
  const pieces: Uint8Array[] = [];
  const record = (bytes: Uint8Array): void => void pieces.push(bytes.slice());
  const options = { shared, record, builtAt: BUILT_AT, configFolder: "/project" };
  const compilation = new Compilation(plan, host, record, options);
  await compilation.fetch();
  await compilation.compile();
  compilation.close();
  return Buffer.concat(pieces).toString("latin1");
}

test("after any edits, kept comparisons of names give the list and the record of a fresh compile", async () => {
  const seed = seedFrom(process.env["FUZZ_SEED"]);
  let inherited = 0;
  for (let sequence = 0; sequence < SEQUENCES; sequence++) {
    const random = new Random(seed + sequence);
    const texts = new Map(
      SOURCES.map((source) => [source, random.times(12, () => randomLine(random))]),
    );
    const filesNow = (): Map<string, Uint8Array> =>
      new Map(
        [...texts].map(([source, lines]) => [
          `/project/${source}`,
          new TextEncoder().encode(`${lines.join("\n")}\n`),
        ]),
      );
    const plan = planFor(random);
    const shared = new SharedSources([plan.sources], undefined, memoryHost({ files: {} }));
    shared.isLasting = true;
    for (let build = 0; build < 6; build++) {
      const message = `seed ${seed + sequence}, build ${build}`;
      const files = filesNow();
      if (shared.comparisonOf(plan)?.last !== undefined) inherited++;
      assert.equal(await compiled(plan, files, shared), await compiled(plan, files), message);
      const source = random.pick(SOURCES);
      const lines = texts.get(source)!;
      const at = random.below(lines.length + 1);
      // Another name in the place of one, in the same domain, or other lines.
      const other = lines[at]?.replace(/(?<=\bs)\d/, `${random.below(4)}`);
      const added = random.pick([[other ?? ""], [other ?? ""], [randomLine(random)], []]);
      texts.set(source, lines.toSpliced(at, added[0] === other ? 1 : random.below(2), ...added));
      shared.forget(`/project/${source}`);
    }
    shared.close();
  }
  assert.equal(inherited, SEQUENCES * 5, "every later compile had results of the last");
});
