import { Fate } from "../rules/fate.ts";
import { readHost } from "./host-name.ts";
import { isIpv4Text, isIpv6Text } from "./ip.ts";
import { Suffix } from "./public-suffix.ts";

export interface ValidatorOptions {
  readonly allowIp: boolean;
  readonly allowPublicSuffix: boolean;
}

/**
 * Why a rule must not name this host, or `Fate.Kept`. `isLimited` means that modifiers narrow the rule, which makes a
 * public suffix acceptable. Slower than `publicSuffixKind`, but accepts any text in place of a host.
 */
export function judgeHost(text: string, options: ValidatorOptions, isLimited: boolean): Fate {
  const host = readHost(text);
  if (host === undefined || !/[a-z0-9]/.test(host.hostname)) return Fate.BadHost;
  const { hostname, isIp, isSuffix, kind } = host;
  if (isIp) {
    if (!isIpv4Text(hostname) && !isIpv6Text(hostname)) return Fate.BadHost;
    return options.allowIp ? Fate.Kept : Fate.IpAddress;
  }
  if (!isSuffix || isLimited) return Fate.Kept;
  return options.allowPublicSuffix && kind === Suffix.Icann ? Fate.Kept : Fate.PublicSuffix;
}
