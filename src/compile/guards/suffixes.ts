import { type Diagnostic, errorOf, warningOf } from "../../diagnostics/diagnostic.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import type { Guard } from "./guard.ts";

/** A rule for one of these breaks a large part of the internet. */
const LARGEST = new Set(
  "com net org de uk co.uk cn nl ru br com.br fr eu it au com.au ca in jp co.jp".split(" "),
);

/** Rules of fully trusted sources for whole suffixes: warned about, and refused for the largest and for everything. */
export const suffixes: Guard = {
  check({ findings, limits, last }) {
    const { mayBlockSuffixes } = limits;
    const isMeant = (suffix: string | undefined): boolean =>
      mayBlockSuffixes.includes("*") || (suffix !== undefined && mayBlockSuffixes.includes(suffix));
    const open = findings.wide.filter(({ suffix }) => !isMeant(suffix));
    const isRefused = ({ suffix }: { suffix: string | undefined }): boolean =>
      suffix === undefined || (last !== undefined && LARGEST.has(suffix));
    const told: Diagnostic[] = open.filter(isRefused).map(({ text, suffix, at }) =>
      errorOf(
        "blocks-suffix",
        suffix === undefined
          ? `${printable(text, 80)} blocks nearly every name`
          : `${printable(text, 80)} blocks every name that ends in .${suffix}`,
        {
          ...(at === undefined ? {} : { at }),
          hint: `Remove the rule, or accept it for good with guards: { may_block_suffixes: ["${suffix ?? "*"}"] }`,
        },
      ),
    );
    const rest = open.filter((one) => !isRefused(one));
    const [first] = rest;
    if (first === undefined) return told;
    const names = [...new Set(rest.map(({ suffix }) => suffix!))];
    const message = `${countText(rest.length, "rule")} ${rest.length === 1 ? "blocks" : "block"} every name of a public suffix: ${someOf(names)}`;
    const hint = `If that is meant, add guards: { may_block_suffixes: [${someOf(names)}] }`;
    const at = first.at === undefined ? {} : { at: first.at };
    return [...told, warningOf("suffix-blocked", message, { ...at, hint })];
  },
};
