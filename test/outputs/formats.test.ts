import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMAT_NAMES } from "../../src/config/output-fields.ts";
import { ByteBuffer } from "../../src/bytes/byte-buffer.ts";
import { ArtifactWriter, type LossPolicy } from "../../src/formats/artifact-writer.ts";
import { ListModel } from "../../src/formats/list-model.ts";
import type { Loss } from "../../src/formats/losses.ts";
import { NameSpool } from "../../src/formats/name-spool.ts";
import { DEFAULT_OPTIONS } from "../../src/formats/name-format.ts";
import { nameFormats } from "../../src/formats/registry.ts";
import { memoryHost } from "../../src/index.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";

interface Written {
  readonly block: string;
  readonly allow: string;
  readonly losses: readonly Loss[];
  readonly names: number;
}

function text(buffer: ByteBuffer): string {
  return new TextDecoder().decode(buffer.view());
}

function write(
  format: string,
  lines: readonly string[],
  policy: LossPolicy = "skip",
  isMinimal = false,
): Written {
  const spool = new NameSpool(() => memoryHost({ files: {} }).openScratch());
  spool.take(new TextEncoder().encode(lines.map((line) => `\n${line}`).join("")), 0);
  const files = { block: new ByteBuffer(), allow: new ByteBuffer() };
  const writer = new ArtifactWriter(nameFormats.get(format)!, DEFAULT_OPTIONS, policy, {
    block: (bytes) => void files.block.append(bytes, 0, bytes.length),
    allow: (bytes) => void files.allow.append(bytes, 0, bytes.length),
  });
  writer.write(new ListModel(spool, isMinimal));
  return {
    block: text(files.block),
    allow: text(files.allow),
    losses: writer.losses.all(),
    names: writer.names,
  };
}

test("a configuration can name every format, and no other", () => {
  assert.deepEqual([...nameFormats.keys()], [...FORMAT_NAMES]);
});

test("how each format says it", () => {
  const lines = ["||ads.example^", "@@||good.ads.example^", "|only.example^", "||*.wild.example^"];
  const said = Object.fromEntries(
    [...nameFormats.keys()].map((format) => {
      const { block, allow } = write(format, lines);
      return [format, `${block}${allow === "" ? "" : `--\n${allow}`}`];
    }),
  );
  assert.deepEqual(said, {
    adblock: "@@||good.ads.example^\n|only.example^\n||*.wild.example^\n||ads.example^\n",
    hosts: "0.0.0.0 only.example\n0.0.0.0 ads.example\n",
    domains: "only.example\nads.example\n",
    // What an exception is made from is not blocked where exceptions cannot be said.
    wildcard: "",
    dnsmasq:
      "server=/good.ads.example/#\naddress=/only.example/\nserver=/*.only.example/#\naddress=/*.wild.example/\naddress=/ads.example/\n",
    "dnsmasq-servers":
      "server=/good.ads.example/#\nserver=/only.example/\nserver=/*.only.example/#\nserver=/*.wild.example/\nserver=/ads.example/\n",
    unbound:
      'local-zone: "good.ads.example." always_transparent\nlocal-zone: "ads.example." always_nxdomain\n',
    rpz: "good.ads.example CNAME rpz-passthru.\n*.good.ads.example CNAME rpz-passthru.\nonly.example CNAME .\n*.wild.example CNAME .\nads.example CNAME .\n*.ads.example CNAME .\n",
    dnscrypt: "=only.example\nads.example\n--\ngood.ads.example\n",
    smartdns: "address /good.ads.example/-\naddress /ads.example/#\n",
    dnsdist: "ads.example\n--\ngood.ads.example\n",
    squid: "only.example\n.ads.example\n--\n.good.ads.example\n",
    rbldnsd: "!.good.ads.example\nonly.example\n*.wild.example\n.ads.example\n",
    pihole: "only.example\n||ads.example^\n--\n@@||good.ads.example^\n",
    blocky: "only.example\n*.ads.example\n--\n*.good.ads.example\n",
    json: ',{"name":"good.ads.example","scope":"subtree","action":"allow"}\n,{"name":"only.example","scope":"exact","action":"block"}\n,{"name":"wild.example","scope":"below","action":"block"}\n,{"name":"ads.example","scope":"subtree","action":"block"}\n',
  });
});

test("what is lost is counted, with examples", () => {
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
  const { losses, block } = write("unbound", lines);
  assert.deepEqual(losses, [
    {
      reason: "rewrite",
      count: 2,
      examples: ["||d.example^$dnsrewrite=1.2.3.4", "10.0.0.1 e.example"],
    },
    { reason: "not-a-name", count: 2, examples: ["||1.2.3.4^", "0.0.0.0 localhost"] },
    { reason: "exact", count: 1, examples: ["f.example"] },
    { reason: "regex", count: 1, examples: ["/ads[0-9]/"] },
    { reason: "pattern", count: 1, examples: ["||b.*.example^"] },
    { reason: "modifier", count: 1, examples: ["||c.example^$client=1.2.3.4"] },
  ]);
  assert.equal(block, 'local-zone: "a.example." always_nxdomain\n');
  const wide = write("unbound", lines, "widen");
  assert.match(wide.block, /local-zone: "f\.example\." always_nxdomain/);
  assert.deepEqual(write("json", lines).losses, [], "this one says everything");
});

test("names are written as resolvers are asked for them", () => {
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

test("plain names and the others are told apart by bytes, with the same result", () => {
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

test("random rules: no format blocks what the list does not, unless it is told to", () => {
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

test("names that are no names in a policy zone, and those of this machine, are not written", () => {
  const lines = [
    "||24.0.0.0.10.rpz-client-ip^",
    "@@||32.1.2.3.4.rpz-ip^",
    "||localhost.localdomain^",
    "||a.example^",
  ];
  for (const isMinimal of [true, false]) {
    const { block, losses } = write("rpz", lines, "skip", isMinimal);
    assert.equal(block, "a.example CNAME .\n*.a.example CNAME .\n");
    assert.deepEqual(
      losses.map(({ reason, count }) => [reason, count]),
      [["not-a-name", 3]],
    );
  }
});

test("an exception for a name alone, where only those for subtrees can be said", () => {
  const { block, allow, losses } = write("dnsdist", ["||ads.example^", "@@|ads.example^"]);
  assert.deepEqual([block, allow], ["", ""]);
  assert.deepEqual(
    losses.map(({ reason }) => reason),
    ["below"],
  );
});

test("what is only below a name is lost, not forgotten, where names stand alone", () => {
  assert.deepEqual(
    write("hosts", ["||*.below.example^"]).losses.map(({ reason }) => reason),
    ["below"],
  );
});

test("a bare name with something before or behind it is a part of names", () => {
  const { block, losses } = write("json", [
    "||deep.sub.example^",
    "@@sub.example",
    "x.example$important",
  ]);
  assert.equal(block.match(/"name"/g)?.length, 1);
  assert.equal(block.match(/"rule"/g)?.length, 2);
  assert.deepEqual(losses, []);
});
