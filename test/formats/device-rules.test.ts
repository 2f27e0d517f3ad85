import assert from "node:assert/strict";
import { test } from "node:test";
import { rulesFor } from "../../src/formats/device-rules.ts";

const TABLET = { clients: ["Kids' tablet", "10.0.0.0/8"], tags: [] };
const CHILD = { clients: [], tags: ["user_child"] };
const BOTH = { clients: ["10.0.0.1"], tags: ["user_child", "device_tv"] };
const NAME = String.raw`'Kids\' tablet'`;

for (const [line, devices, expected, isExact = true] of [
  ["||a.example^", TABLET, `||a.example^$client=${NAME}|10.0.0.0/8`],
  ["@@||a.example^$important", CHILD, "@@||a.example^$important,ctag=user_child"],
  ["a.example", CHILD, "|a.example^$ctag=user_child"],
  ["0.0.0.0 a.example b.example", CHILD, "|a.example^$ctag=user_child|b.example^$ctag=user_child"],
  ["10.1.1.1 nas.example", CHILD, "|nas.example^$dnsrewrite=10.1.1.1,ctag=user_child"],
  ["/ad$/", CHILD, "/ad$/$ctag=user_child"],
  ["||a.example^$badfilter", CHILD, ""],
  ["||cancelled.example^", CHILD, ""],
  // Values of the rule and of the file: those that both have.
  [
    "||a.example^$client=10.0.0.1|11.0.0.1",
    { clients: ["10.0.0.0/8"], tags: [] },
    "||a.example^$client=10.0.0.1",
  ],
  [
    "||a.example^$client=0.0.0.0/0|~10.0.0.2",
    BOTH,
    "||a.example^$client=10.0.0.1|~10.0.0.2,ctag=user_child|device_tv",
  ],
  [
    "||a.example^$client=fd00::1",
    { clients: ["fd00::/16"], tags: [] },
    "||a.example^$client=fd00::1",
  ],
  ["||a.example^$client=12.0.0.1", { clients: ["10.0.0.0/8"], tags: [] }, ""],
  ['||a.example^$client="Kids\' tablet"', TABLET, `||a.example^$client=${NAME}`],
  ["||a.example^$ctag=device_tv", BOTH, "||a.example^$client=10.0.0.1,ctag=device_tv"],
  ["||a.example^$ctag=~os_ios", CHILD, "||a.example^$ctag=user_child|~os_ios"],
  ["||a.example^$client=other", TABLET, "", false],
  [
    "@@||a.example^$client=other",
    { clients: ["10.0.0.1"], tags: [] },
    "@@||a.example^$client=10.0.0.1",
    false,
  ],
  ["||a.example^$ctag=os_ios", CHILD, "", false],
] as const)
  test(`${line} for ${JSON.stringify(devices)}`, () => {
    const found = rulesFor(line, devices, (key) => key === "||cancelled.example^");
    assert.deepEqual(
      { text: found.rules.join(""), isExact: found.isExact },
      { text: expected, isExact },
    );
  });
