import assert from "node:assert/strict";
import { test } from "node:test";
import { planOutputs } from "../../src/publish/output-plan.ts";
import { FormatOutputs } from "../../src/publish/format-outputs.ts";
import { NameBuffer } from "../../src/formats/names.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { writeFormat } from "../support/write-format.ts";

const FORMATS = [...nameFormats.keys()].filter((format) => format !== "adblock");

function reasons(format: string, lines: readonly string[]): string[] {
  return writeFormat(format, lines).losses.map(({ reason }) => reason);
}

test("a name that is rewritten to a response code without records stays blocked", () => {
  for (const code of ["NXDOMAIN", "REFUSED;;", "NOERROR"])
    assert.match(
      writeFormat("domains", ["||corp.com^", "|a.corp.com^", `|a.corp.com^$dnsrewrite=${code}`])
        .block,
      /^a\.corp\.com$/m,
    );
  const lines = ["||corp.com^", "|a.corp.com^", "|a.corp.com^$dnsrewrite=192.0.2.1"];
  assert.doesNotMatch(writeFormat("domains", lines).block, /^a\.corp\.com$/m);
});

test("no format blocks a name that a pattern exception frees", () => {
  for (const exception of [
    "@@|cap*.apple.com^",
    "@@/^captive\\.apple\\.com$/",
    "@@/capti.e/",
    "@@.apple.com^",
    "@@*.apple.co",
    "@@||captive.apple.com^$denyallow=x.captive.apple.com",
    "@@captive.",
    "@@|cap*.apple.com^$important",
  ])
    for (const line of ["||captive.apple.com^", "0.0.0.0 captive.apple.com", "|captive.apple.com^"])
      for (const format of FORMATS) {
        const { block } = writeFormat(format, [line, exception, "||bad.com^"]);
        assert.match(block, /bad\.com/, format);
        // What says everything has the rule beside it.
        if (format === "json" || (format === "blocky" && !exception.includes("denyallow")))
          continue;
        const own = /(?<![a-z]\.)captive\.apple\.com/;
        const blocks = block.split("\n").filter((one) => own.test(one));
        assert.ok(
          blocks.every((one) => /passthru|always_transparent|server=.*#|^[!-]|\/-$/.test(one)),
          `${format}, ${line}, ${exception}: ${blocks.join(" ")}`,
        );
      }
});

test("a pattern exception that is weaker than a block frees nothing", () => {
  for (const format of ["hosts", "rpz", "unbound", "squid"]) {
    const lines = ["||captive.apple.com^$important", "@@|cap*.apple.com^"];
    assert.match(writeFormat(format, lines).block, /captive\.apple\.com/, format);
  }
});

test("if an exception may free names below a blocked name, only the name itself is blocked", () => {
  const lines = ["||apple.com^", "@@|ocsp*.apple.com^$important", "||other.com^", "||x.org^"];
  assert.equal(
    writeFormat("rpz", lines).block,
    "apple.com CNAME .\nother.com CNAME .\n*.other.com CNAME .\nx.org CNAME .\n*.x.org CNAME .\n",
  );
  assert.equal(writeFormat("wildcard", lines).block, "*.other.com\n*.x.org\n");
  for (const format of ["rpz", "wildcard", "dnsmasq", "squid"])
    assert.deepEqual(writeFormat(format, lines).losses, [
      { reason: "excepted", count: 1, examples: ["apple.com"] },
    ]);
});

test("an exception that can match anywhere removes no blocks, and is reported", () => {
  const lines = ["||bad.com^", "||amazon.com^", "@@||aax-*.amazon.*^", "||aax-1.amazon.net^"];
  assert.equal(writeFormat("wildcard", lines).block, "*.bad.com\n");
  assert.deepEqual(reasons("wildcard", lines).toSorted(), ["excepted", "pattern"]);
});

test("$denyallow frees its names from its own rule only", () => {
  const lines = ["||p.com^$denyallow=a.p.com|b.p.com", "||b.p.com^", "||*.top^$denyallow=x.top"];
  const said = Object.fromEntries(
    FORMATS.map((format) => {
      const { block, allow } = writeFormat(format, lines);
      return [format, `${block}${allow === "" ? "" : `--\n${allow}`}`];
    }),
  );
  assert.deepEqual(said, {
    hosts: "0.0.0.0 p.com\n0.0.0.0 b.p.com\n",
    domains: "p.com\nb.p.com\n",
    wildcard: "*.b.p.com\n",
    dnsmasq: "address=/p.com/\nserver=/a.p.com/#\naddress=/*.top/\nserver=/x.top/#\n",
    "dnsmasq-servers": "server=/p.com/\nserver=/a.p.com/#\nserver=/*.top/\nserver=/x.top/#\n",
    unbound: 'local-zone: "p.com." always_nxdomain\nlocal-zone: "a.p.com." always_transparent\n',
    rpz: "p.com CNAME .\n*.p.com CNAME .\na.p.com CNAME rpz-passthru.\n*.a.p.com CNAME rpz-passthru.\n*.top CNAME .\nx.top CNAME rpz-passthru.\n*.x.top CNAME rpz-passthru.\n",
    dnscrypt: "p.com\n--\na.p.com\n",
    smartdns: "address /p.com/#\naddress /a.p.com/-\n",
    dnsdist: "p.com\n--\na.p.com\n",
    squid: ".p.com\n--\n.a.p.com\n",
    mihomo: "+.p.com\n.top\n--\n+.a.p.com\n+.x.top\n",
    "sing-box":
      ',"p.com"\n,".top"\n],"domain":["rules-compiler.invalid"\n--\n,"a.p.com"\n,"x.top"\n],"domain":["rules-compiler.invalid"\n',
    rbldnsd: ".p.com\n!.a.p.com\n*.top\n!.x.top\n",
    pihole: "||p.com^\n--\n@@||a.p.com^\n",
    blocky: "*.p.com\n--\n*.a.p.com\n",
    cdb: "+p.com\n-a.p.com\n+top\n!top\n-x.top\n",
    json: ',{"name":"p.com","scope":"subtree","action":"block"}\n,{"name":"a.p.com","scope":"subtree","action":"none"}\n,{"name":"top","scope":"below","action":"block"}\n,{"name":"x.top","scope":"subtree","action":"none"}\n',
  });
});

test("an exception works in upper and lower case and in any script", () => {
  for (const [rule, exception] of [
    ["||пример.рф^", "@@||api.xn--e1afmkfd.xn--p1ai^"],
    ["||xn--e1afmkfd.xn--p1ai^", "@@||api.пример.рф^"],
    ["||ПРИМЕР.рф^", "@@|a*.пример.рф^"],
  ] as const) {
    const { block } = writeFormat("rpz", [rule, exception]);
    assert.doesNotMatch(block, /^\*\.xn--e1afmkfd\.xn--p1ai CNAME \.\n(?![^]*api)/m, exception);
    assert.match(block, /^xn--e1afmkfd\.xn--p1ai CNAME \.$/m);
  }
});

test("an exception for a name alone frees its subtree if the format cannot express it otherwise", () => {
  const lines = ["||ads.example^", "@@|api.ads.example^"];
  const { block, losses } = writeFormat("unbound", lines);
  assert.equal(
    block,
    'local-zone: "ads.example." always_nxdomain\nlocal-zone: "api.ads.example." always_transparent\n',
  );
  assert.deepEqual(losses, [{ reason: "below", count: 1, examples: ["api.ads.example"] }]);
});

test("no entry of a file covers another, because squid refuses such files", () => {
  const { allow, block } = writeFormat("squid", [
    "@@||d.a.s.example.com^$important",
    "||a.s.example.com^$important",
    "@@||s.example.com^",
    "||t.example.com^",
    "||x.t.example.com^",
  ]);
  assert.equal(allow, ".s.example.com\n");
  assert.equal(block, ".t.example.com\n");
});

test("widening never blocks excepted or protected names, and is reported", () => {
  const lines = ["|a.com^", "|b.com^", "@@||x.b.com^", "|gstatic.com^", "|c.com^", "@@|o*.c.com^"];
  const { block, losses } = writeFormat("smartdns", lines, {
    policy: "widen",
    protectedNames: ["connectivitycheck.gstatic.com"],
  });
  assert.equal(block, "address /x.b.com/-\naddress /a.com/#\n");
  assert.deepEqual(losses, [
    { reason: "exact", count: 3, examples: ["b.com", "gstatic.com", "c.com"] },
    { reason: "widened", count: 1, examples: ["a.com"] },
  ]);
});

test("json keeps important rules", () => {
  const { block } = writeFormat("json", ["||a.com^$important", "@@/a/", "||b.com^"]);
  assert.deepEqual(JSON.parse(`[${block.replace(",", "")}]`), [
    { name: "a.com", scope: "subtree", action: "block", important: true },
    { rule: "@@/a/" },
    { name: "b.com", scope: "subtree", action: "block" },
  ]);
});

test("a protected name that only an exception frees is reachable in every output", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      guards: { protect: ["never.txt"] },
      outputs: FORMATS.map((format) => ({ format, file: `out.${format}` })),
    }),
    "never.txt": "need-1.safe.example\n",
    "a.txt": "||safe.example^\n||bad.example^\n@@/^(?:need|x)-?[0-9]/\n",
  });
  const { exit, stderr } = await project.run("compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  assert.match(project.text("rules/out.rpz"), /^need-1\.safe\.example CNAME rpz-passthru\.$/m);
  assert.match(project.text("rules/out.rpz"), /^\*\.safe\.example CNAME \.$/m);
  assert.equal(project.text("rules/out.wildcard").match(/^\*.*/gm)?.join(), "*.bad.example");
});

