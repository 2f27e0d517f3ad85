import { ListMatcher } from "../reference/list-matcher.ts";
import { Random } from "../random.ts";
import { inOwnLetters, namesAround, randomLabel, randomName } from "./random-names.ts";

/** What a line of a random list is, for suites that have to leave some out. */
export type LineKind =
  | "name"
  | "odd-name"
  | "hosts"
  | "answer"
  | "plain"
  | "pattern"
  | "loose-pattern"
  | "regex"
  | "denyallow"
  | "any-name"
  | "rewrite"
  | "partial"
  | "browser"
  | "badfilter"
  | "plain-badfilter"
  | "comment"
  | "blank";

export interface RandomLine {
  readonly text: string;
  readonly kind: LineKind;
}

export interface RandomList {
  readonly lines: readonly string[];
  /** Names to ask about. */
  readonly names: readonly string[];
}

export interface ListOptions {
  /** Names to ask about. */
  readonly names: number;
  readonly without?: readonly LineKind[];
  /** Only spellings that every engine takes: lower case, no letters but ASCII, no final dots. */
  readonly isTame?: boolean;
}

class ListRandom extends Random {
  readonly isTame: boolean;

  constructor(seed: number, isTame: boolean) {
    super(seed);
    this.isTame = isTame;
  }
}

type Make = (random: ListRandom, known: readonly RandomLine[]) => string | undefined;

/** How often, what, and how. */
const MAKERS: readonly (readonly [number, LineKind, Make])[] = [
  [14, "name", (random) => `||${written(random)}^`],
  [4, "name", (random) => `|${written(random)}^`],
  [3, "name", (random) => `||*.${written(random)}^`],
  [1, "name", (random) => `||${written(random)}^|`],
  [7, "name", (random) => `@@||${written(random)}^`],
  [2, "name", (random) => `@@|${written(random)}^`],
  [1, "name", (random) => `@@||*.${written(random)}^`],
  [4, "name", (random) => `||${written(random)}^$important`],
  [3, "name", (random) => `@@||${written(random)}^$important`],
  [1, "name", (random) => `|${written(random)}^$important`],
  [3, "odd-name", oddName],
  [7, "hosts", hostsLine],
  [1, "answer", (random) => hostsLineOf(random.pick(ANSWERS), random)],
  [6, "plain", (random) => `${dotted(written(random), random)}${note(random)}`],
  [2, "pattern", (random) => `${sign(random)}${random.pick(PATTERNS)}${weight(random)}`],
  [1, "loose-pattern", (random) => `${sign(random)}${random.pick(LOOSE)}${weight(random)}`],
  [2, "regex", (random) => `${sign(random)}/${random.pick(EXPRESSIONS)}/${weight(random)}`],
  [4, "denyallow", denyallowRule],
  [0.3, "any-name", (random) => `@@*$denyallow=${denied(random)}`],
  [3, "rewrite", (random) => `||${written(random)}^$${rewrite(random, REWRITES)}`],
  [2, "rewrite", (random) => `${someNames(random)}$${rewrite(random, REWRITES)}`],
  [2, "rewrite", (random) => `@@||${written(random)}^$${rewrite(random, EXCEPTED)}`],
  [2, "partial", (random) => `${sign(random)}||${written(random)}^$${random.pick(FOR_SOME)}`],
  [1, "partial", (random) => `${sign(random)}${someNames(random)}$${random.pick(FOR_SOME)}`],
  [1, "browser", (random) => `${sign(random)}||${written(random)}^$third-party`],
  [3, "badfilter", badfilterRule],
  [0.5, "plain-badfilter", (random, known) => lineOf(random, known, "plain", "$badfilter")],
  [2, "comment", (random) => `${random.pick(["! ", "# "])}${randomName(random)}`],
  [1, "blank", () => ""],
];

