import assert from "node:assert/strict";
import { test } from "node:test";
import dnsPacket, { type Packet } from "dns-packet";
import * as fc from "fast-check";
import { type Asked, MAX_ANSWER_BYTES, dnsCodec } from "../../src/resolvers/dns-client.ts";
import { propertyRuns } from "../support/property.ts";

const codec = await dnsCodec();
const ASKED: Asked = { id: 0x1234, name: "ads.example.org", type: "A" };

function answer(more: Packet, flags = 0x0180): Buffer {
  return dnsPacket.encode({
    type: "response",
    id: ASKED.id,
    flags,
    questions: [{ type: "A", name: ASKED.name, class: "IN" }],
    ...more,
  });
}

const SOA = {
  type: "SOA" as const,
  name: "Example.org",
  ttl: 60,
  data: { mname: "a", rname: "b", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 },
};
const VALID = answer({
  answers: [
    { type: "CNAME", name: ASKED.name, ttl: 1, data: "x.example.net" },
    { type: "A", name: "x.example.net", ttl: 1, data: "192.0.2.1" },
  ],
  authorities: [SOA],
  additionals: [
    SOA,
    {
      type: "OPT",
      name: ".",
      udpPayloadSize: 1232,
      extendedRcode: 0,
      ednsVersion: 0,
      flags: 0,
      flag_do: false,
      options: [{ code: 15 as 12, length: 3, data: Buffer.from([0, 17, 97]) }],
    },
  ],
});

test("questions carry the id, ask for recursion, and do not ask for validation", () => {
  const packet = dnsPacket.decode(Buffer.from(codec.bytesOf(ASKED)));
  assert.equal(packet.id, ASKED.id);
  assert.equal(packet.flag_rd, true);
  assert.deepEqual(packet.questions, [{ name: ASKED.name, type: "A", class: "IN" }]);
  const [option] = packet.additionals as readonly { type: string; flag_do?: boolean }[];
  assert.equal(option?.type, "OPT");
  assert.equal(option.flag_do, false);
});

test("an answer is read with everything that shows a policy", () => {
  assert.deepEqual(codec.read(VALID, ASKED), {
    rcode: "NOERROR",
    isAuthoritative: false,
    isTruncated: false,
    addresses: ["192.0.2.1"],
    aliases: new Map([["ads.example.org", "x.example.net"]]),
    hasOthers: true,
    soa: "example.org",
    policySoa: "example.org",
    errors: [{ code: 17, text: "a" }],
  });
  const upper = Buffer.from(VALID);
  upper.write("ADS", 13);
  assert.ok(codec.read(upper, ASKED) !== undefined, "letters of a name may have either case");
});

test("answers with another id, question, type or kind are rejected", () => {
  assert.equal(codec.read(VALID, { ...ASKED, id: 1 }), undefined);
  assert.equal(codec.read(VALID, { ...ASKED, name: "example.org" }), undefined);
  assert.equal(codec.read(VALID, { ...ASKED, type: "AAAA" }), undefined);
  assert.equal(codec.read(codec.bytesOf(ASKED), ASKED), undefined, "a question is no answer");
  assert.equal(codec.read(answer({}, 0x2980), ASKED), undefined, "another kind of operation");
  assert.equal(codec.read(answer({ questions: [] }), ASKED), undefined);
  const twice = [ASKED.name, ASKED.name].map((name) => ({ type: "A" as const, name }));
  assert.equal(codec.read(answer({ questions: twice }), ASKED), undefined);
});

test("a truncated answer is recognised wherever its records end", () => {
  const cut = Buffer.from(VALID);
  cut[2]! |= 0x02;
  const end = 12 + ASKED.name.length + 2 + 4;
  for (let length = end; length <= cut.length; length++)
    assert.equal(codec.read(cut.subarray(0, length), ASKED)?.isTruncated, true, String(length));
});

test("pointer loops and long chains of pointers cost nothing", () => {
  const head = answer({});
  head.writeUInt16BE(4000, 6);
  const began = performance.now();
  for (const shape of ["self", "forward", "chain", "pair"]) {
    const bytes = Buffer.alloc(MAX_ANSWER_BYTES);
    head.copy(bytes);
    for (let at = head.length; at + 2 <= bytes.length; at += 2) {
      const to =
        shape === "self" ? at : shape === "forward" ? at + 2 : shape === "pair" ? at ^ 2 : at - 2;
      bytes.writeUInt16BE(0xc000 | (to & 0x3fff), at);
    }
    codec.read(bytes, ASKED);
  }
  assert.ok(performance.now() - began < 1000);
  assert.equal(codec.read(Buffer.alloc(MAX_ANSWER_BYTES + 1), ASKED), undefined);
});

test("no bytes make it throw, and none are taken for the answer to another question", () => {
  const anyBytes = fc.uint8Array({ maxLength: 300 });
  const withHead = anyBytes.map((tail) => Buffer.concat([answer({}).subarray(0, 33), tail]));
  const mutated = fc
    .array(fc.tuple(fc.nat(VALID.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
    .map((changes) => {
      const bytes = Buffer.from(VALID);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
  const cut = fc.nat(VALID.length).map((length) => VALID.subarray(0, length));
  const seen = { taken: 0, rejected: 0 };
  fc.assert(
    fc.property(fc.oneof(anyBytes, withHead, mutated, cut), (bytes) => {
      const read = codec.read(bytes, ASKED);
      seen[read === undefined ? "rejected" : "taken"]++;
      if (read === undefined) return;
      const view = Buffer.from(bytes);
      assert.equal(view.readUInt16BE(0), ASKED.id);
      const name = view.subarray(12, 12 + ASKED.name.length + 2).toString("latin1");
      assert.equal(name.toLowerCase(), "\u0003ads\u0007example\u0003org\u0000");
      for (const address of read.addresses) assert.match(address, /^[\da-f.:]+$/);
    }),
    propertyRuns(20_000),
  );
  assert.ok(seen.taken > 500 && seen.rejected > 500, JSON.stringify(seen));
});
