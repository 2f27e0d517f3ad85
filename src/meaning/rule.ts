import { type AdblockRule, type Modifier, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { asciiLabels } from "../syntax/idna.ts";
import { type NameTest, namePattern } from "../syntax/name-pattern.ts";
import { isRegexText, nameRegex } from "../syntax/regex-rule.ts";

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
  readonly addressTypes: readonly AddressType[];
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
export type AddressType = (typeof ADDRESS_TYPES)[number];

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
function addressTypes(value: string | undefined): readonly AddressType[] {
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
