import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { foreignFormats } from "../../src/formats/readers/registry.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { readForeign as read } from "../support/read-foreign.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { nameIn } from "../support/documents.ts";

test("rpz: TTL and class may come in any order, with or without units", async () => {
  const { rules } = await read(
    "rpz",
    "a.zq 1h IN CNAME .\nb.zq IN 300 CNAME .\nc.zq 1d12h CNAME .\nd.zq in cname .\ne.zq CNAME . ; note\n2w.zq 60 CNAME .\n",
  );
  assert.deepEqual(rules, ["|a.zq^", "|b.zq^", "|c.zq^", "|d.zq^", "|e.zq^", "|2w.zq^"]);
});

test("rpz: the zone's name, from the SOA record, is removed from absolute owners", async () => {
  const { rules, dropped } = await read(
    "rpz",
    "rpz.zone. 60 IN SOA localhost. root.localhost. 1 2 3 4 5\nrpz.zone. IN NS localhost.\na.zq.rpz.zone. 60 IN CNAME .\n*.a.zq.RPZ.zone. 60 IN CNAME .\nb.zq.elsewhere. CNAME .\n",
  );
  assert.deepEqual(rules, ["||a.zq^"]);
  assert.deepEqual(dropped, { setting: 2, joined: 1, "bad-syntax": 1 });
});

test("rpz: $ORIGIN, @ and records without an owner", async () => {
  const zone = [
    "$TTL 1h",
    "$ORIGIN .",
    "rpz.zone IN SOA localhost. root.localhost. (",
    "  1 ; serial",
    "",
    "  ; comment",
    "  2 3 4 5 )",
    "\tNS localhost.",
    "$ORIGIN rpz.zone.",
    "a.zq CNAME .",
    "$ORIGIN zq.rpz.zone.",
    "b\tCNAME .",
    "*.b CNAME .",
    "@ CNAME rpz-passthru.",
    "c A 0.0.0.0",
    "  AAAA ::",
    "$ORIGIN e",
    "d CNAME *.",
  ];
  const { rules, dropped, lines } = await read("rpz", `${zone.join("\n")}\n`);
  assert.deepEqual(rules, ["|a.zq^", "||b.zq^", "@@|zq^", "|c.zq^", "|d.e.zq^"]);
  assert.deepEqual(dropped, { setting: 7, joined: 4, blank: 1, comment: 1 });
  assert.equal(lines, zone.length);
});

test("rpz: records that are not rules for names get a fate", async () => {
  for (const [line, fate] of [
    ["32.1.2.0.192.rpz-ip CNAME .", "trigger"],
    ["ns.evil.zq.rpz-nsdname CNAME .", "trigger"],
    ["32.1.2.0.192.rpz-nsip CNAME .", "trigger"],
    ["24.0.0.0.10.rpz-client-ip CNAME rpz-passthru.", "trigger"],
    ["$INCLUDE /etc/passwd", "not-followed"],
    ["$GENERATE 1-9 a$.zq CNAME .", "bad-syntax"],
    ["plain junk", "bad-syntax"],
    ["b.zq CNAME *.garden.example.", "setting"],
    ["b.zq CNAME garden", "setting"],
    ["b.zq CNAME rpz-tcp-only.", "setting"],
    ['b.zq TXT "text; not a comment"', "setting"],
    ["b.zq A 10.0.0", "setting"],
    ["b\\032c.zq CNAME .", "bad-host"],
    ["* CNAME .", "too-wide"],
    ["b.zq.other.zone. CNAME .", "bad-syntax"],
    ["b.zq CNAME ( .", "bad-syntax"],
    ["# not a comment in a zone", "bad-syntax"],
    ["; comment", "comment"],
  ] as const) {
    const { rules, dropped } = await read("rpz", `a.zq CNAME .\n${line}\n`);
    assert.deepEqual([rules, dropped], [["|a.zq^"], { [fate]: 1 }], line);
  }
});

test("mihomo: entries of a rule provider in YAML", async () => {
  const lines = [
    "payload:",
    "  - '+.a.zq'",
    '- "+.b.zq"',
    "- c.zq",
    "  -   .d.zq # note",
    "  # note",
    "- 'münchen.zq' #note",
    "+.e_1.zq  # note",
  ];
  const { rules, dropped } = await read("mihomo", `${lines.join("\r\n")}\r\n`);
  const expected = [
    "||a.zq^",
    "||b.zq^",
    "|c.zq^",
    "||*.d.zq^",
    "|xn--mnchen-3ya.zq^",
    "||e_1.zq^",
  ];
  assert.deepEqual(rules, expected);
  assert.deepEqual(dropped, { setting: 1, comment: 1 });
});

