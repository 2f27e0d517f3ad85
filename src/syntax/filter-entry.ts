import { isIpv4Text, isIpv6Text } from "./ip.ts";

/** One exclusion or inclusion, as what it means. */
export type FilterEntry =
  | { readonly kind: "regex"; readonly text: string; readonly source: string }
  | { readonly kind: "wildcard"; readonly text: string }
  | { readonly kind: "plain"; readonly text: string }
  /** A rule for names. `text` is looked for too where it can only stand for the name. */
  | { readonly kind: "names"; readonly text?: string; readonly names: readonly string[] };

/** Reads an entry: `/…/`, something with `*`, a rule for names, or text. */
export function readFilterEntry(text: string): FilterEntry {
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/"))
    return { kind: "regex", text, source: text.slice(1, -1) };
  if (text.includes("*")) return { kind: "wildcard", text };
  const host = /^(?:@@)?\|\|(?<host>[^\s^|$/]+)\^$/.exec(text)?.groups?.["host"];
  if (host !== undefined) return { kind: "names", text, names: [host] };
  const [address = "", ...names] = text.split(/\s+/);
  const isHosts = names.length > 0 && (isIpv4Text(address) || isIpv6Text(address));
  // As a text, `0.0.0.0 t.co` stands in `0.0.0.0 t.com` as well.
  if (isHosts && names.every((name) => /^[^#]+$/.test(name))) return { kind: "names", names };
  return { kind: "plain", text };
}
