import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { type Answer, addressAnswer, rewrittenAnswer } from "../meaning/answer.ts";
import { writtenName } from "../meaning/line.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { type Rule, patternTest, readRule } from "../meaning/rule.ts";
import { Level, levelOf } from "../meaning/verdict.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { hostsLine, isLocalName, nextName, readHostsLine } from "../syntax/hosts-line.ts";
import { type NameTest, patternParts } from "../syntax/name-pattern.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { quickAscii } from "../syntax/written-names.ts";
import type { Loss, LossReason } from "../documents/facts.ts";

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

type ReadRule =
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
      /** The names of a hosts line with the address of a machine. */
      readonly hosts?: HostsAnswer;
    };

/** A `$dnsrewrite` rule, and what it is for if that is a name. */
export interface Rewrite {
  readonly rule: Rule;
  readonly name: NameRule | undefined;
  /** Undefined if no format can express it. */
  readonly answer: Answer | undefined;
}

/** Names with an address, if no rule decides about them. */
interface HostsAnswer {
  readonly names: readonly string[];
  readonly answer: Answer | undefined;
}

/** The first line of many lists, such as `[Adblock Plus 2.0]`, is not a rule. */
const LIST_HEADER = /^\[[^\]]*\]$/;

/** Reads a line of the list, other than `||name^` and `$badfilter` rules. */
export function readSpecialRule(text: string): ReadRule {
  if (LIST_HEADER.test(text)) return { kind: "names", rules: [] };
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
    const rewrite = {
      rule,
      name: names?.kind === "names" ? names.rules[0] : undefined,
      answer: rewrittenAnswer(rule.rewrite),
    };
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
  const { isSinkhole } = hostsLine;
  const names: string[] = [];
  do {
    const name = resolvableName(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
    if (name !== undefined) names.push(name);
  } while (nextName(bytes));
  if (!isSinkhole) {
    const [address = ""] = text.split(/\s/, 1);
    return { kind: "lost", reason: "rewrite", hosts: { names, answer: addressAnswer([address]) } };
  }
  if (names.length === 0) return { kind: "lost", reason: "not-a-name" };
  const rule = { level: Level.Block, self: true, below: false, denied: [] };
  return { kind: "names", rules: names.map((name) => ({ name, ...rule })) };
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

/** Why a format cannot express a rule, or not exactly. */
export const LOSS_REASONS: Readonly<Record<LossReason, string>> = {
  modifier:
    "Applies to some clients or query types only, or to everything except some names (`$denyallow` without a name before it).",
  rewrite:
    "Changes the answer instead of blocking the name, and the format, or this place in it, has no such answer. The file does not block the name, even if another rule would.",
  regex:
    "A regular expression. If it is an exception that can match below any name, it frees the names in the list; other names below a blocked name stay blocked.",
  pattern: "A wildcard, or a part of a name. Exceptions are handled like those of `regex`.",
  "not-a-name":
    "Not a name that a resolver can be queried for: an IP address, a local host name, or a name that is too long.",
  exact: "Applies to a name alone, but the format always includes the names below it.",
  below: "Applies to the names below a name, but not to the name itself.",
  excepted:
    "Blocks a name, but an exception that the format cannot express frees something below it. The name is blocked alone if the format can express that, and left out otherwise.",
  nested: "Blocks something below an exception, but in this format an exception always wins.",
  narrowed:
    "Applies to a name with everything below it, but the format has single names. The name is written, and every name below it that a source or `expand` has. Other names below it are not.",
  expanded:
    "A wildcard or a regular expression, written as the known names that it matches (`expand`). Other names that it matches are not blocked.",
  "per-domain":
    "A known name below a blocked one (`expand`), beyond the maximum for its domain (`expand.per_domain`). It is not blocked.",
  conflict:
    "One list blocks the name and another does not, but the file has one answer for it. It is not blocked for clients of both lists; if both have a rule for this very name, not for any.",
  devices:
    "Has `$client` or `$ctag` itself, which one rule cannot combine with `clients` or `tags` of the output. A block or a rewrite is left out; an exception applies to all devices of the output.",
  widened: "Written as a rule that blocks more than intended (`on_loss: widen`).",
};

const MOST_EXAMPLES = 5;

/** Counts losses by reason. */
export class Losses {
  private readonly found = new Map<LossReason, { count: number; examples: string[] }>();
  private readonly rules: Set<string> | undefined;

  /** With `rules`, a rule that several lists have counts once. */
  constructor(rules?: Set<string>) {
    this.rules = rules;
  }

  add(reason: LossReason, example: string, count = 1): void {
    const rule = this.rules && `${reason} ${example}`;
    if (rule !== undefined) {
      if (this.rules!.has(rule)) return;
      this.rules!.add(rule);
    }
    let known = this.found.get(reason);
    if (known === undefined) this.found.set(reason, (known = { count: 0, examples: [] }));
    known.count += count;
    if (known.examples.length < MOST_EXAMPLES) known.examples.push(example);
  }

  addAll(others: readonly Loss[]): void {
    for (const { reason, count, examples } of others)
      for (const [index, example] of examples.entries())
        this.add(reason, example, index === 0 ? count - examples.length + 1 : 1);
  }

  all(): Loss[] {
    return [...this.found]
      .map(([reason, { count, examples }]) => ({ reason, count, examples }))
      .toSorted((a, b) => b.count - a.count);
  }
}
