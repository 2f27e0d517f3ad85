import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { AnswerKinds, type NamedAnswer } from "../../src/resolvers/resolver-check.ts";
import type { DnsAnswer } from "../../src/resolvers/dns-client.ts";
import { propertyRuns } from "../support/property.ts";

const SUFFIX = "canary.rules-compiler.example";
const CANARY = `b-0123456789ab.${SUFFIX}`;

function answer(more: Partial<DnsAnswer> = {}): DnsAnswer {
  return {
    rcode: "NXDOMAIN",
    isAuthoritative: false,
    isTruncated: false,
    addresses: [],
    hasOthers: false,
    soa: ".",
    policySoa: undefined,
    errors: [],
    ...more,
  };
}

function kindsFor(...controls: DnsAnswer[]): AnswerKinds {
  const kinds = new AnswerKinds();
  for (const [index, one] of controls.entries())
    kinds.addControl({ name: `c-${index}.${SUFFIX}`, answer: one });
  return kinds;
}

const canary = (more: Partial<DnsAnswer>): NamedAnswer => ({ name: CANARY, answer: answer(more) });
const listed = (more: Partial<DnsAnswer>): NamedAnswer => ({
  name: "ads.site.org",
  answer: answer(more),
});

/** How real resolvers answered for a blocked name, each with the answer for a name that does not exist. */
const REAL: Readonly<Record<string, Partial<DnsAnswer>>> = {
  BIND: { soa: undefined, policySoa: "rpz.local" },
  unbound: { soa: undefined, isAuthoritative: true },
  "Knot Resolver": { soa: CANARY, isAuthoritative: true, errors: [{ code: 15, text: "CR36" }] },
  "PowerDNS Recursor, dnsdist, dnsmasq": { soa: undefined },
  "dnsmasq with hosts": { rcode: "NOERROR", addresses: ["0.0.0.0"], soa: undefined },
  "null over IPv6": { rcode: "NOERROR", addresses: ["::"], soa: undefined },
  refused: { rcode: "REFUSED", soa: undefined },
  "a page": { rcode: "NOERROR", addresses: ["192.0.2.99"], soa: undefined },
};

test("blocked answers of real resolvers differ from those for names that do not exist", () => {
  for (const [name, blocked] of Object.entries(REAL)) {
    const kinds = kindsFor(answer(), answer());
    assert.equal(kinds.isPolicy(canary(blocked), false), true, name);
    const own = blocked.soa === CANARY ? { ...blocked, soa: "ads.site.org" } : blocked;
    assert.equal(kinds.kindOf(listed(own)), "blocked", name);
    assert.equal(kinds.kindOf(listed({ rcode: "NOERROR", addresses: ["192.0.2.1"] })), "passed");
    assert.equal(kinds.kindOf(listed({ soa: "site.org" })), "absent", name);
    assert.equal(kinds.kindOf(listed({ rcode: "NOERROR", soa: "site.org" })), "absent", name);
    assert.equal(kinds.kindOf(listed({ rcode: "SERVFAIL", soa: undefined })), "failed", name);
  }
});

test("smartdns puts the name itself into every negative answer", () => {
  const kinds = kindsFor(answer({ soa: `c-0.${SUFFIX}` }), answer({ soa: `c-1.${SUFFIX}` }));
  assert.equal(kinds.isPolicy(canary({ soa: CANARY }), false), false);
  assert.equal(kinds.isPolicy(canary({ soa: CANARY, rcode: "NOERROR" }), false), true);
  assert.equal(kinds.kindOf(listed({ soa: "ads.site.org" })), "absent");
  assert.equal(kinds.kindOf(listed({ soa: "ads.site.org", rcode: "NOERROR" })), "blocked");
});

test("a resolver that refuses or fails proves nothing by that", () => {
  for (const rcode of ["REFUSED", "SERVFAIL", "NOTIMP"]) {
    const kinds = kindsFor(answer({ rcode, soa: undefined }), answer({ rcode, soa: undefined }));
    assert.equal(kinds.failure, rcode);
    assert.equal(kinds.isPolicy(canary({ rcode, soa: undefined }), true), false);
    assert.equal(kinds.kindOf(listed({ rcode, soa: undefined })), "failed");
    assert.equal(kinds.isPolicy(canary({}), false), false, "it may be cached");
    assert.equal(kinds.isPolicy(canary({ soa: undefined }), false), false, "it may be cached");
    assert.equal(kinds.isPolicy(canary({ soa: undefined }), true), true);
    assert.equal(kinds.isPolicy(canary({ addresses: ["0.0.0.0"] }), false), true);
  }
});

const anyAnswer: fc.Arbitrary<DnsAnswer> = fc.record({
  rcode: fc.constantFrom("NOERROR", "NXDOMAIN", "SERVFAIL", "REFUSED", "RCODE_23"),
  isAuthoritative: fc.boolean(),
  isTruncated: fc.boolean(),
  addresses: fc.array(fc.constantFrom("0.0.0.0", "::", "192.0.2.1", "127.0.0.1"), { maxLength: 2 }),
  hasOthers: fc.boolean(),
  soa: fc.constantFrom(undefined, ".", "example", CANARY, "rpz.local"),
  policySoa: fc.constantFrom(undefined, "rpz.local"),
  errors: fc.array(fc.record({ code: fc.constantFrom(0, 3, 15, 22), text: fc.string() }), {
    maxLength: 2,
  }),
});

test("whatever a resolver says for all unknown names alike, it is not taken for a block of the canary", () => {
  // One answer from elsewhere and one from its cache; the canary gets either.
  fc.assert(
    fc.property(
      anyAnswer,
      anyAnswer,
      fc.boolean(),
      fc.boolean(),
      (fresh, cached, isCached, isNew) => {
        const own = (name: string, one: DnsAnswer): DnsAnswer =>
          one.soa === CANARY ? { ...one, soa: name } : one;
        const kinds = new AnswerKinds();
        for (const [index, one] of [fresh, cached, fresh].entries()) {
          const name = `c-${index}.${SUFFIX}`;
          kinds.addControl({ name, answer: own(name, one) });
        }
        const asked = { name: CANARY, answer: isCached ? cached : fresh };
        assert.equal(kinds.isPolicy(asked, isNew), false);
      },
    ),
    propertyRuns(3000),
  );
});
