import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import {
  type CompileOptions,
  type Config,
  type Host,
  compile,
  memoryHost,
  rowsOf,
} from "../../src/index.ts";
import { randomCase } from "../differential/random-config.ts";
import { Random, seedFrom } from "../support/random.ts";

const CONFIGURATIONS = 500;
const seed = seedFrom(process.env["FUZZ_SEED"]);

/** Bytes, the fate of every line with what made it redundant, and what is said about it. */
async function outcomeOf(
  config: Config,
  files: Record<string, string>,
  options: CompileOptions,
): Promise<object> {
  const memory = memoryHost({ files });
  let open = 0;
  const host: Host = {
    ...memory,
    openScratch: () => {
      const scratch = memory.openScratch();
      open++;
      return { ...scratch, close: () => void open-- };
    },
  };
  const result = await compile(config, { host, ...options });
  const text = new TextDecoder().decode(result.bytes);
  const { report, diagnostics } = result;
  const rows = [...rowsOf(result.rules)];
  result.close();
  assert.equal(open, 0, "every temporary file is closed, once");
  return { text, rows, report, diagnostics };
}

/** Hardly any memory: every chunk and every page is put aside as soon as it can be. */
function cramped(random: Random): CompileOptions {
  return {
    blockBytes: 1 + random.below(random.pick([8, 64, 512, 4096])),
    limits: {
      chunks: random.pick([0, 0, 2000]),
      pages: random.pick([0, 0, 4096]),
      pageBytes: random.pick([64, 256, 1024]),
      partitions: random.pick([1, 2, 16, 256]),
    },
  };
}

test(`${CONFIGURATIONS} random configurations: the same list whatever the memory, the blocks and the partitions`, async () => {
  const random = new Random(seed);
  for (let index = 0; index < CONFIGURATIONS; index++) {
    const { config, files } = randomCase(random);
    const ample = await outcomeOf(config, { ...files }, {});
    const options = cramped(random);
    const actual = await outcomeOf(config, { ...files }, options);
    const context = `seed ${seed}, configuration ${index}, ${JSON.stringify(options)}`;
    assert.deepEqual(actual, ample, context);
  }
});
