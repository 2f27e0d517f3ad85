import { isIpv6Text } from "./ip.ts";

/** The pattern of a rule for an address or a part of one: `||1.2.3.4^`, `1.2.3.`, `|1.2.*`. */
export interface IpPattern {
  readonly prefix: "" | "|" | "||";
  /** `^`, `^|` or `|` at the end: the pattern ends where the address ends. */
  readonly isEnded: boolean;
  readonly groups: readonly string[];
  /** A final `.` or `.*` after the groups. */
  readonly isOpen: boolean;
  readonly hasWildcard: boolean;
}

const IP_PATTERN = /^(\|\|?)?(\d{1,3}(?:\.\d{1,3}){0,3})(\.)?(\.\*)?(\^\|?|\|)?$/;

export function parseIpPattern(pattern: string): IpPattern | undefined {
  const match = IP_PATTERN.exec(pattern);
  if (match === null) return undefined;
  const groups = match[2]!.split(".");
  if (groups.some((group) => Number(group) > 255)) return undefined;
  return {
    prefix: (match[1] ?? "") as IpPattern["prefix"],
    isEnded: match[5] !== undefined,
    groups,
    isOpen: match[3] !== undefined || match[4] !== undefined,
    hasWildcard: match[4] !== undefined,
  };
}

/** The form of an address pattern that resolvers match as a whole, or undefined if the pattern is not an address. */
export function normaliseIpPattern(pattern: string): string | undefined {
  const ip = parseIpPattern(pattern);
  if (ip === undefined) {
    const v6 = ipv6Of(pattern);
    return v6 === undefined ? undefined : `||${v6}^`;
  }
  const address = ip.groups.join(".");
  if (ip.groups.length === 4 && !ip.isOpen) return `||${address}^`;
  if (ip.groups.length === 3 && ip.isOpen && !ip.isEnded && ip.prefix !== "||")
    return `||${address}.${ip.hasWildcard ? "*" : ""}`;
  return undefined;
}

/** The IPv6 address in a pattern, without its anchors. */
export function ipv6Of(pattern: string): string | undefined {
  const text = pattern.replace(/^\|\|?/, "").replace(/(?:\^\|?|\|)$/, "");
  return text.includes(":") && isIpv6Text(text) ? text : undefined;
}
