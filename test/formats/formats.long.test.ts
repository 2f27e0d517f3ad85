import assert from "node:assert/strict";
import { test } from "node:test";
import { OUTPUT_FORMATS } from "../../src/config/outputs.ts";
import type { LossPolicy } from "../../src/formats/format-writer.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { type WrittenFormat, writeFormat } from "../support/write-format.ts";

function write(
  format: string,
  lines: readonly string[],
  policy: LossPolicy = "skip",
  isMinimal = false,
): WrittenFormat {
  return writeFormat(format, lines, { policy, isMinimal });
}

test("a configuration accepts exactly the registered formats", () => {
  assert.deepEqual([...nameFormats.keys()], [...OUTPUT_FORMATS]);
});

test("each format has its lines", () => {
  const lines = ["||ads.example^", "@@||good.ads.example^", "|only.example^", "||*.wild.example^"];
  const said = Object.fromEntries(
    [...nameFormats.keys()].map((format) => {
      const { block, allow } = write(format, lines);
      return [format, `${block}${allow === "" ? "" : `--\n${allow}`}`];
    }),
  );
  assert.deepEqual(said, {
    adblock: "@@||good.ads.example^\n|only.example^\n||*.wild.example^\n||ads.example^\n",
    hosts: "0.0.0.0 ads.example\n0.0.0.0 only.example\n",
    domains: "ads.example\nonly.example\n",
    // What an exception is made from is not blocked where exceptions cannot be said.
    wildcard: "",
    dnsmasq:
      "address=/ads.example/\nserver=/good.ads.example/#\naddress=/*.wild.example/\naddress=/only.example/\nserver=/*.only.example/#\n",
    "dnsmasq-servers":
      "server=/ads.example/\nserver=/good.ads.example/#\nserver=/*.wild.example/\nserver=/only.example/\nserver=/*.only.example/#\n",
    unbound:
      'local-zone: "ads.example." always_nxdomain\nlocal-zone: "good.ads.example." always_transparent\nlocal-data: "only.example. A 0.0.0.0"\n',
    rpz: "ads.example CNAME .\n*.ads.example CNAME .\ngood.ads.example CNAME rpz-passthru.\n*.good.ads.example CNAME rpz-passthru.\n*.wild.example CNAME .\nonly.example CNAME .\n",
    dnscrypt: "ads.example\n=only.example\n--\ngood.ads.example\n",
    smartdns: "address /ads.example/#\naddress /good.ads.example/-\n",
    dnsdist: "ads.example\n--\ngood.ads.example\n",
    squid: ".ads.example\nonly.example\n--\n.good.ads.example\n",
    rbldnsd: ".ads.example\n!.good.ads.example\n*.wild.example\nonly.example\n",
    pihole: "||ads.example^\nonly.example\n--\n@@||good.ads.example^\n",
    blocky: "*.ads.example\nonly.example\n--\n*.good.ads.example\n",
    mihomo: "+.ads.example\n.wild.example\nonly.example\n--\n+.good.ads.example\n",
    "sing-box":
      ',"ads.example"\n,".wild.example"\n],"domain":["rules-compiler.invalid"\n,"only.example"\n--\n,"good.ads.example"\n],"domain":["rules-compiler.invalid"\n',
    // An entry for everything below a name includes the name, unless it has its own.
    cdb: "+ads.example\n-good.ads.example\n+wild.example\n!wild.example\n=only.example\n",
    json: ',{"name":"ads.example","scope":"subtree","action":"block"}\n,{"name":"good.ads.example","scope":"subtree","action":"allow"}\n,{"name":"wild.example","scope":"below","action":"block"}\n,{"name":"only.example","scope":"exact","action":"block"}\n',
  });
});

