import assert from "node:assert/strict";
import { test } from "node:test";
import { RuleIndex } from "../../src/meaning/rule-index.ts";
import { readRule } from "../../src/meaning/rule.ts";
import { decide } from "../../src/meaning/verdict.ts";

/** The verdict for a name, and the rule that decides. */
function verdictOf(name: string, rules: readonly string[]): string {
  const index = new RuleIndex();
  for (const [row, text] of rules.entries()) {
    if (index.cancel(text)) continue;
    const rule = readRule(text);
    if (rule !== undefined) index.add({ ...rule, row });
  }
  const { verdict, by } = decide(index.matching(name));
  return by === undefined ? verdict : `${verdict} by ${by.text}`;
}

const A = "||a.com^";
for (const [name, rules, expected] of [
  ["a.com", [A], `blocked by ${A}`],
  ["b.a.com", [A], `blocked by ${A}`],
  ["ba.com", [A], "neither"],
  ["a.com", [A, "@@||a.com^"], "allowed by @@||a.com^"],
  ["a.com", [`${A}$important`, "@@||a.com^"], `blocked by ${A}$important`],
  ["a.com", [`${A}$important`, "@@||a.com^$important"], "allowed by @@||a.com^$important"],
  // $denyallow excludes names from a rule or an exception.
  ["x.a.com", [`${A}$denyallow=x.a.com`], "neither"],
  ["y.a.com", [`${A}$denyallow=x.a.com`], `blocked by ${A}$denyallow=x.a.com`],
  ["a.com", [A, "@@||a.com^$denyallow=x.a.com"], "allowed by @@||a.com^$denyallow=x.a.com"],
  ["x.a.com", [A, "@@||a.com^$denyallow=x.a.com"], `blocked by ${A}`],
  ["a.com", [`${A}$denyallow=~x.a.com`], "neither"],
  // A rewrite comes first, and only an exception with $dnsrewrite cancels it.
  ["a.com", [`${A}$dnsrewrite=1.2.3.4`, "@@||a.com^"], `rewritten by ${A}$dnsrewrite=1.2.3.4`],
  ["a.com", [`${A}$dnsrewrite=1.2.3.4`, "@@||a.com^$dnsrewrite"], "neither"],
  ["a.com", [A, `${A}$dnsrewrite=1.2.3.4`, "@@||a.com^$dnsrewrite"], `blocked by ${A}`],
  ["a.com", [`${A}$dnsrewrite=1.2.3.4`, "@@||a.com^$dnsrewrite=1.2.3.4"], "neither"],
  // Two spellings of one answer.
  ["a.com", [`${A}$dnsrewrite=NOERROR;A;1.2.3.4`, "@@||a.com^$dnsrewrite=1.2.3.4"], "neither"],
  ["a.com", [`${A}$dnsrewrite=b.com`, "@@||a.com^$dnsrewrite=noerror;cname;b.com"], "neither"],
  ["a.com", [`${A}$dnsrewrite=NXDOMAIN;;`, "@@||a.com^$dnsrewrite=NXDOMAIN"], "neither"],
  [
    "a.com",
    [`${A}$dnsrewrite=1.2.3.4`, "@@||a.com^$dnsrewrite=5.6.7.8"],
    `rewritten by ${A}$dnsrewrite=1.2.3.4`,
  ],
  [
    "a.com",
    [`${A}$dnsrewrite=1.2.3.4,important`, "@@||a.com^$dnsrewrite"],
    `rewritten by ${A}$dnsrewrite=1.2.3.4,important`,
  ],
  ["a.com", [`${A}$dnsrewrite=1.2.3.4,important`, "@@||a.com^$dnsrewrite,important"], "neither"],
  // $badfilter ignores the order of the modifiers.
  ["a.com", [A, `${A}$badfilter`], "neither"],
  [
    "a.com",
    [`${A}$important,denyallow=b.com`, `${A}$denyallow=b.com,badfilter,important`],
    "neither",
  ],
  ["a.com", [`${A}$important`, `${A}$badfilter`], `blocked by ${A}$important`],
  // A rule for some clients or query types does not decide for the others.
  ["a.com", [`${A}$client=1.2.3.4`], "neither"],
  ["a.com", [A, "@@||a.com^$dnstype=AAAA"], `blocked by ${A}`],
  // A rule with an unknown modifier matches nothing.
  ["a.com", [`${A}$third-party`], "neither"],
  ["a.com", [`${A}$important\\,dnsrewrite=1.2.3.4`], "neither"],
  // Patterns, expressions and non-ASCII names.
  ["a.com", ["|a.com^"], "blocked by |a.com^"],
  ["b.a.com", ["|a.com^"], "neither"],
  ["b.a.com", ["||*.a.com^", "@@||b.*^"], "allowed by @@||b.*^"],
  ["ads1.a.com", ["/^ads[0-9]\\./"], "blocked by /^ads[0-9]\\./"],
  ["xn--bcher-kva.de", ["||bücher.de^"], "blocked by ||bücher.de^"],
  ["xn--bcher-kva.de", ["||*.de^$denyallow=bücher.de"], "neither"],
] as const)
  test(`${name}: ${rules.join("  ")} → ${expected}`, () => {
    assert.equal(verdictOf(name, rules), expected);
  });
