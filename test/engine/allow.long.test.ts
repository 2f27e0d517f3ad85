import assert from "node:assert/strict";
import { test } from "node:test";
import { type Config, CompilerError, compile, memoryHost, rowsOf } from "../support/internals.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";

async function allowed(
  lines: readonly string[],
  allow: readonly string[],
  more: Partial<Config> = {},
): Promise<{ rules: string[]; uses: unknown; notes: string[]; fates: string[] }> {
  const host = memoryHost({
    files: { "a.txt": lines.join("\n"), "allow.txt": "! file\nfile.example\n" },
  });
  const config: Config = { name: "N", sources: [{ source: "a.txt" }], allow, ...more };
  const { bytes, report, diagnostics, rules } = await compile(config, { host });
  return {
    rules: new TextDecoder()
      .decode(bytes)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("!")),
    uses: report.allow,
    notes: diagnostics.filter(({ code }) => code === "allow-unused").map(({ message }) => message),
    fates: [...rowsOf(rules)].filter(({ fate }) => fate === "allowed").map(({ text }) => text),
  };
}

const EVERY_SYNTAX = [
  "a.example",
  "a.example # a note",
  "0.0.0.0 a.example",
  "||a.example^",
  "||A.example^",
  "||a.example^$important",
  "||a.example^$client=1.2.3.4",
  "||sub.a.example^",
  "0.0.0.0 other.example a.example sub.a.example",
  "@@||a.example^",
  "||xa.example^",
];

test("an allow entry matches rules for its name in every syntax, and nothing else", async () => {
  for (const entry of ["a.example", "A.Example", "a.example.", "0.0.0.0 a.example"]) {
    const { rules, fates } = await allowed(EVERY_SYNTAX, [entry]);
    assert.deepEqual(rules, [
      "||sub.a.example^",
      "0.0.0.0 other.example sub.a.example",
      "@@||a.example^",
      "||xa.example^",
    ]);
    assert.equal(fates.length, 7);
  }
});

test("an allow entry ||name^ includes subdomains, *.name only subdomains", async () => {
  for (const entry of [
    "||a.example^",
    "@@||a.example^",
    "@@||a.example^$important",
    "||a.example",
  ]) {
    const { rules } = await allowed(EVERY_SYNTAX, [entry]);
    assert.deepEqual(rules, ["0.0.0.0 other.example", "@@||a.example^", "||xa.example^"]);
  }
  for (const entry of ["*.a.example", "||*.a.example^"]) {
    const { rules } = await allowed(["||a.example^", "||sub.a.example^"], [entry]);
    assert.deepEqual(rules, ["||a.example^", "@@||*.a.example^"]);
  }
});

test("if a broader rule blocks a name, allow adds an exception that is strong enough", async () => {
  const cases: readonly [string, string, string][] = [
    ["||example^", "a.b.example", "@@|a.b.example^"],
    ["||b.example^", "||a.b.example^", "@@||a.b.example^"],
    ["||b.example^$important", "a.b.example", "@@|a.b.example^$important"],
    ["/^a\\.b/", "a.b.example", "@@|a.b.example^"],
    ["*.b.example", "a.b.example", "@@|a.b.example^"],
  ];
  for (const [rule, entry, exception] of cases) {
    const { rules, uses } = await allowed([rule, "||x.example.org^"], [entry], {
      transformations: ["InsertFinalNewLine"],
    });
    assert.deepEqual(rules, [rule, "||x.example.org^", exception]);
    assert.equal((uses as { exception: string }[])[0]!.exception, exception);
  }
});

test("an exception without the subdomains does not replace the exception of an allow entry", async () => {
  for (const partial of ["@@|a.p.example^", "@@||a.p.example^$denyallow=x.a.p.example"]) {
    const { rules } = await allowed(["||p.example^", partial], ["||a.p.example^"]);
    assert.ok(rules.includes("@@||a.p.example^"), `${partial}: ${rules.join(" ")}`);
  }
  const whole = await allowed(["||p.example^", "@@||a.p.example^"], ["||a.p.example^"]);
  assert.deepEqual(whole.rules, ["||p.example^", "@@||a.p.example^"]);
});

