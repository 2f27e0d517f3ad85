import process from "node:process";
import { ListRules } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/why.ts";
import { hashesOf, pageAnswer, searchIndex } from "../../src/report/page-search.ts";
import { type EngineOptions, type Config, compile, memoryHost } from "./internals.ts";
import { MemoryProject } from "./memory-project.ts";
import { compileRecorded } from "./recorded.ts";

/** Run by a test in a process of its own, because what it tries may never end: `node expression-attacks.ts place attack…`. */

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz0123456789"];
const COUNT = 100;

/** Expressions that keep an engine busy, each in a hundred forms. */
export const ATTACKS: Readonly<Record<string, (index: number) => string>> = {
  none: (index) => `^ads${index}[0-9]+\\.`,
  "repeated choice": (index) => `(.?){${30 + (index % 20)}}!${index}`,
  "optional characters": (index) => `${"[a-z.]?".repeat(16)}[a-z.]{16}!${index}`,
  "same alternatives": (index) => `${"(a|[a-z])".repeat(25)}!${index}`,
  "large program, anchored": (index) => `^\\x7e${".{0,1000}".repeat(400)}${index}`,
  "large program": (index) => `${".{0,1000}".repeat(400)}!${index}`,
  "largest program": (index) => `(.?){${80 + (index % 10)}}[!${index}]`,
  "many states": (index) => `([a-m].{15}|(.?){${50 + (index % 30)}})[!${index}]`,
  "many states, one literal": (index) => `.*[a-m].{${10 + (index % 20)}}!?[.][a-z]+$|${index}`,
  "many characters": (index) =>
    `^(${LETTERS.slice(0, 26)
      .map((letter) => `[^${letter}]?`)
      .join("")}){6}.{10}[a-m].{8}~${index}`,
  "wide classes": (index) => `${"[B-\u{1e942}]".repeat(20)}${index}`,
  scripts: (index) => `\\pL{${90 + (index % 9)}}!${index}`,
};

export const PLACES: Readonly<
  Record<string, (expressions: readonly string[]) => Promise<unknown>>
> = {
  "a remote source": (all) => compiled(all, "https://lists.example/l.txt"),
  "a remote source with exceptions": (all) =>
    compiled(
      all.map((one) => `@@${one}`),
      "https://lists.example/l.txt",
    ),
  "a local file": (all) => compiled(all, "l.txt"),
  compat: (all) => compiled(all, "https://lists.example/l.txt", {}, { compat: true }),
  validate: (all) => compiled(all, "l.txt", { transformations: ["Validate"] }),
  lint: (all) => new MemoryProject({ "l.txt": lines(all) }).run("lint", "l.txt"),
  "exclusions of the configuration": (all) =>
    compiled([], "l.txt", { exclusions: all }).catch(String),
  "exclusions from an address": (all) =>
    compiled([], "l.txt", { exclusions_sources: ["https://lists.example/x.txt"] }, {}, all),
  "the search of the report": (all) => searched(all),
};

function lines(all: readonly string[]): string {
  return `${NAMES.map((name) => `||${name}^\n`).join("")}${all.join("\n")}\n`;
}

const NAMES = Array.from({ length: 2000 }, (_, index) => `ads-${index}.example${index % 7}.com`);

// oxlint-disable-next-line max-params -- one call per place of an attack
async function compiled(
  expressions: readonly string[],
  source: string,
  config: Partial<Config> = {},
  options: EngineOptions = {},
  excluded: readonly string[] = [],
): Promise<unknown> {
  const text = lines(expressions);
  const host = memoryHost({
    files: { "l.txt": text },
    web: {
      "https://lists.example/l.txt": text,
      "https://lists.example/x.txt": excluded.join("\n"),
    },
  });
  return compile({ name: "n", sources: [{ source }], ...config }, { host, ...options });
}

async function searched(all: readonly string[]): Promise<unknown> {
  const host = memoryHost({ files: { "l.txt": lines(all) } });
  const config: Config = { name: "n", sources: [{ source: "l.txt" }] };
  const { result, record } = await compileRecorded(config, { host });
  const rules = await ListRules.of(record, new MappedNames(result.bytes, record));
  const index = searchIndex(result.bytes, record, rules);
  const hashes = index.groups.map(hashesOf);
  return NAMES.slice(0, 20).map((name) => pageAnswer(`${name}.${"a".repeat(60)}`, index, hashes));
}

/** What a hundred expressions took. */
export interface AttackCost {
  readonly attack: string;
  readonly ms: number;
  readonly megabytes: number;
}

async function costOf(place: string, attack: string): Promise<AttackCost> {
  const before = process.resourceUsage().maxRSS;
  const start = process.cpuUsage();
  await PLACES[place]!(Array.from({ length: COUNT }, (_, index) => `/${ATTACKS[attack]!(index)}/`));
  const { user, system } = process.cpuUsage(start);
  const megabytes = (process.resourceUsage().maxRSS - before) / 1024;
  return { attack, ms: (user + system) / 1000, megabytes };
}

const [place = "", ...attacks] = process.argv.slice(2);
if (process.argv[1]?.endsWith("expression-attacks.ts") === true) {
  // What is loaded and compiled once for all is not the attack's.
  await PLACES[place]!([1, 2, 3].map((index) => `/${ATTACKS["none"]!(index)}(a?){9}/`));
  for (const attack of attacks)
    process.stdout.write(`${JSON.stringify(await costOf(place, attack))}\n`);
}
