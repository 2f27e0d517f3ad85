import { isIpv4Text, isIpv6Text } from "./ip.ts";

/** One exclusion or inclusion, as what it means. */
export type FilterEntry =
  | { readonly kind: "regex"; readonly text: string; readonly source: string }
  | { readonly kind: "wildcard"; readonly text: string }
  | { readonly kind: "plain"; readonly text: string; readonly host?: string };

/** Reads an entry: `/…/`, something with `*`, or text; where the text is a rule for one name, that name too. */
export function readFilterEntry(text: string): FilterEntry {
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/"))
    return { kind: "regex", text, source: text.slice(1, -1) };
  if (text.includes("*")) return { kind: "wildcard", text };
  const host = hostOfRule(text);
  return host === undefined ? { kind: "plain", text } : { kind: "plain", text, host };
}

/** The name in `||name^`, `@@||name^` or `0.0.0.0 name`. */
function hostOfRule(text: string): string | undefined {
  const adblock = /^(?:@@)?\|\|([^\s^|$/]+)\^$/.exec(text);
  if (adblock !== null) return adblock[1]!.toLowerCase();
  const hosts = /^([0-9a-fA-F.:]+)\s+([^\s#]+)$/.exec(text);
  if (hosts === null || !(isIpv4Text(hosts[1]!) || isIpv6Text(hosts[1]!))) return undefined;
  return hosts[2]!.toLowerCase();
}
