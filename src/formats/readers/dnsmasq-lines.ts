import { Fate } from "../../rules/fate.ts";
import type { RowTaker } from "./foreign-reader.ts";
import { type LineReader, takeMeaning } from "./line-by-line.ts";
import { SINKHOLES, baseOf, isName, scopedRule } from "./scoped-rule.ts";

/** `address=/name/…`, `server=/name/…`, `local=/name/`, with one name or several. */
interface NameLine {
  readonly word: string;
  readonly names: readonly string[];
  readonly rest: string;
}

const NAME_LINE =
  /^\s*(?<word>address|server|local)=\/(?<names>[^\s]+)\/(?<rest>[^\s/]*)\s*(?:#.*)?$/;
const OTHER_FILE = /^\s*(?:conf-file|conf-dir|servers-file|addn-hosts|hostsdir|dhcp-hostsfile)=/;
const SETTING = /^\s*[a-z][a-z0-9-]*(?:=|\s*(?:#|$))/;

function nameLine(line: string): NameLine | undefined {
  const { word, names, rest } = NAME_LINE.exec(line)?.groups ?? {};
  return word === undefined ? undefined : { word, names: names!.split("/"), rest: rest! };
}

/** dnsmasq says that a name alone is blocked in two lines: it is blocked, and what is below it is sent on. */
export class DnsmasqLines implements LineReader {
  /** A line for one name, which the next may add to. */
  private held: { line: string; number: number; own: NameLine } | undefined;

  line(line: string, number: number, take: RowTaker): void {
    const own = nameLine(line);
    const { held } = this;
    if (own !== undefined && held !== undefined && isSentOn(own, held.own.names[0]!)) {
      this.held = undefined;
      takeMeaning(meaningOf(held.own, true), held.line, held.number, take);
      take(line, number, Fate.Joined);
      return;
    }
    this.settle(take);
    if (own === undefined) take(line, number, fateOf(line));
    else if (own.names.length === 1 && isBlock(own)) this.held = { line, number, own };
    else takeMeaning(meaningOf(own, false), line, number, take);
  }

  settle(take: RowTaker): void {
    const { held } = this;
    if (held === undefined) return;
    this.held = undefined;
    takeMeaning(meaningOf(held.own, false), held.line, held.number, take);
  }
}

function fateOf(line: string): Fate {
  if (OTHER_FILE.test(line)) return Fate.NotFollowed;
  if (/^\s*(?:address|server|local)=\//.test(line)) return Fate.BadSyntax;
  return SETTING.test(line) ? Fate.Setting : Fate.BadSyntax;
}

/** Whether a line sends everything below a name on to the usual servers. */
function isSentOn({ word, names, rest }: NameLine, parent: string): boolean {
  return word === "server" && rest === "#" && names.length === 1 && names[0] === `*.${parent}`;
}

function isBlock({ word, rest }: NameLine): boolean {
  return word === "address" ? SINKHOLES.test(rest) : rest === "";
}

function meaningOf(own: NameLine, isExact: boolean): readonly string[] | Fate {
  const { word, names, rest } = own;
  if (!names.every((name) => isName(baseOf(name)))) return Fate.BadSyntax;
  if (isBlock(own)) return names.map((name) => scopedRule(name, false, isExact));
  if (word === "address")
    return /^[0-9a-f.:]+$/i.test(rest)
      ? names.map((name) => `||${name}^$dnsrewrite=${rest}`)
      : Fate.BadSyntax;
  // To the usual servers: an exception. To another: not a matter of blocking.
  return rest === "#" ? names.map((name) => scopedRule(name, true)) : Fate.Setting;
}
