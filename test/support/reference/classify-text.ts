import { isIPv4, isIPv6 } from "node:net";

/**
 * What a line is, read from its text with regular expressions: the slow twin of `syntax/classify.ts`. It follows the
 * written description of the line classes and shares no code with the fast one.
 */
export interface LineClass {
  readonly kind: "blank" | "comment" | "hosts" | "domain" | "block" | "rule";
  /** Names of a hosts line, or the one host of another. */
  readonly hosts: readonly string[];
}

export function classifyText(line: string, hashComments: boolean): LineClass {
  if (line.trim() === "") return { kind: "blank", hosts: [] };
  if (line.startsWith("!") || line.startsWith("# ") || line === "#" || line.startsWith("####"))
    return { kind: "comment", hosts: [] };
  if (hashComments && line.startsWith("#")) return { kind: "comment", hosts: [] };
  const names = hostsNames(line);
  if (names !== undefined) return { kind: "hosts", hosts: names };
  if (isDomain(line)) return { kind: "domain", hosts: [line] };
  const block = /^\|\|([a-zA-Z0-9.-]+)\^(?:\$,*)?$/.exec(line.trim());
  return block === null ? { kind: "rule", hosts: [] } : { kind: "block", hosts: [block[1]!] };
}

function hostsNames(line: string): string[] | undefined {
  const match = /^(\S+)\s([^#]+)(?:#[^]*)?$/.exec(line);
  if (match === null || !isAddress(match[1]!)) return undefined;
  return match[2]!.split(/\s+/).filter((name) => name !== "");
}

function isAddress(token: string): boolean {
  const bare = /^\[.*\]$/.test(token) ? token.slice(1, -1) : token;
  const [address = "", zone] = bare.split("%");
  if (zone !== undefined && !/^[a-zA-Z0-9]+$/.test(zone)) return false;
  if (zone === undefined && bare === token && isIPv4(address.replace(/(^|\.)0+(?=\d)/g, "$1")))
    return /^[\d.]{7,15}$/.test(address);
  return isIPv6(address);
}

function isDomain(line: string): boolean {
  if (line.length > 255 || !line.includes(".") || !/^[a-zA-Z0-9.-]+$/.test(line)) return false;
  return line
    .replace(/\.$/, "")
    .split(".")
    .every((label) => /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/.test(label));
}
