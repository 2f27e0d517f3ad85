import { parse } from "tldts";
import { Fate } from "../rules/fate.ts";
import type { ValidatorOptions } from "./acceptable-host.ts";
import { isListedSuffix } from "./public-suffix.ts";
import { withoutEnd } from "./without-end.ts";

/**
 * Judges how many names a pattern with wildcards, or without a clear end, matches. It judges the literal part like a host:
 * `||org`, `*.org` and `||**.org^` all match every name under `org`.
 */
export function judgeBreadth(pattern: string, options: ValidatorOptions, isLimited: boolean): Fate {
  const body = pattern.replace(/^(?::[:/]*|\|+)/, "");
  const end = body.search(/[\^|]/);
  const host = end === -1 ? body : body.slice(0, end);
  const hasText = /\w[^]*?\w/.test(host);
  // In `||ads.` and `||example.*`, the last literal label is not a top-level domain.
  const endsInSuffix = !/[.*]$/.test(host) || isBetweenWildcards(host);
  if (hasText && !endsInSuffix) return Fate.Live;
  const literal = host
    .replaceAll("*", "")
    .split(".")
    .filter((label) => label !== "")
    .join(".");
  const { publicSuffix, isIcann, hostname } = parse(literal);
  const isListed = isIcann === true;
  if (isListed && endsInSuffix && hostname === publicSuffix)
    return options.allowPublicSuffix || isLimited ? Fate.Live : Fate.PublicSuffix;
  return isListed || hasText ? Fate.Live : Fate.TooWide;
}

/**
 * In a browser, `||roblox.com.$all` blocks look-alikes such as `roblox.com.evil.example`. Without the modifier, a resolver
 * may read it as `roblox.com` itself.
 */
export function isBareDomainPrefix(line: string): boolean {
  const name = /^\|\|([a-z0-9_.-]+)\.$/i.exec(line.trim())?.[1];
  return name !== undefined && name.includes(".") && parse(name).isIcann === true;
}

/**
 * Whether a name, in any form, is a whole public suffix such as `com` or `co.uk`. With `isShared`, also a suffix that a
 * company shares with its users, such as `github.io`.
 */
export function isWholeSuffix(name: string, isShared = false): boolean {
  const bare = withoutEnd(name.toLowerCase().replace(/^[*.]+/, ""), ".");
  if (bare.includes("*")) return false;
  const { publicSuffix, isIcann, isPrivate, hostname } = parse(bare, {
    allowPrivateDomains: isShared,
  });
  if (hostname === null || hostname !== publicSuffix) return false;
  return isIcann === true ? isListedSuffix(hostname) : isPrivate === true;
}

/** `*.com.*` matches every name with `com` in the middle. */
function isBetweenWildcards(host: string): boolean {
  return /^\*+\./.test(host) && /\.\*+$/.test(host);
}
