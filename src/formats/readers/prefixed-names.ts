import { Fate } from "../../rules/fate.ts";
import type { LineMeaning } from "./line-by-line.ts";
import { isName } from "./scoped-rule.ts";

type RuleFor = (name: string) => string;

export const subtree: RuleFor = (name) => `||${name}^`;
export const exact: RuleFor = (name) => `|${name}^`;

export const below: RuleFor = (name) => `||*.${name}^`;

/** One name per line, with a prefix that selects the scope. */
export function prefixedNames(
  prefixes: Readonly<Record<string, RuleFor>>,
  plain: RuleFor,
): LineMeaning {
  return (line) => {
    const text = line.trim().replace(/\.?(?:\s.*)?$/, "");
    const prefix = Object.keys(prefixes).find((one) => text.startsWith(one));
    const name = prefix === undefined ? text : text.slice(prefix.length);
    if (!isName(name)) return Fate.BadSyntax;
    return prefix === undefined ? plain(name) : prefixes[prefix]!(name);
  };
}

const dnscryptName = prefixedNames({ "=": exact, "*.": subtree }, subtree);

/** A name, or a pattern for whole names: `ads*.example`, `*track*`. */
export const dnscryptLine: LineMeaning = (line) => {
  const pattern = line.trim().replace(/\s.*$/, "");
  const isPattern =
    /^[^/^|$\\",@()!#[\]?=]+$/.test(pattern) && pattern.replace(/^\*\./, "").includes("*");
  if (!isPattern || !/[^*.]/.test(pattern)) return dnscryptName(line);
  return `${pattern.startsWith("*") ? "" : "|"}${pattern}${pattern.endsWith("*") ? "" : "^"}`;
};

const rbldnsdName = prefixedNames({ "*.": below, ".": subtree }, exact);

/** A `dnset`: `:…` and `$…` are settings of the zone, `!` excludes a name. */
export const rbldnsdLine: LineMeaning = (line) => {
  if (/^\s*:/.test(line) || /^\s*\$(?:SOA|NS|TTL|TIMESTAMP|MAXRANGE4|\d)\b/i.test(line))
    return Fate.Setting;
  if (!line.startsWith("!")) return rbldnsdName(line);
  const meaning = rbldnsdName(line.slice(1));
  return typeof meaning === "string" ? `@@${meaning}` : meaning;
};

const blockyName = prefixedNames({ "*.": subtree }, exact);

export const blockyLine: LineMeaning = (line) => (/^\s*\//.test(line) ? line : blockyName(line));

const mihomoName = prefixedNames({ "+.": subtree, ".": below }, exact);

/** A line of a rule provider with `behavior: domain`, as text or as YAML: `- '+.ads.example'`. */
export const mihomoLine: LineMeaning = (line) => {
  const text = line.replace(/\s#.*$/, "").trim();
  if (text === "payload:") return Fate.Setting;
  const entry = text.replace(/^-\s+(?:'([^']*)'|"([^"]*)"|(?=\S))/, "$1$2");
  return /^(?:\+?\.)?(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_.-]+$/u.test(entry)
    ? mihomoName(entry)
    : Fate.BadSyntax;
};