test("an output that blocks a protected name is not published, and the name is reported", async () => {
  const host = memoryHost({ files: {} });
  const names = new NameBuffer(() => host.openScratch(), false);
  names.take(new TextEncoder().encode("\n||safe.example^\n@@||z.safe.example^"), 0);
  const plans = planOutputs({ name: "L", outputs: [{ format: "rpz" }] }, { folder: "rules", host });
  const outputs = new FormatOutputs(plans, 1, host);
  // As if the list did not block it.
  const shape = { isMinimal: true, hasSureCovers: true, protectedNames: ["y.safe.example"] };
  const found = await outputs.write(names, shape, () => [], new Date(0));
  await outputs.close();
  assert.deepEqual(
    found.map(({ code, message }) => [code, message]),
    [
      [
        "blocks-protected",
        "rules/l.rpz would block y.safe.example, which devices need and the list does not block",
      ],
    ],
  );
});

test("an exception that can match anywhere frees covered names, in formats with subtrees too", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      transformations: ["Compress"],
      outputs: ["hosts", "wildcard", "rpz"].map((format) => ({ format, file: `out.${format}` })),
    }),
    "a.txt": "||two.net^\n||ads.two.net^\n||other.net^\n@@||ads.*^\n",
  });
  const { exit, stderr } = await project.run("compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  assert.equal(project.text("rules/out.wildcard").match(/^\*.*/gm)?.join(), "*.other.net");
  assert.match(project.text("rules/out.rpz"), /^ads\.two\.net CNAME rpz-passthru\.$/m);
});

