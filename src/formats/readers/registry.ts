import { DECISIONS_TYPE, decisionRule, readDecision } from "../../config/decisions.ts";
import { Fate } from "../../rules/fate.ts";
import { isJavaScript } from "../../syntax/regex-rule.ts";
import { JsonEntries, type JsonTaker, takeTokens } from "./json-entries.ts";
import {
  type FormatReader,
  type ForeignFormat,
  LineByLine,
  type LineMeaning,
  type LineReader,
  type RowTaker,
  RpzLines,
  SINKHOLES,
  baseOf,
  below,
  blockyLine,
  dnscryptLine,
  eachLine,
  exact,
  isName,
  mihomoLine,
  prefixedNames,
  rbldnsdLine,
  scopedRule,
  subtree,
  takeMeaning,
} from "./rpz-lines.ts";

const ADDRESS = /^\s*address\s+\/(?<name>[^/\s]+)\/(?<rest>\S*)\s*(?:#\s.*)?$/;

const smartdnsLine: LineMeaning = (line) => {
  const { name, rest } = ADDRESS.exec(line)?.groups ?? {};
  if (name === undefined || rest === undefined) {
    if (/^\s*(?:conf-file|domain-set|ip-set)\s/.test(line)) return Fate.NotFollowed;
    const isSetting = /^\s*[a-z][a-z0-9-]*\s+\S/.test(line) && !/^\s*address\s/.test(line);
    return isSetting ? Fate.Setting : Fate.BadSyntax;
  }
  if (!isName(baseOf(name))) return Fate.BadSyntax;
  if (rest === "-") return scopedRule(name, true);
  // Any other address changes the answer.
  return SINKHOLES.test(rest) ? scopedRule(name, false) : Fate.Setting;
};

const ZONE = /^\s*local-zone:\s*"?(?<name>[^\s"]+?)\.?"?\s+"?(?<kind>[a-z_]+)"?\s*(?:#.*)?$/;
const DATA =
  /^\s*local-data:\s*["'](?<name>[^\s"']+?)\.?\s+(?:\d+\s+)?(?:IN\s+)?(?:A|AAAA)\s+(?<address>[^\s"']+)\s*["']/i;
const BLOCKING_ZONES =
  /^(?:static|deny|refuse|redirect|inform_deny|inform_redirect|always_(?:nxdomain|null|nodata|refuse|deny))$/;
const OTHER_FILE = /^\s*include(?:-toplevel)?:/;
const SETTING = /^\s*[a-z][a-z0-9-]*:/;

/** `local-zone` blocks or allows a name with its subtree; `local-data` blocks only with a sinkhole address. */
const unboundLine: LineMeaning = (line) => {
  const { name, kind } = ZONE.exec(line)?.groups ?? {};
  if (name !== undefined && kind !== undefined) {
    if (!isName(name)) return Fate.BadSyntax;
    if (kind.endsWith("transparent")) return scopedRule(name, true);
    return BLOCKING_ZONES.test(kind) ? scopedRule(name, false) : Fate.Setting;
  }
  const data = DATA.exec(line)?.groups;
  if (data !== undefined && SINKHOLES.test(data["address"]!))
    return isName(data["name"]!) ? `0.0.0.0 ${data["name"]}` : Fate.BadSyntax;
  if (OTHER_FILE.test(line)) return Fate.NotFollowed;
  if (/^\s*local-zone:/.test(line)) return Fate.BadSyntax;
  return SETTING.test(line) ? Fate.Setting : Fate.BadSyntax;
};

function named(meaning: LineMeaning, commentStart?: RegExp): ForeignFormat {
  return { open: () => eachLine(meaning, commentStart), hasWholeNames: true };
}

function nested(format: ForeignFormat): ForeignFormat {
  return { ...format, nests: true };
}

const dnsmasq: ForeignFormat = nested({
  open: () => new LineByLine(new DnsmasqLines()),
  hasWholeNames: true,
});

/** The formats that need a reader, by the `type` of a source. */
export const foreignFormats: ReadonlyMap<string, ForeignFormat> = new Map<string, ForeignFormat>([
  ["wildcard", named(prefixedNames({ "*.": subtree }, exact))],
  ["dnsmasq", dnsmasq],
  ["dnsmasq-servers", dnsmasq],
  ["unbound", nested(named(unboundLine))],
  ["rpz", nested({ open: () => new LineByLine(new RpzLines(), /^\s*;/), hasTargets: true })],
  ["dnscrypt", named(dnscryptLine)],
  ["smartdns", nested(named(smartdnsLine))],
  ["dnsdist", named(prefixedNames({}, subtree))],
  ["squid", named(prefixedNames({ ".": subtree }, exact))],
  ["rbldnsd", nested(named(rbldnsdLine, /^\s*[#;]/))],
  ["blocky", named(blockyLine)],
  ["mihomo", named(mihomoLine)],
  ["sing-box", { open: () => new SingBoxNames(), hasWholeNames: true }],
  ["json", nested({ open: () => new JsonEntries() })],
  // Not for configurations: the file of decisions beside one.
  [DECISIONS_TYPE, named(decisionMeaning, /^\s*#/)],
]);

function decisionMeaning(line: string): string | Fate {
  const read = readDecision(line);
  return "problem" in read ? Fate.BadSyntax : decisionRule(read);
}

/** `address=/name/…`, `server=/name/…`, `local=/name/`, with one name or several. */
interface NameLine {
  readonly word: string;
  readonly names: readonly string[];
  readonly rest: string;
}

const NAME_LINE =
  /^\s*(?<word>address|server|local)=\/(?<names>[^\s]+)\/(?<rest>[^\s/]*)\s*(?:#.*)?$/;
const DNSMASQ_FILE = /^\s*(?:conf-file|conf-dir|servers-file|addn-hosts|hostsdir|dhcp-hostsfile)=/;
const DNSMASQ_SETTING = /^\s*[a-z][a-z0-9-]*(?:=|\s*(?:#|$))/;

function nameLine(line: string): NameLine | undefined {
  const { word, names, rest } = NAME_LINE.exec(line)?.groups ?? {};
  return word === undefined ? undefined : { word, names: names!.split("/"), rest: rest! };
}

/** dnsmasq needs two lines to block a name alone: one blocks the name, one forwards the names below it. */
class DnsmasqLines implements LineReader {
  /** A line for one name, which the next line may limit. */
  private held: { line: string; number: number; parsed: NameLine } | undefined;

  line(line: string, number: number, take: RowTaker): void {
    const parsed = nameLine(line);
    const { held } = this;
    if (parsed !== undefined && held !== undefined && isForward(parsed, held.parsed.names[0]!)) {
      this.held = undefined;
      takeMeaning(dnsmasqMeaning(held.parsed, true), held.line, held.number, take);
      take(line, number, Fate.Joined);
      return;
    }
    this.settle(take);
    if (parsed === undefined) take(line, number, otherLineFate(line));
    else if (parsed.names.length === 1 && isSinkhole(parsed)) this.held = { line, number, parsed };
    else takeMeaning(dnsmasqMeaning(parsed, false), line, number, take);
  }

  settle(take: RowTaker): void {
    const { held } = this;
    if (held === undefined) return;
    this.held = undefined;
    takeMeaning(dnsmasqMeaning(held.parsed, false), held.line, held.number, take);
  }
}

function otherLineFate(line: string): Fate {
  if (DNSMASQ_FILE.test(line)) return Fate.NotFollowed;
  if (/^\s*(?:address|server|local)=\//.test(line)) return Fate.BadSyntax;
  return DNSMASQ_SETTING.test(line) ? Fate.Setting : Fate.BadSyntax;
}

/** Whether a line forwards everything below a name to the default servers. */
function isForward({ word, names, rest }: NameLine, parent: string): boolean {
  return word === "server" && rest === "#" && names.length === 1 && names[0] === `*.${parent}`;
}

function isSinkhole({ word, rest }: NameLine): boolean {
  return word === "address" ? SINKHOLES.test(rest) : rest === "";
}

function dnsmasqMeaning(parsed: NameLine, isExact: boolean): readonly string[] | Fate {
  const { word, names, rest } = parsed;
  if (!names.every((name) => isName(baseOf(name)))) return Fate.BadSyntax;
  if (isSinkhole(parsed)) return names.map((name) => scopedRule(name, false, isExact));
  if (word === "address")
    return /^[0-9a-f.:]+$/i.test(rest)
      ? names.map((name) => `||${name}^$dnsrewrite=${rest}`)
      : Fate.BadSyntax;
  // Forwarding to the default servers is an exception; to another server, it is unrelated to blocking.
  return rest === "#" ? names.map((name) => scopedRule(name, true)) : Fate.Setting;
}

const DEEPEST = 64;
/** The text of a row that is not a rule. It is not used. */
const NO_TEXT = "-";

/** Conditions of which one must apply. A rule with any other condition blocks less than the names in it. */
const NAMED = new Set(["domain", "domain_suffix", "domain_keyword", "domain_regex"]);
/** Values that do not change the meaning of a rule. */
const NEUTRAL: Readonly<Record<string, string>> = { invert: "false", type: "default" };

/** Frames around the fields of a rule: the document, its `rules` and the rule. */
const IN_RULE = 3;
const IN_VALUES = 4;

interface RuleFrame {
  readonly isArray: boolean;
  /** The key that the next value belongs to. */
  key: string | undefined;
}

/** A rule that is still open: another condition may follow the names. */
interface OpenRule {
  readonly line: number;
  /** Of each row, a character for its fate, and its text; of each line end, one of the following. */
  readonly rows: HeldRows;
  hasOtherConditions: boolean;
}

const LINE_END = "";
const BLANK_LINE_END = " ";
const BAD_JSON = "!";
/** The character for the first fate. */
const FIRST_FATE = 0x40;

/**
 * Reads a rule-set of sing-box in source format, in any layout: the names and expressions of rules without other conditions. Rules
 * that combine or invert conditions are settings. A line without names has a row too.
 */
class SingBoxNames implements FormatReader, JsonTaker {
  private take!: RowTaker;
  private frames: RuleFrame[] = [];
  private rule: OpenRule | undefined;
  private line = 1;
  /** The first line that has no row yet. */
  private next = 1;
  private isBlank = true;

  read(bytes: Uint8Array, line: number, take: RowTaker): number {
    this.take = take;
    // Lines that were skipped in between have rows already.
    if (line > this.line) this.next = line;
    this.line = line;
    takeTokens(bytes, this);
    return this.line;
  }

  pause(take: RowTaker): void {
    this.take = take;
    this.release(false);
  }

  end(take: RowTaker): void {
    this.pause(take);
    this.fill(this.line, Fate.Setting);
  }

  text(value: string): void {
    const frame = this.frames.at(-1);
    this.isBlank = false;
    if (frame?.isArray === false && frame.key === undefined) frame.key = value;
    else this.value(value, true);
  }

  literal(text: string): void {
    this.isBlank = false;
    this.value(text, false);
  }

  sign(sign: string): void {
    this.isBlank = false;
    if (sign === "{" || sign === "[") this.openFrame(sign === "[");
    else if (sign === "}" || sign === "]") this.closeFrame(sign === "]");
  }

  bad(): void {
    // An invalid value does not hide a condition.
    if (this.rule !== undefined && this.frames.length !== IN_VALUES)
      this.rule.hasOtherConditions = true;
    if (this.rule === undefined) this.row(NO_TEXT, this.line, Fate.BadSyntax);
    else this.rule.rows.add(BAD_JSON);
  }

  lineEnd(): void {
    if (this.rule === undefined) this.fill(this.line + 1, this.isBlank ? Fate.Blank : Fate.Setting);
    else this.rule.rows.add(this.isBlank ? BLANK_LINE_END : LINE_END);
    this.isBlank = true;
    this.line++;
  }

  private openFrame(isArray: boolean): void {
    const { frames } = this;
    if (frames.length >= DEEPEST) {
      this.bad();
      return;
    }
    const isInRules =
      frames.length === IN_RULE - 1 && frames[0]!.key === "rules" && frames[1]!.isArray;
    const isValues = isArray && frames.length === IN_RULE && NAMED.has(frames.at(-1)!.key ?? "");
    if (this.rule !== undefined && !isValues) this.rule.hasOtherConditions = true;
    else if (isInRules && !isArray)
      this.rule = { line: this.line, rows: new HeldRows(), hasOtherConditions: false };
    frames.push({ isArray, key: undefined });
  }

  private closeFrame(isArray: boolean): void {
    const frame = this.frames.at(-1);
    // A bracket without an opening one ends a document whose start could not be read.
    if (frame === undefined) return;
    const isWhole = frame.isArray === isArray && frame.key === undefined;
    if (!isWhole) this.bad();
    if (!isWhole && this.rule !== undefined) this.rule.hasOtherConditions = true;
    this.frames.pop();
    if (this.frames.length < IN_RULE) this.release(true);
    const outer = this.frames.at(-1);
    if (outer !== undefined) outer.key = undefined;
  }

  /** A value that is neither an object nor an array. */
  private value(value: string, isText: boolean): void {
    const { frames, rule } = this;
    const frame = frames.at(-1);
    const key = frames[IN_RULE - 1]?.key;
    if (frame?.isArray === false) frame.key = undefined;
    // Deeper values belong to a condition that is known already.
    if (rule === undefined || frames.length > IN_VALUES) return;
    if (key === undefined || !NAMED.has(key)) {
      if (key === undefined || NEUTRAL[key] !== value) rule.hasOtherConditions = true;
      return;
    }
    const [text, fate] = isText ? meaningOf(key, value) : [NO_TEXT, Fate.BadSyntax];
    if (fate !== Fate.Blank) rule.rows.add(String.fromCharCode(FIRST_FATE + fate) + text);
  }

  /** Ends a rule, and takes its rows. The end of the file may come before the end of the rule. */
  private release(isWhole: boolean): void {
    const { rule } = this;
    this.rule = undefined;
    if (rule === undefined) return;
    let { line } = rule;
    for (const row of rule.rows.all())
      if (row === LINE_END || row === BLANK_LINE_END)
        this.fill(++line, row === LINE_END ? Fate.Setting : Fate.Blank);
      else if (row === BAD_JSON) this.row(NO_TEXT, line, Fate.BadSyntax);
      else if (!rule.hasOtherConditions) {
        const fate = (row.charCodeAt(0) - FIRST_FATE) as Fate;
        if (isWhole) this.row(row.slice(1), line, fate);
        else this.row(NO_TEXT, line, Fate.BadSyntax);
      }
  }

  private row(text: string, line: number, fate: Fate): void {
    this.fill(line, Fate.Setting);
    this.take(text, line, fate);
    this.next = Math.max(this.next, line + 1);
  }

  /** Adds a row for every line before `end` that has none. */
  private fill(end: number, fate: Fate): void {
    for (; this.next < end; this.next++)
      this.take(fate === Fate.Blank ? "" : NO_TEXT, this.next, fate);
  }
}

/** The rule for a value of a condition, or why it has none; `Blank` for a name that cannot exist. */
function meaningOf(key: string, value: string): readonly [text: string, fate: Fate] {
  const bad = [NO_TEXT, Fate.BadSyntax] as const;
  if (key === "domain_keyword") return bad;
  if (key === "domain_regex") {
    // No name has these characters, and a slash would end the expression.
    if (value === "" || /[\u0000-\u001f\u007f/]/.test(value)) return bad;
    return isJavaScript(value) ? [`/${value}/`, Fate.Kept] : [NO_TEXT, Fate.BadRegex];
  }
  const isBelow = key === "domain_suffix" && value.startsWith(".");
  const name = (isBelow ? value.slice(1) : value).toLowerCase();
  if (!isName(name)) return bad;
  if (name.endsWith(".invalid")) return [NO_TEXT, Fate.Blank];
  return [(key === "domain" ? exact : isBelow ? below : subtree)(name), Fate.Kept];
}

/** So many rows become one string, which takes less memory than separate ones. */
const BLOCK_ROWS = 1024;

/** Keeps short texts without line feeds, in order, in about as many bytes as they have characters. */
class HeldRows {
  private readonly blocks: string[] = [];
  private last: string[] = [];

  add(row: string): void {
    this.last.push(row);
    if (this.last.length < BLOCK_ROWS) return;
    this.blocks.push(this.last.join("\n"));
    this.last = [];
  }

  *all(): Generator<string> {
    for (const block of this.blocks) yield* block.split("\n");
    yield* this.last;
  }
}