test("allow entries match patterns for one name, and names in other scripts in both forms", async () => {
  const lines = [
    "||sub.a.example",
    "|sub2.a.example^",
    "/^sub3\\.a\\.example$/",
    "||xn--bcher-kva.example^",
  ];
  const { rules } = await allowed([...lines, "||b.example^"], ["||a.example^", "bücher.example"]);
  assert.deepEqual(rules, ["||b.example^"]);
});

test("names that a parent covered stay blocked when the parent is allowed", async () => {
  for (const level of ["list", "source"] as const) {
    const source = {
      source: "a.txt",
      ...(level === "source" ? { transformations: ["Compress"] } : {}),
    };
    const { rules } = await allowed(
      ["||p.example^", "||ads.p.example^"],
      ["p.example"],
      level === "source" ? { sources: [source] } : { transformations: ["Compress"] },
    );
    assert.deepEqual(rules, ["||ads.p.example^"], level);
  }
});

test("the report shows what each allow entry did, and which did nothing", async () => {
  const { uses, notes } = await allowed(
    ["||a.example^", "0.0.0.0 a.example", "||file.example^"],
    ["a.example", "gone.example", "||never.example^"],
    { allow_sources: ["allow.txt"] },
  );
  assert.deepEqual(uses, [
    { entry: "a.example", removed: 2 },
    { entry: "gone.example", removed: 0 },
    { entry: "||never.example^", removed: 0 },
    { entry: "file.example", removed: 1 },
  ]);
  assert.deepEqual(notes, [
    "These entries of the allowlist match no rule: gone.example, ||never.example^",
  ]);
});

test("allow entries that are not names are reported in one message", async () => {
  const error = await allowed([], ["not a name", "/regex/", "com"]).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompilerError);
  assert.equal(error.exit, 2);
  assert.deepEqual(
    error.diagnostics.map(({ message }) => message),
    ["Invalid configuration: 3 entries are not names to allow: not a name, /regex/, com"],
  );
});

test("an allowlist with thousands of entries costs little", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `||n${index}.example^`);
  const allow = Array.from({ length: 5000 }, (_, index) => `n${index * 2}.example`);
  const { rules } = await allowed(lines, allow, { transformations: ["Compress"] });
  assert.equal(rules.length, 15_000);
});

/** Rules that are for more than `corp.example` and could block it, or something below it. */
const PATTERNS = [
  "||*.corp.example^",
  "||track.*^",
  "ads*.example^",
  "||ads.*.example^",
  "*.corp.example^",
  "/^ads[0-9]*\\./",
  "/\\.corp\\.example$/",
  "/corp/",
  "||example^$denyallow=other.example",
  ".corp.example",
];

for (const entry of ["||corp.example^", "*.corp.example"])
  for (const rule of [...PATTERNS, ...PATTERNS.map((one) => `${one}$important`)])
    test(`allow entry ${entry} overrides ${rule}`, async () => {
      const list = rule.includes("$denyallow=other.example$")
        ? rule.replace(/\$important$/, ",important")
        : rule;
      const { rules, notes } = await allowed([list, "||bad.net^"], [entry]);
      const naive = naiveRules(rules);
      for (const name of ["x.corp.example", "ads1.corp.example", "track.corp.example"])
        assert.ok(!isBlocked(naive, name), `${name}: ${rules.join(" ")}`);
      assert.ok(isBlocked(naive, "bad.net"));
      assert.deepEqual(notes, []);
    });

test("an allow entry that no rule could match is unused and adds nothing", async () => {
  for (const rule of [
    "||*.other.example^",
    "/^ads\\.other\\.example$/",
    "||mycorp.example^",
    "|corp.example^|x",
  ]) {
    const { rules, notes } = await allowed([rule], ["||corp.example^"]);
    assert.deepEqual(rules, [rule]);
    assert.equal(notes.length, 1, rule);
  }
});

test("allow overrides $dnsrewrite, with and without $important", async () => {
  for (const [rule, exception] of [
    ["||b.example^$dnsrewrite=NXDOMAIN;;", "@@|c.b.example^$dnsrewrite"],
    ["||b.example^$dnsrewrite=1.2.3.4,important", "@@|c.b.example^$dnsrewrite,important"],
    ["||*.example^$dnsrewrite=1.2.3.4", "@@|c.b.example^$dnsrewrite"],
  ] as const) {
    const { rules } = await allowed([rule], ["c.b.example"]);
    assert.deepEqual(rules, [rule, exception]);
  }
  const { rules } = await allowed(["||x.corp.example^$dnsrewrite=1.2.3.4"], ["||corp.example^"]);
  assert.deepEqual(rules, []);
});

