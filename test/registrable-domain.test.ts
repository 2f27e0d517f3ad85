import assert from "node:assert/strict";
import { test } from "node:test";
import { getDomain } from "tldts";
import { encodeUtf8 } from "../src/bytes/utf8.ts";
import { ICANN_RULES } from "../src/syntax/public-suffix-list.ts";
import { registrableStart } from "../src/syntax/registrable-domain.ts";
import { Random } from "./support/random.ts";

function domainOf(name: string): string | null {
  const bytes = encodeUtf8(`..${name}..`);
  const start = registrableStart(bytes, 2, bytes.length - 2);
  return start === -1 ? null : name.slice(start - 2);
}

test("registrableStart() finds the registrable domains that tldts finds", () => {
  const random = new Random(27);
  const rules = ICANN_RULES.split(" ");
  const exceptions = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
  const labels = ["a", "www", "city", "x-1", "co", "com", "b2"];
  let deep = 0;
  for (let round = 0; round < 20_000; round++) {
    const rule = random.pick(rules).replace(/^!/, "").replace("*", random.pick(labels));
    const suffix = round % 10 === 0 ? "unknown-top" : round % 3 === 0 ? "com" : rule;
    const above = Array.from({ length: random.below(4) }, () => random.pick(labels));
    const name = [...above, suffix].join(".");
    // See the comment of the function.
    if (exceptions.some((one) => name === one || name.endsWith(`.${one}`))) continue;
    if (suffix.split(".").length > 1) deep++;
    assert.equal(domainOf(name), getDomain(name, { validateHostname: false }), name);
  }
  assert.ok(deep > 3000);
});