const PATTERNS = [
  "||ads.*^",
  "||a*.one.com^",
  "||*ads.two.net^",
  "||x1.*.com^",
  "|cdn.*.two.net^",
  "||*.a.*.co.uk^",
];
const LOOSE = [
  "||ads.",
  "|cdn.o",
  "||x1.tw",
  ".ads.one",
  "x1.two.net^",
  ".cdn.",
  "*.two.net^",
  "www*.de^",
];
const EXPRESSIONS = [
  "^ads\\.",
  "(^|\\.)x1\\.two\\.net$",
  "^(a|b)[0-9]*\\.cdn\\.",
  "cdn\\.(one|ads)\\.com$",
  "^_dmarc\\.[a-z.]+\\.uk$",
  "^ADS[.-_]",
  "^(?!a\\.)ads",
  "^ADS\\.[A-Z]+\\.COM$",
  "\\.(?:one|two)\\.(?:com|net)$",
];
const REWRITES = [
  "1.2.3.4",
  "NXDOMAIN",
  "NXDOMAIN;;",
  "NOERROR;A;1.2.3.4",
  "REFUSED",
  "::1",
  "x.example",
];
const EXCEPTED = ["", "", "", "1.2.3.4", "NXDOMAIN", "::1"];
const FOR_SOME = [
  "dnstype=A",
  "dnstype=TXT",
  "dnstype=TXT,important",
  "dnstype=~TXT",
  "dnstype=A|AAAA",
  "client=10.0.0.1",
  "client=~10.0.0.1",
  "ctag=device_pc",
  "dnstype=~AAAA,important",
];

/** A name, at times in upper case or in its own letters. */
function written(random: ListRandom): string {
  if (random.isTame) return randomName(random);
  const name = inOwnLetters(randomName(random), random);
  return random.chance(0.04) ? name.toUpperCase() : name;
}

/** A rule for a name, or for none, that is not written as most are. */
const ODD_NAMES = [
  "http://%^",
  "https://%^",
  "|http://%^",
  "://%^",
  "http://%|",
  "*://%^",
  "//%^",
  "||.%^",
  "||%|",
  "||%^*",
  "||%/",
  ".%^",
  "|*.%^",
];
/** As blocks, these are read as in lists of wildcards: for what is below the name, and for nothing else. */
const ODD_EXCEPTIONS = ["@@*.%", "@@||*.%"];

function oddName(random: ListRandom): string {
  const shape = random.chance(0.1)
    ? random.pick(ODD_EXCEPTIONS)
    : `${sign(random)}${random.pick(ODD_NAMES)}`;
  return `${shape.replace("%", written(random))}${weight(random)}`;
}

/** A pattern or an expression. */
function someNames(random: ListRandom): string {
  return random.chance(0.5) ? random.pick(PATTERNS) : `/${random.pick(EXPRESSIONS)}/`;
}

function dotted(name: string, random: ListRandom): string {
  return !random.isTame && random.chance(0.04) ? `${name}.` : name;
}

function note(random: ListRandom): string {
  return random.chance(0.15) ? random.pick([" # note", "\t# two.net", "   #note"]) : "";
}

function sign(random: ListRandom): string {
  return random.chance(0.4) ? "@@" : "";
}

function weight(random: ListRandom): string {
  return random.chance(0.2) ? "$important" : "";
}

const SINKHOLES = ["0.0.0.0", "0.0.0.0", "127.0.0.1", "::", "::1"];
const ANSWERS = ["192.168.1.5", "1.2.3.4", "2001:db8::5"];

function hostsLine(random: ListRandom): string {
  return hostsLineOf(random.pick(SINKHOLES), random);
}

function hostsLineOf(address: string, random: ListRandom): string {
  const names = random.times(1 + random.below(3), () => dotted(written(random), random));
  return `${address}${random.pick([" ", "\t", "  "])}${names.join(" ")}${note(random)}`;
}

function denied(random: ListRandom): string {
  return random.times(1 + random.below(2), () => written(random)).join("|");
}

