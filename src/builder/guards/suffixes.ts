import { type Diagnostic, errorOf, warningOf } from "../../diagnostics/render.ts";
import { MOST_NAMED, countText, printable, someOf } from "../../diagnostics/text.ts";
import type { ListFindings } from "../../engine/report.ts";
import { type Guard, byFile, placesOf } from "./guard.ts";

/** A rule for one of these suffixes breaks a large part of the internet. */
const LARGEST = new Set(
  "com net org de uk co.uk cn nl ru br com.br fr eu it au com.au ca in jp co.jp".split(" "),
);

type Wide = ListFindings["wide"][number];

/** Finds rules of fully trusted sources for whole suffixes. The largest suffixes refuse the list; others yield warnings. */
export const suffixes: Guard = ({ findings, limits, last }) => {
  const { mayBlockSuffixes } = limits;
  const isMeant = ({ suffix }: Wide): boolean =>
    mayBlockSuffixes.includes("*") || (suffix !== undefined && mayBlockSuffixes.includes(suffix));
  const isRefused = ({ suffix }: Wide): boolean =>
    suffix === undefined || (last !== undefined && LARGEST.has(suffix));
  const open = findings.wide.filter((rule) => !isMeant(rule));
  return [
    ...byFile(open.filter(isRefused)).map(refusalOf),
    ...byFile(open.filter((rule) => !isRefused(rule))).map(warningFor),
  ];
};

function refusalOf(rules: readonly Wide[]): Diagnostic {
  const [{ text, suffix }] = rules as [Wide];
  const what = suffix === undefined ? "nearly every name" : `every name that ends in .${suffix}`;
  const all = rules.map((rule) => rule.text);
  const message =
    rules.length === 1
      ? `${printable(text, 80)} blocks ${what}`
      : `${countText(rules.length, "rule")} block nearly every name, or all of a large suffix`;
  const [noun, pronoun] = rules.length === 1 ? ["rule", "it"] : ["rules", "them"];
  const hint = `Remove the ${noun}, or accept ${pronoun} for good with ${acceptance(rules)}`;
  return errorOf("blocks-suffix", message, { ...placesOf(rules), all, hint });
}

function warningFor(rules: readonly Wide[]): Diagnostic {
  const names = suffixesOf(rules);
  const message = `${countText(rules.length, "rule")} ${rules.length === 1 ? "blocks" : "block"} every name of a public suffix: ${someOf(names)}`;
  const { at } = placesOf(rules);
  return warningOf("suffix-blocked", message, {
    ...(at === undefined ? {} : { at }),
    all: names,
    hint: `If this is intended, add ${acceptance(rules)}`,
  });
}

function suffixesOf(rules: readonly Wide[]): string[] {
  return [...new Set(rules.map(({ suffix }) => suffix ?? "*"))];
}

/** A setting to paste, if it is short. */
function acceptance(rules: readonly Wide[]): string {
  // Quoted, because YAML parses a bare `no` as a boolean.
  const names = suffixesOf(rules).map((name) => JSON.stringify(name));
  return names.length <= MOST_NAMED
    ? `guards: { may_block_suffixes: [${names.join(", ")}] }`
    : "guards.may_block_suffixes; --verbose shows the names";
}
