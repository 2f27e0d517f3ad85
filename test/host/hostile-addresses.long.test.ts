import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "../../src/host/network.ts";
import { Random } from "../support/random.ts";
import { isNightly } from "../support/nightly.ts";

/** Written in every form that a DNS answer or an address may have. */
const PRIVATE = [
  "64:ff9b:1::808:808",
  "64:ff9b:1:a00:0:100:808:808",
  "64:ff9b:1:7f00:0:100::",
  "64:ff9b:2::1",
  "100::1",
  "100:0:0:1::1",
  "100:0:0:1:2:3:4:5",
  "200::1",
  "2ff:ffff::1",
  "300::1",
  "3ff:ffff::1",
  "400::1",
  "1fff:ffff::1",
  "3ffe::1",
  "3ffe:ffff:ffff::1",
  "3fff::1",
  "3fff:fff::1",
  "4000::1",
  "5f00::1",
  "8000::1",
  "dfff::1",
  "e000::1",
  "2001::1",
  "2001:1::1",
  "2001:20::1",
  "2001:1ff::1",
  "2001:db8::1",
  "2002:a00:1::",
  "2002:c0a8:1::1",
  "::ffff:10.0.0.1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::10.0.0.1",
  "fe80::1%eth0",
  "fec0::1",
  "fd00::1",
  "ff0e::1",
];

const PUBLIC = [
  "2001:200::1",
  "2001:4860:4860::8888",
  "2003::1",
  "2400:cb00::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001:81b::200e",
  "2c0f:f248::1",
  "3ffd:ffff::1",
  "3fff:1000::1",
  "64:ff9b::101:101",
  "2002:101:101::",
  "::ffff:1.1.1.1",
];

test("no special IPv6 address counts as public", () => {
  for (const address of PRIVATE) assert.equal(isPublicAddress(address), false, address);
});

test("addresses of real list servers count as public", () => {
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address);
});

test("outside 2000::/3, only addresses with an embedded public IPv4 address count as public", () => {
  const draw = new Random(7);
  const rounds = isNightly ? 500_000 : 5000;
  for (let round = 0; round < rounds; round++) {
    const groups = Array.from({ length: 8 }, () => draw.below(65_536));
    const text = groups.map((group) => group.toString(16)).join(":");
    const isUnicast = groups[0]! >> 13 === 1;
    if (!isUnicast) assert.equal(isPublicAddress(text), false, text);
  }
});
