import { parseAdblockRule } from "./adblock-rule.ts";
import { isIpv4Text, isIpv6Text } from "./ip.ts";

/** The meaning of one exclusion or inclusion. */
export type FilterEntry =
  | { readonly kind: "regex"; readonly text: string; readonly source: string }
  | { readonly kind: "wildcard"; readonly text: string }
  | { readonly kind: "plain"; readonly text: string }
  /** A rule for names. If `text` is set, it can only mean the name, so lines are searched for it too. */
  | { readonly kind: "names"; readonly text?: string; readonly names: readonly string[] };

/** Parses an entry: `/…/`, a text with `*`, a rule for names, or plain text. */
export function readFilterEntry(text: string): FilterEntry {
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/"))
    return { kind: "regex", text, source: text.slice(1, -1) };
  if (text.includes("*")) return { kind: "wildcard", text };
  const rule = parseAdblockRule(text);
  const pattern = rule?.modifiers.length === 0 ? rule.pattern : "";
  const host = pattern.startsWith("||") && pattern.endsWith("^") ? pattern.slice(2, -1) : "";
  if (/^[^\s^|$/]+$/.test(host)) return { kind: "names", text, names: [host] };
  const [address = "", ...names] = text.split(/\s+/);
  const isHosts = names.length > 0 && (isIpv4Text(address) || isIpv6Text(address));
  // A text search for `0.0.0.0 t.co` would also find `0.0.0.0 t.com`.
  if (isHosts && names.every((name) => /^[^#]+$/.test(name))) return { kind: "names", names };
  return { kind: "plain", text };
}
