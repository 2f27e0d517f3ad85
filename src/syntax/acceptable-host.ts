import { parse } from "tldts";
import { Fate } from "../rules/fate.ts";
import { isIpv4Text, isIpv6Text } from "./ip.ts";

export interface ValidatorOptions {
  readonly allowIp: boolean;
  readonly allowPublicSuffix: boolean;
}

/**
 * Why a rule must not name this host, or `Fate.Live`. `isLimited` means that modifiers narrow the rule, which makes a
 * public suffix acceptable. Slower than `publicSuffixKind`, but accepts any text in place of a host.
 */
export function judgeHost(text: string, options: ValidatorOptions, isLimited: boolean): Fate {
  const { hostname, isIp, publicSuffix, isIcann } = parse(text);
  if (hostname === null || !/[a-z0-9]/i.test(hostname)) return Fate.BadHost;
  if (isIp === true) {
    if (!isIpv4Text(hostname) && !isIpv6Text(hostname)) return Fate.BadHost;
    return options.allowIp ? Fate.Live : Fate.IpAddress;
  }
  if (hostname !== publicSuffix || isLimited) return Fate.Live;
  return options.allowPublicSuffix && isIcann === true ? Fate.Live : Fate.PublicSuffix;
}
