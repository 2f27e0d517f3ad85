import { compile, memoryHost } from "../internals.ts";
import { ListMatcher, type Meaning } from "../reference/list-matcher.ts";
import { readLine } from "../reference/rule-syntax.ts";
import { isAtOrBelow } from "../reference/names.ts";
import { Random } from "../random.ts";
import type { RandomList } from "./random-list.ts";
import { spelling } from "./trials.ts";

/** Transformations that leave the meaning of a list alone; Compress may make more of exact names. */
export const PRESERVING = [
  "Compress",
  "Deduplicate",
  "TrimLines",
  "RemoveComments",
  "RemoveEmptyLines",
  "Validate",
  "ConvertToAscii",
  "InsertFinalNewLine",
] as const;

/** Some of them; those that have to come with others do. */
export function randomChain(random: Random): string[] {
  const chain: string[] = PRESERVING.filter(() => random.chance(0.5));
  // Names in other letters are invalid to Validate.
  if (chain.includes("Validate") && !chain.includes("ConvertToAscii")) chain.push("ConvertToAscii");
  return chain;
}

/** Lines as a list, through these transformations. */
export async function compiledText(
  lines: readonly string[],
  transformations: readonly string[],
  more: { readonly allow?: string[] } = {},
): Promise<string> {
  const host = memoryHost({ files: { "a.txt": `${lines.join("\n")}\n` } });
  const sources = [{ source: "a.txt", name: "A", type: "adblock" as const }];
  const limits = { pageBytes: 1024, partitions: 8 };
  const config = { name: "N", sources, transformations: [...transformations], ...more };
  const result = await compile(config, { host, limits });
  result.close();
  return new TextDecoder().decode(result.bytes);
}

/** What the list means before and after. */
export async function checkTransformations(
  { lines, names }: RandomList,
  chain: readonly string[],
): Promise<string[]> {
  const text = await compiledText(lines, chain);
  const before = new ListMatcher(lines.flatMap(withOwnAddresses));
  const after = ListMatcher.of(text);
  const what = chain.length === 1 ? chain[0] : "a chain";
  const faults: string[] = [];
  for (const name of names) {
    const was = before.decide(name);
    const is = after.decide(name);
    if (was.meaning === is.meaning) continue;
    if (chain.includes("Compress") && isWidened(before, was.meaning, is.meaning, name)) continue;
    if (chain.includes("Compress") && is.meaning === "neither" && isTakenBack(name, lines))
      continue;
    const rules = [...was.by, ...is.by].map((rule) => rule.text);
    faults.push(
      `${what} makes ${was.meaning} ${is.meaning}${spelling(rules)}: ${name} by ${rules.join(" or ")} (${chain.join()})`,
    );
  }
  return faults;
}

/** A fully trusted source means the addresses of its hosts lines: each name is rewritten, whatever excepts it. */
function withOwnAddresses(line: string): string[] {
  const read = readLine(line);
  if (read.kind !== "hosts" || read.isSinkhole) return [line];
  const address = line.trim().split(/\s/)[0]!;
  return read.names.map((name) => `|${name}^$dnsrewrite=${address}`);
}

/**
 * Whether a `$badfilter` rule is for the name. It does not cancel a hosts line, but Compress makes a rule of that line which it
 * does cancel, as the reference's does.
 */
function isTakenBack(name: string, lines: readonly string[]): boolean {
  return lines.some((line) => {
    const host = /^\|\|(?<host>[^^|*]+)\^\$badfilter$/.exec(line.trim())?.groups?.["host"];
    return host !== undefined && new URL(`http://${host}`).hostname === name;
  });
}

/** Whether an exact name above it became one with all below it. */
function isWidened(before: ListMatcher, was: Meaning, is: Meaning, name: string): boolean {
  if (was !== "neither" || is !== "blocked") return false;
  return before.rules.some(({ isHosts, host }) => isHosts && isAtOrBelow(name, host!));
}