test("mihomo: everything else is not a name", async () => {
  for (const line of [
    "-",
    "- -",
    "- ''",
    "- '+.'",
    "- '+.b.zq",
    "- +.b.zq'",
    "- 'b.zq' c.zq",
    "b.zq c.zq",
    "- *.b.zq",
    "- DOMAIN-SUFFIX,b.zq",
    "- b.zq:443",
    "rules:",
    "behavior: domain",
    "- {b.zq}",
    "- b..zq",
    "- https://b.zq/",
    "- b.zq#note",
    "---",
  ]) {
    const { rules, dropped } = await read("mihomo", `a.zq\n${line}\n`);
    assert.deepEqual([rules, dropped], [["|a.zq^"], { "bad-syntax": 1 }], line);
  }
});

test("every format recognizes only its own comments", async () => {
  const files: readonly (readonly [string, string, readonly string[], object])[] = [
    [
      "dnsmasq",
      "# note\nserver=/c.zq/8.8.8.8\ncache-size=100\nno-resolv\naddress=/a.zq/b.zq/\naddress=/d.zq/nonsense\nconf-file=/etc/x\n<html>\n",
      ["||a.zq^", "||b.zq^"],
      { comment: 1, setting: 3, "bad-syntax": 2, "not-followed": 1 },
    ],
    [
      "unbound",
      '# note\nserver:\nlocal-zone: "a.zq" static\nlocal-zone: "b.zq" inform\nlocal-data: "c.zq A 10.0.0.1"\ninclude: "x"\njunk\n',
      ["||a.zq^"],
      { comment: 1, setting: 3, "not-followed": 1, "bad-syntax": 1 },
    ],
    [
      "smartdns",
      "# note\naddress /a.zq/#\naddress /b.zq/10.0.0.1\nbind :53\nconf-file x\njunk\n",
      ["||a.zq^"],
      { comment: 1, setting: 2, "not-followed": 1, "bad-syntax": 1 },
    ],
    [
      "rbldnsd",
      "# note\n:127.0.0.2:x\n$NS 60 ns\n!\n.a.zq\n!.b.a.zq\n",
      ["||a.zq^", "@@||b.a.zq^"],
      { comment: 1, setting: 2, "bad-syntax": 1 },
    ],
    [
      "mihomo",
      "# note\n+.a.zq\nb.zq\n.c.zq\n*.d.zq\n",
      ["||a.zq^", "|b.zq^", "||*.c.zq^"],
      { comment: 1, "bad-syntax": 1 },
    ],
    [
      "sing-box",
      '{"version": 2, "rules": [{\n"domain": ["b.zq", "c.zq"],\n"domain_suffix": "a.zq",\n"domain_regex": ["^x[0-9]"]},\n\n{"type": "logical", "mode": "and", "rules": [\n{"domain": "d.zq"}]},\n{"domain_suffix": [".e.zq", "not a name"]}]}\n',
      ["|b.zq^", "|c.zq^", "||a.zq^", "/^x[0-9]/", "||*.e.zq^"],
      { setting: 3, blank: 1, "bad-syntax": 1 },
    ],
    ["squid", "# note\n.a.zq\n(.*)\n", ["||a.zq^"], { comment: 1, "bad-syntax": 1 }],
    ["blocky", "# note\n*.a.zq\na*b.zq\n", ["||a.zq^"], { comment: 1, "bad-syntax": 1 }],
    [
      "dnscrypt",
      "# note\n=a.zq\n*.b.zq\nads*.c.zq\n*track*\nx[0-9].zq\n",
      ["|a.zq^", "||b.zq^", "|ads*.c.zq^", "*track*"],
      { comment: 1, "bad-syntax": 1 },
    ],
    ["wildcard", "# note\n*.a.zq\n*.*.b.zq\n", ["||a.zq^"], { comment: 1, "bad-syntax": 1 }],
    [
      "json",
      '{"about":["note"],\n"rules":[\n{"name":"a.zq"}\n,{"name":"b^.zq"}\n]}\n',
      ["||a.zq^"],
      { setting: 3, "bad-syntax": 1 },
    ],
  ];
  for (const [type, text, rules, dropped] of files) {
    const found = await read(type, text);
    assert.deepEqual([found.rules, found.dropped], [rules, dropped], type);
  }
});

