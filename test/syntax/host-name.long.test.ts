import assert from "node:assert/strict";
import { test } from "node:test";
import { getDomain, parse } from "tldts";
import { isIpv4Text, isIpv6Text } from "../../src/syntax/hosts-line.ts";
import { readHost, registrableDomain } from "../../src/syntax/host-name.ts";
import { icannRules, privateRules } from "../../src/syntax/public-suffix-list.ts";
import { Suffix } from "../../src/syntax/public-suffix.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";

const ROUNDS = isNightly ? 2_000_000 : 60_000;
const LABELS = ["a", "www", "city", "x-1", "co", "com", "b2", "_dmarc", "A_b", "ö", "例", "9"];
const ODD = [
  "",
  "-",
  "-a",
  "a-",
  "a b",
  "%41",
  "*",
  "a,b",
  "x".repeat(63),
  "x".repeat(64),
  "\u007f",
];
const RULES = [...icannRules().split(" "), ...privateRules().split(" ")];
const WILDCARDS = RULES.filter((rule) => rule.startsWith("*.")).map((rule) => rule.slice(1));
/** Names in other scripts: the table has only their ASCII form. */
const SCRIPTS = ["рф", "公司.cn", "個人.hk", "ею", "한국", "ایران.ir", "unlisted-top", "localhost"];

function randomSuffix(random: Random): string {
  if (random.chance(0.1)) return random.pick(SCRIPTS);
  return random.pick(RULES).replace(/^!/, "").replace("*", random.pick(LABELS));
}

function randomHost(random: Random): string {
  if (random.chance(0.05))
    return random.pick(["1.2.3.4", "999.1.1.1", "1.2.3", "2001:db8::1", "::", "f:g::1"]);
  const above = random.times(random.below(4), () =>
    random.pick(random.chance(0.03) ? ODD : LABELS),
  );
  const name = [...above, randomSuffix(random)].join(".");
  const cased = random.chance(0.1)
    ? name.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
    : name;
  return `${random.chance(0.02) ? "." : ""}${cased}${random.chance(0.05) ? "." : ""}`;
}

/** A host as it is, or in a URL. */
function randomText(random: Random): string {
  const host = randomHost(random);
  if (random.chance(0.7)) return host;
  const inUrl = host.includes(":") ? `[${host}]` : host;
  const start = random.pick(["", "", "http://", "https://", "//", "ftp://", "foo+x://"]);
  const user = random.pick(["", "", "", "me@", "me:secret@"]);
  const port = random.pick(["", "", ":80", ":8443"]);
  return `${start}${user}${inUrl}${port}${random.pick(["", "/", "/a/b", "?q=1", "#top", "/x?y#z"])}`;
}

/** tldts follows the longer rule where a wildcard and a longer rule meet, and misses the wildcard. */
function isBelowWildcard(name: string): boolean {
  return WILDCARDS.some((rule) => `.${name}`.endsWith(rule));
}

test("a text is read as the host that tldts reads, with its public suffix", () => {
  const random = new Random(11);
  const seen = { valid: 0, invalid: 0, addresses: 0, suffixes: 0, private: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const text = randomText(random);
    const withPrivate = random.chance(0.5);
    const host = readHost(text, withPrivate);
    const theirs = parse(text, { allowPrivateDomains: withPrivate });
    const message = JSON.stringify(text);
    if (theirs.hostname === null) {
      assert.equal(host, undefined, message);
      seen.invalid++;
      continue;
    }
    if (theirs.isIp === true && !isIpv4Text(theirs.hostname) && !isIpv6Text(theirs.hostname)) {
      // Neither is an address that a rule may have.
      assert.notEqual(host?.isIp, false, message);
      continue;
    }
    assert.deepEqual([host?.hostname, host?.isIp], [theirs.hostname, theirs.isIp], message);
    if (theirs.isIp === true) {
      seen.addresses++;
      continue;
    }
    seen.valid++;
    if (withPrivate && isBelowWildcard(theirs.hostname)) continue;
    const kind =
      theirs.isIcann === true
        ? Suffix.Icann
        : theirs.isPrivate === true
          ? Suffix.Private
          : Suffix.No;
    const isSuffix = theirs.hostname === theirs.publicSuffix;
    assert.deepEqual([host?.kind, host?.isSuffix], [kind, isSuffix], message);
    if (isSuffix) seen.suffixes++;
    if (kind === Suffix.Private) seen.private++;
  }
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 500, `${what}: ${count}`);
});

test("registrable domains are those of tldts", () => {
  const random = new Random(27);
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const above = random.times(random.below(4), () => random.pick(LABELS).toLowerCase());
    const rule = random.pick(RULES).replace(/^!/, "").replace("*", "city");
    const name = [...above, random.chance(0.1) ? "unlisted-top" : rule]
      .join(".")
      .replace(/[^\u0000-\u007f]/g, "x");
    if (isBelowWildcard(name)) continue;
    const domain = registrableDomain(name);
    const options = { allowPrivateDomains: true, validateHostname: false };
    assert.equal(domain, getDomain(name, options) ?? undefined, name);
    if (domain !== undefined) found++;
  }
  assert.ok(found > ROUNDS / 2);
});
