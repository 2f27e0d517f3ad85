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

/** dnsmasq needs two lines to block a name alone: one blocks the name, one forwards the names below it. */
export class DnsmasqLines implements LineReader {
  /** A line for one name, which the next line may limit. */
  private held: { line: string; number: number; parsed: NameLine } | undefined;

  line(line: string, number: number, take: RowTaker): void {
    const parsed = nameLine(line);
    const { held } = this;
    if (parsed !== undefined && held !== undefined && isForward(parsed, held.parsed.names[0]!)) {
      this.held = undefined;
      takeMeaning(meaningOf(held.parsed, true), held.line, held.number, take);
      take(line, number, Fate.Joined);
      return;
    }
    this.settle(take);
    if (parsed === undefined) take(line, number, otherLineFate(line));
    else if (parsed.names.length === 1 && isSinkhole(parsed)) this.held = { line, number, parsed };
    else takeMeaning(meaningOf(parsed, false), line, number, take);
  }

  settle(take: RowTaker): void {
    const { held } = this;
    if (held === undefined) return;
    this.held = undefined;
    takeMeaning(meaningOf(held.parsed, false), held.line, held.number, take);
  }
}

function otherLineFate(line: string): Fate {
  if (OTHER_FILE.test(line)) return Fate.NotFollowed;
  if (/^\s*(?:address|server|local)=\//.test(line)) return Fate.BadSyntax;
  return SETTING.test(line) ? Fate.Setting : Fate.BadSyntax;
}

/** Whether a line forwards everything below a name to the default servers. */
function isForward({ word, names, rest }: NameLine, parent: string): boolean {
  return word === "server" && rest === "#" && names.length === 1 && names[0] === `*.${parent}`;
}

function isSinkhole({ word, rest }: NameLine): boolean {
  return word === "address" ? SINKHOLES.test(rest) : rest === "";
}

function meaningOf(parsed: NameLine, isExact: boolean): readonly string[] | Fate {
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