test("no $badfilter rule cancels an exception of allow", async () => {
  for (const entry of ["||b.ample.com^", "b.ample.com", "*.b.ample.com"])
    for (const cancel of ["@@||b.ample.com^", "@@|b.ample.com^", "@@||*.b.ample.com^"]) {
      const { rules } = await allowed(["||ample.com^", `${cancel}$badfilter`], [entry]);
      const name = entry.startsWith("*.") ? "x.b.ample.com" : "b.ample.com";
      assert.ok(!isBlocked(naiveRules(rules), name), `${entry} ${cancel}: ${rules.join(" ")}`);
    }
});

test("allow matches rules in another script, and vice versa", async () => {
  for (const rule of ["||пример.рф^", "||xn--e1afmkfd.xn--p1ai^"])
    for (const entry of ["api.пример.рф", "api.xn--e1afmkfd.xn--p1ai"]) {
      const { rules, notes } = await allowed([rule], [entry]);
      assert.deepEqual(rules, ["||xn--e1afmkfd.xn--p1ai^", "@@|api.xn--e1afmkfd.xn--p1ai^"]);
      assert.deepEqual(notes, []);
    }
});

async function withRemote(
  more: Partial<Config>,
  remote: readonly string[],
): Promise<{ rules: string[]; codes: string[] }> {
  const host = memoryHost({
    files: { "a.txt": "||a.com^\n||b.net^\n||ads.github.io^\n||c.co.uk^\n||bücher.example^\n" },
    web: { [REMOTE]: remote.join("\n") },
  });
  const { bytes, diagnostics } = await compile(
    { name: "N", sources: [{ source: "a.txt", name: "A", type: "adblock" }], ...more },
    { host },
  );
  return {
    rules: new TextDecoder()
      .decode(bytes)
      .split("\n")
      .filter((line) => line.startsWith("|")),
    codes: diagnostics.map(({ code }) => code).filter((code) => code === "entries-ignored"),
  };
}
const REMOTE = "https://lists.example/allow.txt";

test("a remote allowlist cannot allow a suffix or a shared host", async () => {
  for (const entry of ["||com^", "*.com", "@@||com^", "||co.uk^", "||github.io^", "*.github.io"]) {
    const { rules, codes } = await withRemote({ allow_sources: [REMOTE] }, [entry, "b.net"]);
    assert.equal(rules.length, 4, entry);
    assert.deepEqual(codes, ["entries-ignored"], entry);
  }
  const { rules } = await withRemote({ allow_sources: [REMOTE] }, ["||a.com^", "bücher.example"]);
  assert.equal(rules.length, 3);
});

test("remote exclusions cannot remove a suffix or everything", async () => {
  for (const entry of [
    "com",
    ".",
    "/./",
    ".com^",
    "*",
    "||*",
    "co.uk",
    "/\\.com/",
    "^",
    "/(/",
    "github.io",
  ]) {
    const { rules, codes } = await withRemote({ exclusions_sources: [REMOTE] }, [entry, "b.net"]);
    assert.equal(rules.length, 4, entry);
    assert.deepEqual(codes, ["entries-ignored"], entry);
  }
  const { rules } = await withRemote({ exclusions_sources: [REMOTE] }, [
    "||a.com^",
    "/^\\|\\|c\\.co/",
  ]);
  assert.equal(rules.length, 3);
});

test("lines of an allowlist file that are not names are ignored and counted; in the configuration they are errors", async () => {
  const { rules, codes } = await withRemote({ allow_sources: [REMOTE] }, [
    "#Facebook",
    "@@/tracking/",
    "@@|a.com^|",
    "not a name",
    "b.net",
  ]);
  assert.deepEqual(rules, ["||ads.github.io^", "||c.co.uk^", "||xn--bcher-kva.example^"]);
  assert.deepEqual(codes, ["entries-ignored"]);
  await assert.rejects(withRemote({ allow: ["not a name"] }, []), CompilerError);
});