test("losses are counted, with examples", () => {
  const lines = [
    "||a.example^",
    "/ads[0-9]/",
    "||b.*.example^",
    "||c.example^$client=1.2.3.4",
    "||d.example^$dnsrewrite=1.2.3.4",
    "10.0.0.1 e.example",
    "||1.2.3.4^",
    "0.0.0.0 localhost",
    "|f.example^",
  ];
  const { losses, block } = write("smartdns", lines);
  assert.deepEqual(losses, [
    {
      reason: "rewrite",
      count: 2,
      examples: ["||d.example^$dnsrewrite=1.2.3.4", "10.0.0.1 e.example"],
    },
    { reason: "not-a-name", count: 2, examples: ["||1.2.3.4^", "0.0.0.0 localhost"] },
    { reason: "regex", count: 1, examples: ["/ads[0-9]/"] },
    { reason: "pattern", count: 1, examples: ["||b.*.example^"] },
    { reason: "modifier", count: 1, examples: ["||c.example^$client=1.2.3.4"] },
    { reason: "exact", count: 1, examples: ["f.example"] },
  ]);
  assert.equal(block, "address /a.example/#\n");
  const wide = write("smartdns", lines, "widen");
  assert.match(wide.block, /address \/f\.example\/#/);
  assert.deepEqual(
    wide.losses.find(({ reason }) => reason === "widened"),
    { reason: "widened", count: 1, examples: ["f.example"] },
  );
  assert.deepEqual(write("json", lines).losses, [], "this one says everything");
});

test("names are written as resolvers are queried for them", () => {
  const { block } = write("domains", [
    "||MÜNCHEN.example^",
    "0.0.0.0 Upper.Example.",
    "||under_score.example^",
  ]);
  assert.deepEqual(block.trim().split("\n").toSorted(), [
    "under_score.example",
    "upper.example",
    "xn--mnchen-3ya.example",
  ]);
});

test("the fast path for plain names gives the same result as the slow one", () => {
  const random = new Random(3);
  for (let round = 0; round < 200; round++) {
    const names = Array.from({ length: 30 }, () => {
      const labels = Array.from({ length: 1 + random.below(3) }, () =>
        random.pick([
          "a",
          "b-c",
          "-x",
          "y-",
          "9",
          "1a",
          "x".repeat(63),
          "x".repeat(64),
          "é",
          "A",
          "_u",
        ]),
      );
      return [...labels, random.pick(["com", "co.uk", "7", "example"])].join(".");
    });
    const lines = [...new Set(names)].map((name) => `||${name}^`);
    const fast = write("rpz", lines, "skip", true).block.split("\n");
    const slow = write("rpz", lines).block.split("\n").toSorted();
    // Names below others are left out where all are looked at.
    const missing = slow.filter((line) => !new Set(fast).has(line));
    assert.deepEqual(missing, []);
  }
});

const LABELS = ["a", "b", "c"];
const SHAPES = [
  "||%^",
  "||%^",
  "|%^",
  "%",
  "||*.%^",
  "@@||%^",
  "@@|%^",
  "||%^$important",
  "@@||%^$important",
];

/** What a file in adblock-like or listed form blocks, by the rules of its format: the most specific line wins. */
function blockedByTree(json: string, name: string): boolean {
  const rules = JSON.parse(`[${json.replace(",", "")}]`) as {
    name: string;
    scope: string;
    action: string;
  }[];
  for (let one = name; one !== ""; one = one.includes(".") ? one.slice(one.indexOf(".") + 1) : "")
    for (const rule of rules) {
      if (rule.name !== one) continue;
      const applies = one === name ? rule.scope !== "below" : rule.scope !== "exact";
      if (applies) return rule.action === "block";
    }
  return false;
}

test("random rules: the most specific name decides as the strongest rule would", () => {
  const random = new Random(11);
  const nameOf = (): string =>
    [...Array.from({ length: random.below(4) }, () => random.pick(LABELS)), "x", "example"].join(
      ".",
    );
  for (let round = 0; round < 2000; round++) {
    const lines = Array.from({ length: 1 + random.below(8) }, () =>
      random.pick(SHAPES).replace("%", nameOf()),
    );
    const { block, losses } = write("json", lines);
    assert.deepEqual(losses, []);
    const naive = new NaiveNames(lines.join("\n"));
    for (let asked = 0; asked < 20; asked++) {
      const name = nameOf();
      assert.equal(
        blockedByTree(block, name),
        naive.isBlocked(name),
        `${name} in\n${lines.join("\n")}\n${block}`,
      );
    }
  }
});

test("random rules: no format blocks what the list does not, unless widening is configured", () => {
  const random = new Random(12);
  const nameOf = (): string =>
    [...Array.from({ length: random.below(4) }, () => random.pick(LABELS)), "x", "example"].join(
      ".",
    );
  for (let round = 0; round < 1500; round++) {
    const lines = Array.from({ length: 1 + random.below(8) }, () =>
      random.pick(SHAPES).replace("%", nameOf()),
    );
    const naive = new NaiveNames(lines.join("\n"));
    const wildcards = write("wildcard", lines).block.split("\n").filter(Boolean);
    for (const line of wildcards) {
      const parent = line.slice(2);
      for (const name of [
        parent,
        ...LABELS.flatMap((a) => [`${a}.${parent}`, ...LABELS.map((b) => `${b}.${a}.${parent}`)]),
      ])
        assert.ok(naive.isBlocked(name), `${name} in\n${lines.join("\n")}`);
    }
    for (const line of write("hosts", lines).block.split("\n").filter(Boolean))
      assert.ok(naive.isBlocked(line.slice(8)), `${line} in\n${lines.join("\n")}`);
  }
});

test("names with a special meaning in policy zones, and local names, are not written", () => {
  const lines = [
    "||24.0.0.0.10.rpz-client-ip^",
    "@@||32.1.2.3.4.rpz-ip^",
    "||localhost.localdomain^",
    "||x.localhost^",
    "0.0.0.0 y.localhost",
    "||a.example^",
  ];
  for (const isMinimal of [true, false]) {
    const { block, losses } = write("rpz", lines, "skip", isMinimal);
    assert.equal(block, "a.example CNAME .\n*.a.example CNAME .\n");
    assert.deepEqual(
      losses.map(({ reason, count }) => [reason, count]),
      [["not-a-name", 5]],
    );
  }
});

test("an exception for a name alone, in a format that has only subtrees", () => {
  const { block, allow, losses } = write("dnsdist", ["||ads.example^", "@@|ads.example^"]);
  assert.deepEqual([block, allow], ["", ""]);
  assert.deepEqual(
    losses.map(({ reason }) => reason),
    ["below"],
  );
});

test("a block of the names below a name is reported as lost by formats with single names", () => {
  assert.deepEqual(
    write("hosts", ["||*.below.example^"]).losses.map(({ reason }) => reason),
    ["below"],
  );
});

test("a bare name with other text before or after it is a pattern", () => {
  const { block, losses } = write("json", [
    "||deep.sub.example^",
    "@@sub.example",
    "x.example$important",
  ]);
  assert.equal(block.match(/"name"/g)?.length, 1);
  assert.equal(block.match(/"rule"/g)?.length, 2);
  assert.deepEqual(losses, []);
});
