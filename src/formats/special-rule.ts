import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { writtenName } from "../meaning/line.ts";
import { nameScope } from "../meaning/name-scope.ts";
import { type Rule, patternTest, readRule } from "../meaning/rule.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { hostsLine, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { quickAscii } from "../syntax/idna.ts";
import { type NameTest, patternParts } from "../syntax/name-pattern.ts";
import { isLocalName } from "../syntax/local-names.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { Level, levelOf } from "./level.ts";
import type { LossReason } from "./losses.ts";

/** A rule for a name. */
export interface NameRule {
  readonly name: string;
  readonly level: Level;
  /** Whether it applies to the name itself, and to all names below it. */
  readonly self: boolean;
  readonly below: boolean;
  /** Names that `$denyallow` excludes, with everything below them. They need not be below the name. */
  readonly denied: readonly string[];
}

export type ReadRule =
  | { readonly kind: "names"; readonly rules: readonly NameRule[]; readonly key?: string }
  /** An exception with a pattern instead of a name. */
  | { readonly kind: "exception"; readonly rule: Rule }
  | {
      readonly kind: "lost";
      readonly reason: LossReason;
      readonly key?: string;
      /** The expression, if the rule is a regular expression without modifiers. */
      readonly regex?: string;
      /** The name in it, if there is one. */
      readonly name?: string;
      /** The rule, if it changes answers for all clients, or is an exception from such rules. */
      readonly rewrite?: Rewrite;
    };

/** A `$dnsrewrite` rule, and what it is for if that is a name. */
export interface Rewrite {
  readonly rule: Rule;
  readonly name: NameRule | undefined;
}

/** Reads a line of the list, other than `||name^` and `$badfilter` rules. */
export function readSpecialRule(text: string): ReadRule {
  const hosts = readHosts(text) ?? readBareName(text);
  if (hosts !== undefined) return hosts;
  const frees = text.startsWith("@@") || text.includes("dnsrewrite");
  const rule = readRule(text, frees ? patternTest : blockTest);
  if (rule === undefined) return { kind: "lost", reason: unreadableReason(text) };
  const { key, pattern } = rule;
  const names = readNames(rule);
  const name = names?.kind === "names" ? names.rules[0]?.name : undefined;
  const named = { key, ...(name !== undefined && { name }) };
  if (rule.rewrite !== undefined) {
    const rewrite = { rule, name: names?.kind === "names" ? names.rules[0] : undefined };
    const isWhole = !rule.isPartial && names?.kind !== "lost";
    return { kind: "lost", reason: "rewrite", ...named, ...(isWhole && { rewrite }) };
  }
  // It applies to some clients or query types only; all others would get the wrong answer.
  if (rule.isPartial) return { kind: "lost", reason: "modifier", ...named };
  if (names !== undefined) return names;
  if (rule.isAllow) return { kind: "exception", rule };
  if (!isRegexText(pattern)) return { kind: "lost", reason: "pattern", key };
  const isPlain = !rule.isImportant && rule.denied.length === 0;
  return { kind: "lost", reason: "regex", key, ...(isPlain && { regex: pattern.slice(1, -1) }) };
}

/** Which names an expression blocks is not needed here, and compiling it would cost more than everything else. */
function blockTest(pattern: string): NameTest | undefined {
  return isRegexText(pattern) ? () => false : patternTest(pattern);
}

/** Why a resolver cannot match any name with a rule. */
function unreadableReason(text: string): LossReason {
  const rule = parseAdblockRule(text);
  if (rule === undefined) return "pattern";
  if (rule.modifiers.length > 0) return "modifier";
  return isRegexText(rule.pattern) ? "regex" : "pattern";
}

/** A block `*.name` without `^`, as in lists of wildcards, applies to the names below the name. An exception frees all it matches. */
function isLooseWildcard(pattern: string): boolean {
  const read = patternParts(pattern);
  if (read === undefined || read.endsName || read.startsAtName) return false;
  const [first, second = "", ...more] = read.parts;
  return first === "" && /^\../.test(second) && more.length === 0;
}

function readNames(rule: Rule): ReadRule | undefined {
  const { pattern, key } = rule;
  const whole = !rule.isAllow && isLooseWildcard(pattern) ? `${pattern}^` : pattern;
  const undotted = whole.replace(/\.(?=[|^]+$)/, "");
  const scope = nameScope(undotted);
  if (scope === undefined) return undefined;
  const name = resolvableName(scope.name);
  if (name === undefined) return { kind: "lost", reason: "not-a-name", key };
  // Queried names do not end in a dot, so the rule matches nothing.
  if (undotted !== whole) return { kind: "lost", reason: "not-a-name", key, name };
  const denied = rule.denied.filter(isResolvable);
  return { kind: "names", rules: [{ ...scope, name, level: levelOf(rule), denied }], key };
}

/** A line with only a name, and perhaps a comment, blocks that name alone. No `$badfilter` rule cancels it. */
function readBareName(text: string): ReadRule | undefined {
  const written = writtenName(text);
  if (written === undefined) return undefined;
  const name = resolvableName(written);
  if (name === undefined) return { kind: "lost", reason: "not-a-name" };
  return {
    kind: "names",
    rules: [{ name, level: Level.Block, self: true, below: false, denied: [] }],
  };
}

function readHosts(text: string): ReadRule | undefined {
  const bytes = encodeUtf8(text);
  if (!readHostsLine(bytes, 0, bytes.length)) return undefined;
  if (!hostsLine.isSinkhole) return { kind: "lost", reason: "rewrite" };
  const rules: NameRule[] = [];
  do {
    const name = resolvableName(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    if (name !== undefined)
      rules.push({ name, level: Level.Block, self: true, below: false, denied: [] });
  } while (nextName(bytes));
  return rules.length === 0 ? { kind: "lost", reason: "not-a-name" } : { kind: "names", rules };
}

const LABEL = /^[a-z0-9_-]{1,63}$/;
const LONGEST = 253;

function isResolvable(name: string): boolean {
  return resolvableName(name) === name;
}

/** A name as resolvers are queried for it; undefined for invalid and local names. */
export function resolvableName(written: string): string | undefined {
  const ascii = /[^\u0021-\u007e]/.test(written) ? quickAscii(written) : written;
  const name = ascii.toLowerCase().replace(/\.$/, "");
  if (name === "" || name.length > LONGEST || isLocalName(name)) return undefined;
  const labels = name.split(".");
  // In a policy zone these are triggers for client and server addresses, not names.
  if (labels.at(-1)!.startsWith("rpz-")) return undefined;
  // Resolvers answer for `localhost` and all names below it themselves; unbound does not start with data for such a name.
  if (labels.at(-1) === "localhost") return undefined;
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  // An IP address, or similar: no top-level domain is a number.
  return /^\d+$/.test(labels.at(-1)!) ? undefined : name;
}