function denyallowRule(random: ListRandom): string {
  const name = written(random);
  const below = `${randomLabel(random)}.${name}`;
  const names = random.chance(0.7) ? below : denied(random);
  // A pattern among them makes the rule invalid.
  const values = random.chance(0.1) ? `${names}.*` : names;
  const modifiers = [`denyallow=${values}`, ...(random.chance(0.2) ? ["important"] : [])];
  return `${sign(random)}||${name}^$${modifiers.join()}`;
}

function rewrite(random: ListRandom, values: readonly string[]): string {
  const value = random.pick(values);
  const modifier = value === "" ? "dnsrewrite" : `dnsrewrite=${value}`;
  return random.chance(0.15) ? `${modifier},important` : modifier;
}

/** Cancels a rule that is in the list, with its modifiers in whatever order. */
function badfilterRule(random: ListRandom, known: readonly RandomLine[]): string | undefined {
  const rules = known.filter(({ text }) => /^(?:@@)?\|/.test(text) && !text.includes("badfilter"));
  if (rules.length === 0) return undefined;
  const [pattern = "", modifiers] = random.pick(rules).text.split(/\$(?=[^$]*$)/);
  const parts = modifiers === undefined ? [] : modifiers.split(",");
  parts.splice(random.below(parts.length + 1), 0, "badfilter");
  return `${pattern}$${parts.join()}`;
}

function lineOf(
  random: ListRandom,
  known: readonly RandomLine[],
  kind: LineKind,
  tail: string,
): string | undefined {
  const lines = known.filter((line) => line.kind === kind && /^[\w.-]+$/.test(line.text));
  return lines.length === 0 ? undefined : `${random.pick(lines).text}${tail}`;
}

/** Exceptions from blocks from exceptions, four deep. */
function nestedLines(random: ListRandom): RandomLine[] {
  const lines: RandomLine[] = [];
  let name = randomName(random, 1);
  for (const text of ["||%^", "@@||%^", "||%^$important", "@@||%^$important", "||%^"]) {
    lines.push({ text: text.replace("%", name), kind: "name" });
    name = `${randomLabel(random)}.${name}`;
  }
  return lines;
}

function randomLines(random: ListRandom, without: readonly LineKind[]): RandomLine[] {
  const makers = MAKERS.filter(([, kind]) => !without.includes(kind));
  const total = makers.reduce((sum, [often]) => sum + often, 0);
  const lines: RandomLine[] = random.chance(0.3) ? nestedLines(random) : [];
  for (let count = 6 + random.below(18); count > 0; count--) {
    let at = random.next() * total;
    const [, kind, make] = makers.find(([often]) => (at -= often) < 0) ?? makers[0]!;
    const text = make(random, lines);
    if (text === undefined) continue;
    const indent = random.chance(0.03) ? random.pick([" ", "\t", "  "]) : "";
    lines.splice(random.below(lines.length + 1), 0, { text: `${indent}${text}`, kind });
    if (random.chance(0.04)) lines.push(random.pick(lines));
  }
  return random.chance(0.3) ? withOneException(lines, random) : lines;
}

/** Many exceptions hide what one of them does: programs have a slower path for some kinds. */
function withOneException(lines: readonly RandomLine[], random: Random): RandomLine[] {
  const exceptions = lines.filter(({ text }) => text.trimStart().startsWith("@@"));
  if (exceptions.length === 0) return [...lines];
  const kept = random.pick(exceptions);
  return lines.filter((line) => line === kept || !exceptions.includes(line));
}

/** A list of all kinds of rules but some, and names to ask about: the same for the same seed. */
export function randomList(
  seed: number,
  { names, without = [], isTame = false }: ListOptions,
): RandomList {
  const random = new ListRandom(seed, isTame);
  const lines = randomLines(random, without).map(({ text }) => text);
  return { lines, names: namesAround(new ListMatcher(lines).names(), random, names) };
}