const ENTRIES = [
  { name: "a.zq", scope: "subtree", action: "block" },
  { name: "b.zq", scope: "exact", action: "block" },
  { name: "c.zq", scope: "below", action: "allow" },
  { rule: "/ads[0-9]/" },
];
const ENTRY_RULES = ["||a.zq^", "|b.zq^", "@@||*.c.zq^", "/ads[0-9]/"];

test("json: the layout does not matter", async () => {
  const document = { name: "My list", about: ["not.a-rule.zq"], rules: ENTRIES };
  for (const text of [
    JSON.stringify(document),
    JSON.stringify(document, null, 2),
    JSON.stringify(document, null, "\t").replaceAll("\n", "\r\n"),
    JSON.stringify(ENTRIES),
    JSON.stringify(ENTRIES, null, 1),
    ENTRIES.map((entry) => JSON.stringify(entry)).join("\n"),
    JSON.stringify({ data: { version: 1, rules: ENTRIES, more: [{ name: "x.zq" }] } }),
  ])
    assert.deepEqual((await read("json", text)).rules, ENTRY_RULES, text);
});

test("json: arrays of names and of rules", async () => {
  const names = ["a.zq", "||b.zq^", "0.0.0.0 c.zq", "\\u0064.zq", "@@||e.zq^", "||f.e.zq^"];
  const rules = ["a.zq", "||b.zq^", "0.0.0.0 c.zq", "d.zq", "@@||e.zq^", "||f.e.zq^"];
  const list = `[${names.map((name) => `"${name}"`).join(", ")}]`;
  for (const text of [list, `{"domains": ${list}}`, `{"names":\n${list}\n}`])
    assert.deepEqual((await read("json", text)).rules, rules, text);
});

test("json: every line and every entry has a row, in any layout", async () => {
  const { lines, dropped } = await read("json", JSON.stringify({ rules: ENTRIES }, null, 2));
  // Two lines before, four entries of five, five, five and three lines, two lines behind.
  assert.equal(lines, 22);
  assert.deepEqual(dropped, { setting: 4, joined: 14 });
  const inOne = await read("json", JSON.stringify({ rules: ENTRIES }));
  assert.deepEqual([inOne.lines, inOne.dropped], [4, {}]);
});

test("json: invalid parts do not affect other lines", async () => {
  for (const [text, rules, bad] of [
    [
      '{"rules":[\n{"name":"a.zq"}\n,{"name":"b.zq\n,{"name":"c.zq"}\n]}\n',
      ["||a.zq^", "||c.zq^"],
      1,
    ],
    ['[{"name":"a.zq"}, 5, {"nothing":1}, null, ""]', ["||a.zq^"], 4],
    [
      '[{"name":"a.zq"},{"name":"b.zq","scope":"all"},{"name":"c.zq","action":"log"}]',
      ["||a.zq^"],
      2,
    ],
    ['[{"name":"a.zq"},\n{"name":\n', ["||a.zq^"], 1],
    ['[{"name":"a.zq"}}\n', ["||a.zq^"], 1],
    ['[{"name":"a.zq^\\n||injected.zq"},{"name":"b.zq"}]', ["||b.zq^"], 1],
    [`["a.zq"]\n${"[".repeat(5000)}\n`, ["a.zq"], 1],
    [`["a.zq"]\n["${"x".repeat(200_000)}"]\n`, ["a.zq"], 1],
    [`["a.zq"]\n{${'"k":"v",'.repeat(5000)}"name":"b.zq"}\n`, ["a.zq"], 1],
    ['["a.zq"]\n<html>\n', ["a.zq"], 1],
  ] as const) {
    const found = await read("json", text);
    const shown = text.slice(0, 100);
    assert.deepEqual(found.rules, rules, shown);
    assert.ok(
      (found.dropped["bad-syntax"] ?? 0) >= bad,
      `${shown}: ${JSON.stringify(found.dropped)}`,
    );
    assert.equal(found.dropped.comment, undefined);
  }
});

