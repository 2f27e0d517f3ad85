import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import {
  type EngineOptions,
  CompilerError,
  type Config,
  type Host,
  compile,
  rowsOf,
} from "../support/internals.ts";
import { randomCase } from "../support/differential/random-config.ts";
import { Random, seedFrom } from "../support/random.ts";
import { isNightly } from "../support/nightly.ts";
import { memoryHost } from "../support/memory-host.ts";

const CONFIGURATIONS = isNightly ? 500 : 150;
const seed = seedFrom(process.env["FUZZ_SEED"]);

/** Bytes, the fate of every line with what made it redundant, and what is said about it. */
async function outcomeOf(
  config: Config,
  files: Record<string, string>,
  options: EngineOptions,
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
function cramped(random: Random): EngineOptions {
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

test(`${CONFIGURATIONS} random configurations give the same list with any memory, blocks and partitions`, async () => {
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

test("memory addresses above two gigabytes work", async () => {
  const random = new Random(seed + 2);
  for (let index = 0; index < 12; index++) {
    const { config, files } = randomCase(random);
    const expected = await outcomeOf(config, { ...files }, {});
    const high = { ...cramped(random).limits, unused: 2 ** 31 + 64 * random.below(1000) };
    const actual = await outcomeOf(config, { ...files }, { limits: high });
    assert.deepEqual(actual, expected, `seed ${seed}, configuration ${index}`);
  }
});

/** Line ends of all kinds, blanks of all kinds, bytes that are no UTF-8: whatever a cut may fall into. */
function tornText(random: Random): Uint8Array {
  const piece = (): number[] => [
    ...new TextEncoder().encode(
      random.pick([
        "\n",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "\u00a0",
        "\ufeff",
        "\u3000",
        "a.example",
        "||b.example^",
        "0.0.0.0 c.example d.example",
        "! note",
        "\n!#if (adguard)\ne.example\n!#else\nf.example\n!#endif\n",
        "\r!#if (!adguard)\r g.example\r!#endif\r",
        "\u00e9.example",
      ]),
    ),
  ];
  const bytes = random
    .times(random.below(120), () => (random.chance(0.03) ? [0xff, 0xe3] : piece()))
    .flat();
  return Uint8Array.from(bytes);
}

function withoutPlace(text: string): string {
  return text.replaceAll(/\/?(?:https:.*?)?list\.txt/g, "LIST");
}

test("a file read in blocks of any size equals the same bytes from the web", async () => {
  const random = new Random(seed + 1);
  const url = "https://lists.example/list.txt";
  let compiled = 0;
  for (let index = 0; index < 300; index++) {
    const torn = tornText(random);
    const transformations = random.pick([["Compress"], ["TrimLines", "Validate"], []]);
    const outcome = async (source: string, blockBytes: number): Promise<string> => {
      const web = { [url]: { status: 200, headers: {}, body: torn } };
      const host = memoryHost({ files: { "list.txt": torn }, web });
      const config = { name: "n", sources: [{ source, name: "s" }], transformations };
      try {
        const { bytes, rules } = await compile(config, { host, blockBytes, compat: true });
        const rows = [...rowsOf(rules)].map(({ text, fate, line }) => [text, fate, line]);
        return JSON.stringify([new TextDecoder().decode(bytes).split("Source:")[1], rows]);
      } catch (error) {
        if (!(error instanceof CompilerError)) throw error;
        return error.diagnostics.map(({ message }) => message).join();
      }
    };
    const whole = withoutPlace(await outcome(url, 1 << 20));
    if (whole.startsWith("[")) compiled++;
    const context = `seed ${seed}, text ${index}: ${JSON.stringify(Array.from(torn))}`;
    for (const blockBytes of [1, 2, 3, 1 + random.below(64), 1 << 20])
      assert.equal(withoutPlace(await outcome("list.txt", blockBytes)), whole, context);
  }
  assert.ok(compiled > 250, `${compiled} of the texts were lists`);
});

test("a wide parent that is removed later covers nothing, whatever the order of partitions", async () => {
  const names = Array.from({ length: 3000 }, (_, index) => `n${index}.co.uk`);
  const files = { "list.txt": ["||co.uk^", ...names].join("\n") };
  const config = {
    name: "n",
    sources: [{ source: "list.txt" }],
    transformations: ["Compress", "Validate"],
  };
  const many = await outcomeOf(config, { ...files }, { limits: { partitions: 256 } });
  const one = await outcomeOf(config, { ...files }, { limits: { partitions: 1 } });
  assert.deepEqual(one, many);
  assert.match(JSON.stringify(many), /n2999\.co\.uk\^/);
});
