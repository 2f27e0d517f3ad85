import { type Config, compile, memoryHost } from "../internals.ts";
import type { RandomList } from "../agreement/random-list.ts";
import type { EngineVerdict } from "../reference/adguard-engine.ts";
import { ListMatcher } from "../reference/list-matcher.ts";
import { asciiLabels } from "../reference/names.ts";
import { Random } from "../random.ts";
import { astray } from "./astray.ts";
import { hostileLine } from "./hostile-lines.ts";

const EVIL = "https://evil.example/l.txt";
const OWN = /^! (?:Title: Own list|Last modified: \d)/;
const ENDINGS = ["com", "net", "co.uk", "de", "github.io"];
const STEPS = [
  "RemoveComments",
  "Compress",
  "RemoveModifiers",
  "Deduplicate",
  "TrimLines",
  "ConvertToAscii",
  "RemoveEmptyLines",
  "InsertFinalNewLine",
];
const VALIDATORS = [
  "Validate",
  "ValidateAllowIp",
  "ValidateAllowPublicSuffix",
  undefined,
  undefined,
];

export type Trust = "standard" | "block-only";

export interface Judges {
  readonly engineOf: (text: string) => (name: string) => EngineVerdict;
  readonly subscribe: ((text: string) => Promise<string[]>) | undefined;
}

/** Cases that are compiled together: each is about a domain of its own, and all suffer what one line does to all. */
export function hostileList(seed: number, cases: number): RandomList {
  const random = new Random(seed);
  const lines: string[] = [];
  const names: string[] = [];
  for (let index = 0; index < cases; index++) {
    const domain = `d${index}.${random.pick(ENDINGS)}`;
    const own = [domain, `a.${domain}`, `b.${domain}`, `x.a.${domain}`];
    names.push(...own);
    for (let count = 1 + random.below(3); count > 0; count--)
      lines.push(`+${ownLine(random.pick(own), random)}`);
    for (let count = 1 + random.below(3); count > 0; count--)
      lines.push(`-${hostileLine(random.pick(own), random)}`);
  }
  return { lines, names };
}

function ownLine(name: string, random: Random): string {
  return random.pick([
    `||${name}^`,
    `||${name}^`,
    `0.0.0.0 ${name}`,
    name,
    `||${name}^$important`,
    `||*.${name}^`,
    `|${name}^`,
    `||${name}^$denyallow=a.${name}`,
    `||${name}^$third-party`,
    `@@||${name}^`,
  ]);
}

/** A stranger's list beside one's own: it takes nothing away from that, and nobody is led astray. */
export async function checkHostile(
  list: RandomList,
  seed: number,
  trust: Trust,
  judges: Judges,
): Promise<string[]> {
  const random = new Random(seed);
  const good = linesOf(list, "+");
  const evil = linesOf(list, "-");
  const transformations = chain(random);
  const sourceSteps = random.chance(0.2) ? { transformations: steps(random) } : {};
  const own = { source: "good.txt" };
  const stranger = { source: EVIL, trust, ...sourceSteps };
  const sources = random.chance(0.5) ? [own, stranger] : [stranger, own];
  const files = { "good.txt": good };
  const name = "Own list";
  const before = await textOf({ name, sources: [own], transformations }, files, "");
  const after = await textOf({ name, sources, transformations }, files, `||keep.example^\n${evil}`);
  const faults = [
    ...astray(after, OWN),
    ...((await judges.subscribe?.(after)) ?? []),
    ...lost({ before, after, names: list.names, trust }, judges),
  ];
  return faults.map((fault) => `${fault} (${transformations.join()})`);
}

function linesOf(list: RandomList, mark: string): string {
  return list.lines
    .flatMap((line) => (line.startsWith(mark) ? [`${line.slice(1)}\n`] : []))
    .join("");
}

function chain(random: Random): string[] {
  const validator = random.pick(VALIDATORS);
  return validator === undefined ? steps(random) : [...steps(random), validator];
}

function steps(random: Random): string[] {
  return STEPS.filter(() => random.chance(0.5));
}

async function textOf(
  config: Config,
  files: Record<string, string>,
  evil: string,
): Promise<string> {
  const host = memoryHost({ files, web: { [EVIL]: evil } });
  const limits = { pageBytes: 1024, partitions: 8 };
  const result = await compile(config, { host, limits });
  result.close();
  return new TextDecoder().decode(result.bytes);
}

interface Published {
  readonly before: string;
  readonly after: string;
  readonly names: readonly string[];
  readonly trust: Trust;
}

/** Names that are no longer blocked, or are rewritten. */
function lost({ before, after, names, trust }: Published, { engineOf }: Judges): string[] {
  const faults: string[] = [];
  const [was, is] = [ListMatcher.of(before), ListMatcher.of(after)];
  const [engineWas, engineIs] = [engineOf(before), engineOf(after)];
  for (const rule of is.rules)
    if (rule.rewrite !== undefined) faults.push(`a rewrite is published: ${rule.text}`);
  for (const name of names) {
    if (is.meaning(name) === "rewritten") faults.push(`a name is rewritten: ${name}`);
    const isLost = was.isBlocked(name) && !is.isBlocked(name);
    const isLostThere = engineWas(name) === "blocked" && engineIs(name) !== "blocked";
    if (!isLost && !isLostThere) continue;
    if (trust === "standard" && hasOwnException(is, name)) continue;
    const by =
      is
        .decide(name)
        .by.map(({ text }) => text)
        .join(" or ") || "nothing";
    const who = isLost && isLostThere ? "both judges" : isLost ? "the judge" : "AdGuard's engine";
    faults.push(`a name is lost to ${who}: ${name} by ${by}`);
  }
  return faults;
}

/** An exception that its author had to write for this very domain. */
function hasOwnException(list: ListMatcher, name: string): boolean {
  const domain = /d\d+\.[a-z.]+$/.exec(name)![0];
  return list.rules.some(
    ({ isAllow, isPartial, rewrite, text, matches }) =>
      isAllow &&
      !isPartial &&
      rewrite === undefined &&
      matches(name) &&
      asciiLabels(text).toLowerCase().includes(domain),
  );
}