test("every line of every format has a row, in order, whatever it contains", () => {
  const random = new Random(5);
  const pieces = [
    '{"name":|"a.zq"|}|]|[|,|:|"rules"|\\|"|1| |$ORIGIN |address=/|server=/*.|a|/#|a.zq CNAME .|{"rules":[{"domain":["b.zq"|"port"',
    "(|)|;|*.|!|#|@@|^|local-zone: |local-data: |always_nxdomain|é|\n|\n|\r|\r\n",
  ].flatMap((some) => some.split("|"));
  for (const [type, format] of foreignFormats)
    for (let round = 0; round < 400; round++) {
      const text = Array.from({ length: random.below(60) }, () => random.pick(pieces)).join("");
      const parts = text.split(/(?<=\n)/);
      const reader = format.open();
      const lines: number[] = [];
      const take = (_text: string, line: number): void => void lines.push(line);
      let next = 1;
      for (const part of parts) next = reader.read(encodeUtf8(part), next, take);
      reader.end(take);
      const count = text.split(/\r\n|\r|\n/).length - Number(/(?:^|[\r\n])$/.test(text));
      const shown = JSON.stringify([type, text]);
      assert.equal(next, count + 1, shown);
      assert.deepEqual(
        lines,
        lines.toSorted((one, other) => one - other),
        shown,
      );
      assert.deepEqual(
        [...new Set(lines)],
        Array.from({ length: count }, (_, index) => index + 1),
        shown,
      );
    }
});

test("of five nested levels, four can be expressed, and the fifth is reported", async () => {
  const zone = [
    "q CNAME .",
    "*.q CNAME .",
    "a.q CNAME rpz-passthru.",
    "*.a.q CNAME rpz-passthru.",
    "b.a.q CNAME .",
    "*.b.a.q CNAME .",
    "c.b.a.q CNAME rpz-passthru.",
    "*.c.b.a.q CNAME rpz-passthru.",
    "d.c.b.a.q CNAME .",
  ].map((line) => line.replace(/q (?=CNAME)/, "zq.example "));
  const { rules, dropped } = await read("rpz", zone.toReversed().join("\n"));
  const list = new NaiveNames(rules.join("\n"));
  assert.deepEqual(dropped, { "too-nested": 1 });
  for (const [name, isBlocked] of [
    ["zq.example", true],
    ["x.zq.example", true],
    ["x.a.zq.example", false],
    ["b.a.zq.example", true],
    ["x.b.a.zq.example", true],
    ["c.b.a.zq.example", false],
    ["x.c.b.a.zq.example", false],
  ] as const)
    assert.equal(list.isBlocked(name), isBlocked, `${name} in\n${rules.join("\n")}`);
});

test("a block inside an exception of a source that may only block is a plain block", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "unbound", trust: "block-only" }],
    }),
    "a.txt": 'local-zone: "a.zq" transparent\nlocal-zone: "x.a.zq" static\n',
  });
  await project.run("-q", "-c", "c.json", "--accept", "too-few-rules");
  assert.match(project.text("rules/l.txt"), /^\|\|x\.a\.zq\^$/m);
});

test("an exception of one source does not affect the blocks of another", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [
        { name: "A", source: "a.txt", type: "unbound" },
        { name: "B", source: "b.txt", type: "unbound" },
      ],
    }),
    "a.txt": 'local-zone: "a.zq" transparent\n',
    "b.txt": 'local-zone: "x.a.zq" static\n',
  });
  await project.run("-q", "-c", "c.json", "--accept", "too-few-rules");
  assert.match(project.text("rules/l.txt"), /^\|\|x\.a\.zq\^$/m);
});

test("why finds entries of a zone with $ORIGIN and of a document in one line", async () => {
  const document = JSON.stringify([{ name: "a.zq" }, "y.zq", { name: "b.zq" }, { name: "c.zq" }]);
  for (const [type, text, line, shown] of [
    ["rpz", "$ORIGIN rpz.zone.\n$ORIGIN zq.rpz.zone.\na CNAME .\nb CNAME .\n", 4, "b CNAME ."],
    ["json", document, 1, document],
    ["json", JSON.stringify([{ name: "a.zq" }, { name: "\u0062.zq" }], null, 1), 5, " {"],
  ] as const) {
    const project = new MemoryProject({
      "c.json": JSON.stringify({ name: "L", sources: [{ name: "A", source: "a.txt", type }] }),
      "a.txt": text,
    });
    await project.run("-q", "-c", "c.json", "--accept", "too-few-rules");
    const { stdout } = await project.run("why", "-c", "c.json", "b.zq", "--json");
    const { verdict, lines } = nameIn(stdout) as {
      verdict: string;
      lines: { line: number; text: string }[];
    };
    assert.equal(verdict, "blocked");
    assert.deepEqual(
      lines.map((one) => [one.line, one.text]),
      [[line, shown]],
      text,
    );
  }
});
