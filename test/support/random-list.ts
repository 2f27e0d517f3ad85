import type { Random } from "./random.ts";

const STARTS = ["", "a.", "b.", "a.b.", "A.", "a_b."];
const LABELS = ["x", "y", "ads"];
const ENDS = ["example", "com", "co.uk", "github.io"];

/** Names that say whether two random lists mean the same: all that may be in them, and one below each. */
export const PROBES: readonly string[] = STARTS.flatMap((start) =>
  LABELS.flatMap((label) => ENDS.map((end) => `${start.toLowerCase()}${label}.${end}`)),
).flatMap((name) => [name, `below.${name}`]);

/** A list of a few lines that have much to do with each other: repetitions, parents, exceptions, branches, blanks. */
export function randomList(random: Random): string {
  const name = (): string => `${random.pick(STARTS)}${random.pick(LABELS)}.${random.pick(ENDS)}`;
  const line = (): string =>
    random.pick([
      () => `||${name()}^`,
      () => `||${name()}^`,
      () => `||${name()}^$important`,
      () => `@@||${name()}^`,
      () => `0.0.0.0 ${name()}`,
      () => `127.0.0.1\t${name()} ${name()} # note`,
      () => name(),
      () => `${name()} # note`,
      () => `*.${name()}`,
      () => `|${name()}^`,
      () => `/^${name()}$/`,
      () => `||${name()}^$badfilter`,
      () => `||${name()}^$denyallow=${name()}`,
      () => `! ${name()}`,
      () => `# ${name()}`,
      () => `#${name()}`,
      () => `||${random.pick(["com", "uk", "*", "пример.рф"])}^`,
      () => "",
      () => "!#if (adguard)",
      () => "!#if (!adguard)",
      () => "!#else",
      () => "!#endif",
      () => "example.org##.ad",
    ])();
  const known: string[] = [];
  const lines = random.times(random.below(14), () => {
    const text = known.length > 0 && random.chance(0.2) ? random.pick(known) : line();
    known.push(text);
    if (text.startsWith("!#")) return text;
    // With a blank before it, it is a comment.
    if (random.chance(0.02)) return " !#include none.txt";
    if (random.chance(0.1)) return `${random.pick([" ", "\t", "  "])}${text}`;
    return random.chance(0.1) ? `${text}${random.pick([" ", "\t "])}` : text;
  });
  const balanced = balance(lines);
  const mark = random.chance(0.05) ? "\uFEFF" : "";
  const end = random.pick(["\n", "\n", "\n", "\r\n", "\r"]);
  const text = balanced.join(end) + (random.chance(0.7) ? end : "");
  // A file is read without the blanks that it begins with.
  return text.trimStart().startsWith("!#include") ? randomList(random) : mark + text;
}

/** An `!#if` without its end is no list, nor is an `!#else` without its `!#if`. */
function balance(lines: readonly string[]): string[] {
  const open: { hasElse: boolean }[] = [];
  const kept = lines.filter((line) => {
    if (line.startsWith("!#if")) open.push({ hasElse: false });
    if (line === "!#endif") return open.pop() !== undefined;
    if (line !== "!#else") return true;
    const inner = open.at(-1);
    if (inner === undefined || inner.hasElse) return false;
    inner.hasElse = true;
    return true;
  });
  return [...kept, ...open.map(() => "!#endif")];
}
