import { decodeUtf8 } from "../../bytes/text.ts";
import { Fate } from "../../rules/fate.ts";
import { isIpv4Text, isIpv6Text } from "../../syntax/hosts-line.ts";

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

/**
 * Takes the meaning of a line: a rule in adblock syntax, or the line itself and the fate that explains why it is not a rule. It is
 * called once per rule of the line. `isAdblockSyntax` marks rules that the file has in adblock syntax, with its precedence.
 */
export type RowTaker = (text: string, line: number, fate?: Fate, isAdblockSyntax?: boolean) => void;

/** Reads one file of another format from start to end. Rows come in the order of their lines. */
export interface FormatReader {
  /** Takes complete lines; `line` is the number of the first one. Returns the number of the next line. */
  read(bytes: Uint8Array, line: number, take: RowTaker): number;
  /** Called before lines of an included file, or a skipped part: a held line must not wait for the next one. */
  pause(take: RowTaker): void;
  end(take: RowTaker): void;
}

/** A format of sources. */
export interface ForeignFormat {
  open(): FormatReader;
  /** The most specific name decides, so that a name below an exception can be blocked again. */
  readonly nests?: true;
  /** Its records may answer with another name or address, by which it blocks if most of them do. */
  readonly hasTargets?: true;
  /** The complete name occurs in its line, so that a text search finds it. */
  readonly hasWholeNames?: true;
}

/** Reads the lines of a file in order. It may hold a line until it has seen the next one. */
export interface LineReader {
  line(text: string, number: number, take: RowTaker): void;
  /** Emits a held line. */
  settle(take: RowTaker): void;
  /** Whether a record spans lines, so that blank lines and comments are part of it. */
  readonly isOpen?: boolean;
  /** Called at the end of the file, even within a record. */
  close?(take: RowTaker): void;
}

/** The meaning of a line that does not depend on other lines: one rule, several, or a fate. */
export type LineMeaning = (line: string) => string | readonly string[] | Fate;

