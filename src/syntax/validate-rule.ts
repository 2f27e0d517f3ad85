import { Fate } from "../rules/fate.ts";
import { type ValidatorOptions, judgeHost } from "./acceptable-host.ts";
import { type AdblockRule, type Modifier, parseAdblockRule } from "./adblock-rule.ts";
import { LABEL, PLAIN_DOMAIN, isListedName } from "./listed-name.ts";
import { type IpPattern, ipv6Of, parseIpPattern } from "./ip-pattern.ts";
import { judgeBreadth } from "./pattern-breadth.ts";
import { regexCompiles } from "./regex-rule.ts";

export type { ValidatorOptions } from "./acceptable-host.ts";

/** Modifiers that DNS resolvers support. */
const KNOWN_MODIFIERS = new Set([
  "important",
  "~important",
  "dnstype",
  "dnsrewrite",
  "ctag",
  "denyallow",
  "badfilter",
  "client",
]);

/** Modifiers that limit the clients or names that a rule affects. */
const LIMITING_MODIFIERS = new Set(["denyallow", "badfilter", "client"]);

const LABELS = `${LABEL}(?:\\.${LABEL})*`;
/** `||host^` and its variants, with only a name. */
const EXACT_DOMAIN = new RegExp(`^(?:\\|\\|?)?(?:\\*\\.|\\.)?(${LABELS})\\.?\\^\\|?$`);
/** An address with a prefix or suffix that resolvers do not support: `.1.2.3.4`, `1.2.3.4^^`. */
const ADDRESS_INSIDE = /^(?:\|\|?)?(?::\/\/|\*\.|\.)*(\d+(?:\.\d+){3})[\^|]*$/;

const MIN_LENGTH = 5;

/** Why a line, which is not a hosts line, is invalid for a resolver, or `Fate.Kept`. */
export function judgeRule(line: string, options: ValidatorOptions): Fate {
  const rule = parseAdblockRule(line);
  if (rule === undefined) return Fate.BadSyntax;
  if (!rule.modifiers.every(({ name }) => KNOWN_MODIFIERS.has(name))) return Fate.BadModifier;
  return judgePattern(rule, options);
}

function judgePattern({ pattern, modifiers }: AdblockRule, options: ValidatorOptions): Fate {
  const isLimited = modifiers.some(({ name }) => LIMITING_MODIFIERS.has(name));
  const exactHost = EXACT_DOMAIN.exec(pattern)?.[1];
  if (pattern.length < MIN_LENGTH && exactHost === undefined && !PLAIN_DOMAIN.test(pattern))
    return Fate.TooShort;
  if (pattern.startsWith("/") && pattern.endsWith("/"))
    return regexCompiles(pattern) ? Fate.Kept : Fate.BadRegex;
  if (ipv6Of(pattern) !== undefined) return judgeIpv6(modifiers, options);
  const body = pattern.startsWith("://") ? pattern.replace(/^[:/]+/, "") : pattern;
  if (!/^[a-zA-Z0-9_.*|^-]+$/.test(body)) return Fate.BadSyntax;
  if (body.includes("_") && exactHost === undefined && !isListedName(pattern))
    return Fate.BadSyntax;
  const ip = parseIpPattern(pattern);
  if (ip !== undefined && hasModifier(modifiers, "denyallow")) return Fate.BadModifier;
  if (ip !== undefined && isPartOfAddress(ip, options)) return Fate.IpAddress;
  const address = ADDRESS_INSIDE.exec(pattern)?.[1];
  if (address !== undefined) return judgeAddress(address, ip, options);
  return judgeName(pattern, exactHost, options, isLimited);
}

function judgeIpv6(modifiers: readonly Modifier[], options: ValidatorOptions): Fate {
  if (hasModifier(modifiers, "denyallow")) return Fate.BadModifier;
  return options.allowIp ? Fate.Kept : Fate.IpAddress;
}

function hasModifier(modifiers: readonly Modifier[], name: string): boolean {
  return modifiers.some((modifier) => modifier.name === name);
}

/** A partial address matches far more than it seems to; only `||1.2.3.` and `||1.2.3.*` are clear. */
function isPartOfAddress(ip: IpPattern, options: ValidatorOptions): boolean {
  const count = ip.groups.length;
  if (ip.prefix === "" && ip.isEnded && count >= 2) return true;
  if (!ip.isEnded) {
    if (count <= 2 || (count === 3 && !ip.isOpen)) return true;
    if (ip.isOpen && ip.prefix === "") return true;
  }
  if (ip.prefix === "" || (count === 4 && !ip.isOpen)) return false;
  const isSubnet = ip.prefix === "||" && count === 3 && ip.isOpen && !ip.isEnded;
  return !(options.allowIp && isSubnet);
}

function judgeAddress(address: string, ip: IpPattern | undefined, options: ValidatorOptions): Fate {
  if (address.split(".").some((octet) => Number(octet) > 255)) return Fate.BadHost;
  return options.allowIp && ip !== undefined ? Fate.Kept : Fate.IpAddress;
}

function judgeName(
  pattern: string,
  exactHost: string | undefined,
  options: ValidatorOptions,
  isLimited: boolean,
): Fate {
  const caret = pattern.indexOf("^");
  const star = pattern.indexOf("*");
  if (caret !== -1 && star > caret) return Fate.BadSyntax;
  if (exactHost !== undefined) return judgeHost(exactHost, options, isLimited);
  if (!pattern.startsWith("||") || caret === -1) return judgeBreadth(pattern, options, isLimited);
  // `||host^`, optionally followed by an end anchor or by text that can match nothing.
  const tail = pattern.slice(caret + 1);
  if (tail !== "" && !tail.startsWith("|") && (star === -1 || !/^[\^*]+\|?$/.test(tail)))
    return Fate.BadSyntax;
  const host = pattern.slice(2, caret);
  if (star !== -1) return judgeBreadth(pattern, options, isLimited);
  return judgeHost(host, options, isLimited);
}
