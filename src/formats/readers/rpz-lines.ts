import { Fate } from "../../rules/fate.ts";
import { isIpv4Text, isIpv6Text } from "../../syntax/ip.ts";
import type { RowTaker } from "./foreign-reader.ts";
import { type LineReader, takeSilent } from "./line-by-line.ts";
import { SINKHOLES, baseOf, isName, scopedRule } from "./scoped-rule.ts";
import { ZoneNames } from "./zone-names.ts";
import { openParentheses, zoneRecord, zoneWords } from "./zone-record.ts";

/** The policy of a record for a name. */
interface Policy {
  readonly name: string;
  readonly isAllow: boolean;
  /** Whether it is a CNAME record; addresses need two records, one for each family. */
  readonly isAlias: boolean;
  /** The answer instead, if it neither blocks nor allows: a name or an address. */
  readonly target?: string;
}

interface PolicyLine extends Policy {
  readonly line: string;
  readonly number: number;
}

/** A record in parentheses may span lines, but not the whole file. */
const LONGEST_RECORD = 65_536;

/** Records of a response policy zone. A name with its subtree needs two records, which become one rule. */
export class RpzLines implements LineReader {
  private readonly names = new ZoneNames();
  /** For records without an owner; the full name, because `$ORIGIN` may change in between. */
  private lastName: string | undefined;
  /** A record for a name, which the next one may repeat for the names below it. */
  private held: PolicyLine | undefined;
  /** The previous policy, which the next record may repeat. */
  private last: Policy | undefined;
  /** The lines of a record whose parentheses are open. */
  private open: { lines: string[]; number: number; size: number; depth: number } | undefined;

  line(line: string, number: number, take: RowTaker): void {
    const { open } = this;
    if (open === undefined) {
      const depth = openParentheses(line);
      if (depth <= 0) this.record(line, line, number, take);
      else this.open = { lines: [line], number, size: line.length, depth };
      return;
    }
    open.lines.push(line);
    open.size += line.length;
    open.depth += openParentheses(line);
    if (open.depth <= 0) this.closeRecord(true, take);
    else if (open.size > LONGEST_RECORD) this.closeRecord(false, take);
  }

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  close(take: RowTaker): void {
    this.closeRecord(false, take);
  }

  settle(take: RowTaker): void {
    const { held } = this;
    if (held === undefined) return;
    this.held = undefined;
    take(ruleOf(held, true), held.number);
  }

  private closeRecord(isWhole: boolean, take: RowTaker): void {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    const [first = "", ...more] = open.lines;
    const words = open.lines.flatMap(zoneWords).join(" ");
    if (isWhole) this.record(/^\s/.test(first) ? ` ${words}` : words, first, open.number, take);
    else {
      this.settle(take);
      take(first, open.number, Fate.BadSyntax);
    }
    this.settle(take);
    for (const [index, line] of more.entries()) {
      const number = open.number + 1 + index;
      if (/^\s*(?:;|$)/.test(line)) takeSilent(line, number, take);
      else take(line, number, isWhole ? Fate.Joined : Fate.BadSyntax);
    }
  }

  /** `text` is the complete record, `line` its first line. */
  private record(text: string, line: string, number: number, take: RowTaker): void {
    const policy = text.startsWith("$") ? this.directive(text) : this.policyOf(text);
    const { held, last } = this;
    this.last = typeof policy === "number" ? undefined : policy;
    if (typeof policy === "number") {
      this.settle(take);
      take(line, number, policy);
      return;
    }
    const { name, isAlias } = policy;
    if (last?.name === name && isSame(last, policy)) {
      this.settle(take);
      take(line, number, Fate.Joined);
      return;
    }
    if (held !== undefined && isAlias && name === `*.${held.name}` && isSame(held, policy)) {
      this.held = undefined;
      take(ruleOf(held, false), held.number);
      take(line, number, Fate.Joined);
      return;
    }
    this.settle(take);
    if (isAlias && !name.startsWith("*.")) this.held = { ...policy, line, number };
    else take(ruleOf(policy, true), number);
  }

  private directive(text: string): Fate {
    const [word = "", argument] = zoneWords(text);
    switch (word.toUpperCase()) {
      case "$ORIGIN":
        if (argument === undefined) return Fate.BadSyntax;
        this.names.setOrigin(argument);
        return Fate.Setting;
      case "$TTL":
        return Fate.Setting;
      case "$INCLUDE":
        return Fate.NotFollowed;
      default:
        return Fate.BadSyntax;
    }
  }

  private policyOf(text: string): Policy | Fate {
    const record = zoneRecord(text);
    if (record === undefined) return Fate.BadSyntax;
    const { owner, type, data } = record;
    if (type === "SOA" && owner !== undefined) this.names.setStart(owner);
    const name = owner === undefined ? this.lastName : this.names.nameOf(owner);
    this.lastName = name;
    if (name === undefined) return Fate.BadSyntax;
    if (name === "") return Fate.Setting;
    // Triggers other than names: client and response addresses, name servers.
    if (/(?:^|\.)rpz-[a-z-]+$/.test(name)) return Fate.Trigger;
    const isAlias = type === "CNAME";
    if (!isAlias && type !== "A" && type !== "AAAA") return Fate.Setting;
    const target = data[0]!.toLowerCase();
    const isAllow = isAlias && target === "rpz-passthru.";
    const isBlock = isAlias ? /^(?:\*?\.|rpz-drop\.)$/.test(target) : SINKHOLES.test(target);
    const answer = isAllow || isBlock ? undefined : this.answerOf(type, target);
    if (!isAllow && !isBlock && answer === undefined) return Fate.Setting;
    if (name === "*") return Fate.TooWide;
    if (!isName(baseOf(name))) return Fate.BadHost;
    return { name, isAllow, isAlias, ...(answer !== undefined && { target: answer }) };
  }

  /** The name or address of a record that changes the answer. Undefined for another policy, or a name that depends on the question. */
  private answerOf(type: string, target: string): string | undefined {
    if (type === "A") return isIpv4Text(target) ? target : undefined;
    if (type === "AAAA") return isIpv6Text(target) ? target : undefined;
    const name = this.names.targetOf(target);
    return /(?:^|\.)rpz-[a-z-]+$/.test(name) || !TARGET.test(name) ? undefined : name;
  }
}

const TARGET = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;

function isSame(one: Policy, other: Policy): boolean {
  return one.isAllow === other.isAllow && one.target === other.target;
}

function ruleOf({ name, isAllow, target }: Policy, isExact: boolean): string {
  const rule = scopedRule(name, isAllow, isExact);
  return target === undefined ? rule : `${rule}$dnsrewrite=${target}`;
}