export function splitLines(bytes: Uint8Array): string[] {
  const lines = decodeUtf8(bytes).split(/\r\n|\r|\n/);
  // A final line end does not start another line.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Handles blank lines and comments, which are the same in most formats. */
export class LineByLine implements FormatReader {
  private readonly reader: LineReader;
  private readonly commentStart: RegExp;

  constructor(reader: LineReader, commentStart: RegExp = /^\s*[#;!]/) {
    this.reader = reader;
    this.commentStart = commentStart;
  }

  read(bytes: Uint8Array, line: number, take: RowTaker): number {
    const lines = splitLines(bytes);
    for (const [index, text] of lines.entries()) {
      const isSilent = text.trim() === "" || this.commentStart.test(text);
      if (!isSilent || this.reader.isOpen === true) {
        this.reader.line(text, line + index, take);
        continue;
      }
      this.reader.settle(take);
      takeSilent(text, line + index, take);
    }
    return line + lines.length;
  }

  pause(take: RowTaker): void {
    this.reader.settle(take);
  }

  end(take: RowTaker): void {
    this.reader.close?.(take);
    this.reader.settle(take);
  }
}

/** Takes a blank line or a comment. The comment sign is removed: `! #` would read like a directive. */
function takeSilent(text: string, number: number, take: RowTaker): void {
  if (text.trim() === "") take("", number, Fate.Blank);
  else take(`! ${text.replace(/^[\s#;!]+/, "")}`.trimEnd(), number);
}

/** Takes the meaning of one line. */
export function takeMeaning(
  meaning: ReturnType<LineMeaning>,
  line: string,
  number: number,
  take: RowTaker,
): void {
  if (typeof meaning === "number") take(line, number, meaning);
  else if (typeof meaning === "string") take(meaning, number);
  else for (const text of meaning) take(text, number);
}

/** A reader of lines that do not depend on each other. */
export function eachLine(meaningOf: LineMeaning, commentStart?: RegExp): FormatReader {
  const reader: LineReader = {
    line: (text, number, take) => takeMeaning(meaningOf(text), text, number, take),
    settle() {},
  };
  return new LineByLine(reader, commentStart);
}

/** Addresses that block a name. */
export const SINKHOLES: RegExp = /^(?:#|0\.0\.0\.0|127(?:\.\d{1,3}){3}|::1?|)$/;

/** Characters with a meaning in adblock syntax, and other invalid parts of a name. */
const NOT_IN_NAMES = /[\s/^|*$\\",@()!#[\]]|^\.|\.\.|\.$|^$/;

export function isName(text: string): boolean {
  return !NOT_IN_NAMES.test(text);
}

/** The rule for a name and all names below it, or for the name alone. `*.name` means the names below it. */
export function scopedRule(name: string, isAllow: boolean, isExact = false): string {
  const start = isAllow ? "@@" : "";
  if (name.startsWith("*.")) return `${start}||${name}^`;
  return isExact ? `${start}|${name}^` : `${start}||${name}^`;
}

/** The name without a leading `*.`. */
export function baseOf(name: string): string {
  return name.startsWith("*.") ? name.slice(2) : name;
}

/**
 * Owners of a policy zone as queried names: without the name of the zone at the end. The SOA record has that name, or else the first
 * `$ORIGIN`; names that are relative to the zone do not need it.
 */
class ZoneNames {
  /** The origin of relative names, without a final dot; undefined means the zone, whose name may be unknown. */
  private origin: string | undefined;
  private zone: string | undefined;
  private hasStart = false;

  /** The argument of `$ORIGIN`. */
  setOrigin(text: string): void {
    this.origin = this.absolute(text);
    if (this.origin !== undefined && this.origin !== "") this.zone ??= this.origin;
  }

  /** The owner of the SOA record: the apex of the zone. */
  setStart(owner: string): void {
    if (this.hasStart) return;
    this.hasStart = true;
    const name = this.absolute(owner);
    if (name !== undefined) this.zone = name;
  }

  /** The queried name of an owner, "" for the zone itself; undefined outside of the zone. */
  nameOf(owner: string): string | undefined {
    const { origin, zone } = this;
    const isFull = owner.endsWith(".");
    if (!isFull && (origin === undefined || zone === undefined)) {
      const name = owner === "@" ? "" : owner;
      return origin === undefined || origin === "" ? name.toLowerCase() : undefined;
    }
    const name = this.absolute(owner);
    if (name === undefined || zone === undefined) return undefined;
    if (name === zone) return "";
    return zone === ""
      ? name
      : name.endsWith(`.${zone}`)
        ? name.slice(0, -zone.length - 1)
        : undefined;
  }

  /** The target of an alias as a name, without a final dot. */
  targetOf(target: string): string {
    return this.absolute(target) ?? target.toLowerCase();
  }

  private absolute(text: string): string | undefined {
    const lower = text.toLowerCase();
    if (lower === "@") return this.origin;
    if (lower.endsWith(".")) return lower.slice(0, -1);
    if (this.origin === undefined) return undefined;
    return this.origin === "" ? lower : `${lower}.${this.origin}`;
  }
}

/** A record of a zone file. */
interface ZoneRecord {
  /** Undefined if the line begins with a blank: the owner of the previous record. */
  readonly owner: string | undefined;
  readonly type: string;
  readonly data: readonly string[];
}

const TTL = /^(?:\d+[smhdw]?)+$/i;
const CLASS = /^(?:IN|CH|HS|CS)$/i;
const TYPE =
  /^(?:A|AAAA|AFSDB|CAA|CDNSKEY|CDS|CERT|CNAME|DNAME|DNSKEY|DS|HINFO|HTTPS|LOC|MX|NAPTR|NS|NSEC3?|NSEC3PARAM|OPENPGPKEY|PTR|RP|RRSIG|SOA|SPF|SRV|SSHFP|SVCB|TLSA|TXT|URI|ZONEMD|TYPE\d+)$/i;

/** The words of a line, without its comment. A quoted string is one word. */
function zoneWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/"(?:[^"\\]|\\.)*"?|;.*|[()]|(?:[^\s"();\\]|\\.)+/g)) {
    if (word.startsWith(";")) break;
    words.push(word);
  }
  return words;
}

