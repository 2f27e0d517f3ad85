import { Fate } from "../rules/fate.ts";
import type { ValidatorOptions } from "./acceptable-host.ts";
import { readHost } from "./host-name.ts";
import { asciiLabels } from "./idna.ts";
import { patternParts } from "./name-pattern.ts";
import { Suffix, isListedSuffix } from "./public-suffix.ts";
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
  if (hasText && !endsInSuffix) return Fate.Kept;
  const literal = host
    .replaceAll("*", "")
    .split(".")
    .filter((label) => label !== "")
    .join(".");
  const name = readHost(literal);
  const isListed = name?.kind === Suffix.Icann;
  if (isListed && endsInSuffix && name.isSuffix)
    return options.allowPublicSuffix || isLimited ? Fate.Kept : Fate.PublicSuffix;
  return isListed || hasText ? Fate.Kept : Fate.TooWide;
}

/**
 * In a browser, `||roblox.com.$all` blocks look-alikes such as `roblox.com.evil.example`. Without the modifier, a resolver
 * may read it as `roblox.com` itself.
 */
export function isBareDomainPrefix(line: string): boolean {
  const read = patternParts(line.trim());
  const [text = "", ...more] = read?.parts ?? [];
  if (read?.startsAtLabel !== true || read.endsName || more.length > 0) return false;
  const name = text.endsWith(".") ? text.slice(0, -1) : "";
  return name.includes(".") && readHost(name)?.kind === Suffix.Icann;
}

/**
 * Whether a name, in any form, is a whole public suffix such as `com` or `co.uk`. With `isShared`, also a suffix that a
 * company shares with its users, such as `github.io`.
 */
export function isWholeSuffix(name: string, isShared = false): boolean {
  const bare = withoutEnd(name.toLowerCase().replace(/^[*.]+/, ""), ".");
  if (bare.includes("*")) return false;
  const host = readHost(bare, isShared);
  if (host?.isSuffix !== true) return false;
  if (host.kind === Suffix.Private) return true;
  return host.kind === Suffix.Icann && isListedSuffix(asciiLabels(host.hostname));
}

/** `*.com.*` matches every name with `com` in the middle. */
function isBetweenWildcards(host: string): boolean {
  return /^\*+\./.test(host) && /\.\*+$/.test(host);
}
