import { type AdblockRule, type Modifier, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { type NameTest, namePattern, patternParts } from "../syntax/name-pattern.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { isRegexText, nameRegex } from "../syntax/regex-rule.ts";
import { asciiLabels } from "../syntax/written-names.ts";

/** A rule in adblock syntax, as a DNS resolver reads it. */
export interface Rule {
  readonly text: string;
  readonly isAllow: boolean;
  readonly isImportant: boolean;
  /** Applies only to some clients or query types (`$client`, `$ctag`, `$dnstype`). */
  readonly isPartial: boolean;
  /** Applies only to some clients (`$client`, `$ctag`). */
  readonly isForSomeClients: boolean;
  /** The questions for addresses that `$dnstype` lets it apply to. */
  readonly addressTypes: readonly QueryType[];
  /** What `$dnsrewrite` answers, as `rewriteAnswer` spells it: the rule changes the answer. Undefined for all other rules. */
  readonly rewrite: string | undefined;
  /** Names that `$denyallow` excludes from the rule, with their subdomains. */
  readonly denied: readonly string[];
  /** In lower-case ASCII, or a regular expression as written. */
  readonly pattern: string;
  /** Two spellings of the same rule have the same key. A `$badfilter` rule cancels the rule with its own key. */
  readonly key: string;
  /** Whether the rule matches a name, given in lower-case ASCII. */
  readonly matches: NameTest;
}

/** Types of the questions that a browser or an app asks before it connects to a name. */
export const ADDRESS_TYPES = ["A", "AAAA", "HTTPS"] as const;
type QueryType = (typeof ADDRESS_TYPES)[number];

const CLIENTS = new Set(["client", "ctag"]);
const PARTIAL = new Set([...CLIENTS, "dnstype"]);
/** All modifiers of AdGuard's DNS engine. It ignores a rule with any other. */
const KNOWN = new Set(["important", "denyallow", "dnsrewrite", "badfilter", ...PARTIAL]);
const NAMES = /^[^\s|*~/\\^]+(?:\|[^\s|*~/\\^]+)*$/;
/** AdGuard's engine rejects a shorter pattern, unless a modifier limits the rule. */
const SHORTEST_PATTERN = 3;

/**
 * Parses a rule; undefined if a resolver can match no name by it, and for `$badfilter` rules. `testOf` may reject patterns
 * that match none of the names in question.
 */
export function readRule(
  text: string,
  testOf: (pattern: string) => NameTest | undefined = patternTest,
): Rule | undefined {
  const rule = parseAdblockRule(text);
  if (rule === undefined || !rule.modifiers.every(isKnown)) return undefined;
  const { modifiers, isAllow } = rule;
  const find = (name: string): Modifier | undefined => modifiers.find((one) => one.name === name);
  if (find("badfilter") !== undefined) return undefined;
  const isLimited = modifiers.some(({ name }) => name === "denyallow" || PARTIAL.has(name));
  if (rule.pattern.length < SHORTEST_PATTERN && !isLimited) return undefined;
  const pattern = isRegexText(rule.pattern)
    ? rule.pattern
    : asciiLabels(rule.pattern).toLowerCase();
  const test = testOf(pattern);
  if (test === undefined) return undefined;
  const denied = find("denyallow")?.value?.toLowerCase().split("|").map(asciiLabels) ?? [];
  const rewrite = find("dnsrewrite");
  return {
    text,
    isAllow,
    isImportant: find("important") !== undefined,
    isPartial: modifiers.some(({ name }) => PARTIAL.has(name)),
    isForSomeClients: modifiers.some(({ name }) => CLIENTS.has(name)),
    addressTypes: addressTypes(find("dnstype")?.value),
    rewrite: rewrite && rewriteAnswer(rewrite.value ?? ""),
    denied,
    pattern,
    key: keyOf(rule),
    matches:
      denied.length === 0
        ? test
        : (name) => test(name) && !denied.some((parent) => isBelow(name, parent)),
  };
}

/**
 * The answer of a `$dnsrewrite` in one spelling: `1.2.3.4` and `NOERROR;A;1.2.3.4` are the same. A response code alone is one word,
 * such as `NXDOMAIN`; "" is a `$dnsrewrite` without a value.
 */
function rewriteAnswer(value: string): string {
  const [code = "", type, answer = ""] = value.split(";");
  if (type !== undefined) {
    const isCode = code.toUpperCase() !== "NOERROR" || (type === "" && answer === "");
    return isCode ? code.toUpperCase() : `${type.toUpperCase()} ${answer}`;
  }
  if (/^[A-Z]*$/.test(value)) return value;
  if (/^[\d.]+$/.test(value)) return `A ${value}`;
  return `${value.includes(":") ? "AAAA" : "CNAME"} ${value}`;
}

/** Whether a rewrite answers with a response code and no records. A client that gets it cannot reach the name. */
export function answersNothing({ rewrite }: Pick<Rule, "rewrite">): boolean {
  return rewrite !== undefined && rewrite !== "" && !rewrite.includes(" ");
}

/**
 * Whether a rule blocks or rewrites a question for an address, of any client. A rule without more than its text is a plain name, which
 * does. False if a line is not a rule.
 */
export function blocksAddresses(
  rule: Partial<Pick<Rule, "isAllow" | "addressTypes">> | undefined,
): boolean {
  return rule !== undefined && rule.isAllow !== true && rule.addressTypes?.length !== 0;
}

/** `$dnstype` has types, or types after `~`, which it excludes. */
function addressTypes(value: string | undefined): readonly QueryType[] {
  if (value === undefined) return ADDRESS_TYPES;
  const types = new Set(value.toUpperCase().split("|"));
  const hasWanted = [...types].some((type) => !type.startsWith("~"));
  return ADDRESS_TYPES.filter((type) => !types.has(`~${type}`) && (!hasWanted || types.has(type)));
}

function isKnown({ name, value }: Modifier): boolean {
  // `$denyallow` takes names, not patterns. Otherwise the rule is invalid.
  return KNOWN.has(name) && (name !== "denyallow" || NAMES.test(value ?? ""));
}

/** The key of the rule that a `$badfilter` rule cancels; undefined for any other line. */
export function cancelledKey(text: string): string | undefined {
  if (!text.includes("badfilter")) return undefined;
  const rule = parseAdblockRule(text);
  const isBadfilter = rule?.modifiers.some(({ name }) => name === "badfilter");
  return rule !== undefined && isBadfilter === true ? keyOf(rule) : undefined;
}

/** The key of any rule; undefined for other lines. */
export function ruleKey(text: string): string | undefined {
  const rule = parseAdblockRule(text);
  return rule && keyOf(rule);
}

/** Ignores `$badfilter` and the order of the modifiers. */
function keyOf({ isAllow, pattern, modifiers }: AdblockRule): string {
  const start = `${isAllow ? "@@" : ""}${isRegexText(pattern) ? pattern : asciiLabels(pattern)}`;
  const rest = modifiers
    .filter(({ name }) => name !== "badfilter")
    .map(({ name, value }) => (value === undefined ? name : `${name}=${value}`))
    .toSorted();
  return rest.length === 0 ? start : `${start}$${rest.join(",")}`;
}

export function patternTest(pattern: string): NameTest | undefined {
  return isRegexText(pattern) ? nameRegex(pattern.slice(1, -1)) : namePattern(pattern);
}

export function isBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** A label that no list has and no pattern is likely to match. */
export const PROBE = "q7-any-0z";

/** A name that a wildcard pattern matches; undefined for regular expressions, and if none is found. */
export function witnessOf({
  pattern,
  matches,
}: Pick<Rule, "pattern" | "matches">): string | undefined {
  if (isRegexText(pattern)) return undefined;
  const filled = patternParts(pattern)?.parts.join(PROBE) ?? "";
  return [filled, `${filled}${PROBE}`, `${PROBE}${filled}`, `${PROBE}${filled}${PROBE}`]
    .flatMap((name) => [name, `${name}.example`])
    .find((name) => isName(name) && matches(name));
}

function isName(text: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/.test(text);
}

/** The combined effects of several rules on names. */
export interface Effects {
  blocks: boolean;
  blocksImportantly: boolean;
  rewrites: boolean;
  rewritesImportantly: boolean;
}

export function noEffects(): Effects {
  return {
    blocks: false,
    blocksImportantly: false,
    rewrites: false,
    rewritesImportantly: false,
  };
}

/** Adds the effects of a rule. Exceptions have none. */
export function addEffects(
  effects: Effects,
  rule: Partial<Pick<Rule, "isAllow" | "isImportant" | "rewrite">>,
): void {
  if (rule.isAllow === true) return;
  const isImportant = rule.isImportant === true;
  if (rule.rewrite === undefined) {
    effects.blocks = true;
    effects.blocksImportantly ||= isImportant;
  } else {
    effects.rewrites = true;
    effects.rewritesImportantly ||= isImportant;
  }
}

/**
 * Finds possible effects of patterns on a name or its subdomains. It is conservative: a pattern counts unless its end rules
 * out a match. It indexes patterns by their ends, so that many names can be checked against many patterns.
 */
export class SubtreeEffects {
  /** Effects of patterns with any end. */
  private readonly free = noEffects();
  private readonly byEnd = new Map<string, Effects>();
  /** Effects of patterns whose end is below a name, by that name. */
  private readonly byParent = new Map<string, Effects>();

  add(rule: Rule): void {
    const end = patternEnd(rule.pattern);
    if (end === "") {
      addEffects(this.free, rule);
      return;
    }
    addEffects(entry(this.byEnd, end), rule);
    for (const parent of withParents(end).slice(1)) addEffects(entry(this.byParent, parent), rule);
  }

  over(name: string): Effects {
    const sum = { ...this.free };
    // Only subdomains of the name can have an end that is longer than the name.
    merge(sum, this.byParent.get(name));
    for (let at = 0; at < name.length; at++) merge(sum, this.byEnd.get(name.slice(at)));
    merge(sum, this.byEnd.get(`.${name}`));
    return sum;
  }
}

function entry(map: Map<string, Effects>, key: string): Effects {
  let effects = map.get(key);
  if (effects === undefined) map.set(key, (effects = noEffects()));
  return effects;
}

function merge(sum: Effects, more: Effects | undefined): void {
  if (more === undefined) return;
  sum.blocks ||= more.blocks;
  sum.blocksImportantly ||= more.blocksImportantly;
  sum.rewrites ||= more.rewrites;
  sum.rewritesImportantly ||= more.rewritesImportantly;
}

/** The text at the end of every name that a pattern matches; "" if they share none. */
function patternEnd(pattern: string): string {
  if (isRegexText(pattern)) return expressionEnd(pattern.slice(1, -1));
  const read = patternParts(pattern);
  return read?.endsName === true ? read.parts.at(-1)! : "";
}

/** Letters, digits, hyphens and escaped dots before a final `$`, if the expression has no alternatives. */
function expressionEnd(source: string): string {
  if (source.includes("|")) return "";
  const end = /(?<end>(?:[a-z0-9-]|\\\.)+)\$$/i.exec(source)?.groups?.["end"] ?? "";
  const before = source.slice(0, source.length - end.length - 1);
  // A backslash or bracket before the first letters changes their meaning.
  return /[\\[{]|\(\?/.test(before.slice(-3)) ? "" : end.replaceAll("\\.", ".").toLowerCase();
}