/** Reads `owner TTL class type data`; TTL and class are optional and come in any order (RFC 1035, section 5.1). */
function zoneRecord(text: string): ZoneRecord | undefined {
  const words = zoneWords(text).filter((word) => word !== "(" && word !== ")");
  const owner = /^\s/.test(text) ? undefined : words.shift();
  while (words.length > 0 && (TTL.test(words[0]!) || CLASS.test(words[0]!))) words.shift();
  const [type, ...data] = words;
  if (type === undefined || !TYPE.test(type) || data.length === 0) return undefined;
  return { owner, type: type.toUpperCase(), data };
}

/** How many more parentheses a line opens than it closes. */
function openParentheses(line: string): number {
  if (!line.includes("(") && !line.includes(")")) return 0;
  let open = 0;
  for (const word of zoneWords(line)) open += word === "(" ? 1 : word === ")" ? -1 : 0;
  return open;
}

type RuleFor = (name: string) => string;

export const subtree: RuleFor = (name) => `||${name}^`;
export const exact: RuleFor = (name) => `|${name}^`;

export const below: RuleFor = (name) => `||*.${name}^`;

/** One name per line, with a prefix that selects the scope. */
export function prefixedNames(
  prefixes: Readonly<Record<string, RuleFor>>,
  plain: RuleFor,
): LineMeaning {
  return (line) => {
    const text = line.trim().replace(/\.?(?:\s.*)?$/, "");
    const prefix = Object.keys(prefixes).find((one) => text.startsWith(one));
    const name = prefix === undefined ? text : text.slice(prefix.length);
    if (!isName(name)) return Fate.BadSyntax;
    return prefix === undefined ? plain(name) : prefixes[prefix]!(name);
  };
}

const dnscryptName = prefixedNames({ "=": exact, "*.": subtree }, subtree);

/** A name, or a pattern for whole names: `ads*.example`, `*track*`. */
export const dnscryptLine: LineMeaning = (line) => {
  const pattern = line.trim().replace(/\s.*$/, "");
  const isPattern =
    /^[^/^|$\\",@()!#[\]?=]+$/.test(pattern) && pattern.replace(/^\*\./, "").includes("*");
  if (!isPattern || !/[^*.]/.test(pattern)) return dnscryptName(line);
  return `${pattern.startsWith("*") ? "" : "|"}${pattern}${pattern.endsWith("*") ? "" : "^"}`;
};

const rbldnsdName = prefixedNames({ "*.": below, ".": subtree }, exact);

/** A `dnset`: `:…` and `$…` are settings of the zone, `!` excludes a name. */
export const rbldnsdLine: LineMeaning = (line) => {
  if (/^\s*:/.test(line) || /^\s*\$(?:SOA|NS|TTL|TIMESTAMP|MAXRANGE4|\d)\b/i.test(line))
    return Fate.Setting;
  if (!line.startsWith("!")) return rbldnsdName(line);
  const meaning = rbldnsdName(line.slice(1));
  return typeof meaning === "string" ? `@@${meaning}` : meaning;
};

const blockyName = prefixedNames({ "*.": subtree }, exact);

export const blockyLine: LineMeaning = (line) => (/^\s*\//.test(line) ? line : blockyName(line));

const mihomoName = prefixedNames({ "+.": subtree, ".": below }, exact);

/** A line of a rule provider with `behavior: domain`, as text or as YAML: `- '+.ads.example'`. */
export const mihomoLine: LineMeaning = (line) => {
  const text = line.replace(/\s#.*$/, "").trim();
  if (text === "payload:") return Fate.Setting;
  const entry = text.replace(/^-\s+(?:'([^']*)'|"([^"]*)"|(?=\S))/, "$1$2");
  return /^(?:\+?\.)?(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_.-]+$/u.test(entry)
    ? mihomoName(entry)
    : Fate.BadSyntax;
};