test("an exception that frees more than intended is counted", () => {
  for (const [lines, name] of [
    [["||a.com^$important", "@@||ads."], "a.com"],
    [["||a.com^$denyallow=x.a.com", "/^x/"], "x.a.com"],
    [["@@||a.com^$denyallow=x.a.com", "/^x/"], "x.a.com"],
  ] as const)
    assert.deepEqual(writeFormat("blocky", lines).losses, [
      { reason: "nested", count: 1, examples: [name] },
    ]);
});

test("an exception that may match beyond its suffix is reported", () => {
  for (const [exception, reason] of [
    ["@@.ads.one", "pattern"],
    ["@@/time.*.apple.com/", "regex"],
  ] as const) {
    const { block, losses } = writeFormat("wildcard", ["||bad.com^", exception]);
    assert.equal(block, "*.bad.com\n");
    assert.deepEqual(losses, [{ reason, count: 1, examples: [exception] }]);
  }
});

test("an exception that can match anywhere frees every name that occurs in a rule", () => {
  for (const other of [
    "||other.com^$denyallow=a7.two.net",
    "||a7.two.net^$client=::1",
    "@@||a7.two.net^$dnstype=A",
  ]) {
    const { block } = writeFormat("rpz", ["||two.net^", other, "@@/^a[0-9]\\./"]);
    assert.match(block, /^a7\.two\.net CNAME rpz-passthru\.$/m, other);
    assert.match(block, /^\*\.two\.net CNAME \.$/m);
  }
});
