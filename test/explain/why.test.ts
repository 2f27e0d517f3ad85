import type { LineFate } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Host, memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";
import { regexTexts } from "../../src/syntax/regex-rule.ts";
import { countLineFeeds } from "../../src/bytes/text.ts";
import { Random } from "../support/random.ts";
import { listIn, nameIn } from "../support/documents.ts";

const FILES = {
  "c.json": JSON.stringify({
    name: "My list",
    sources: [
      { name: "Ads", source: "ads.txt", type: "hosts" },
      { name: "Own", source: "own.txt", type: "adblock" },
    ],
    transformations: [
      "RemoveComments",
      "Compress",
      "Validate",
      "Deduplicate",
      "InsertFinalNewLine",
    ],
    exclusions: ["||left-out.example^"],
  }),
  "ads.txt":
    "# list\n0.0.0.0 ads.example.com\n0.0.0.0 x.ads.example.com y.ads.example.com\n0.0.0.0 Big.Example.ORG\n",
  "own.txt":
    "! own\n||ads.example.com^\n||example.net^$important\n@@||good.example.net^\n||left-out.example^\n||com^\n/^track[0-9]+\\./\n||shop.*.example^\n||partly.example^$client=10.0.0.1\n||rewritten.example^$dnsrewrite=1.2.3.4\n||cart.example^\n",
};

interface Said {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Compiles the list, lets something happen, and asks. */
async function why(
  words: readonly string[],
  meanwhile: (files: Map<string, Uint8Array>) => void = () => {},
  stdin = "",
  files: Readonly<Record<string, string>> = FILES,
): Promise<Said> {
  const memory = memoryHost({ files });
  const host: Host = {
    ...packingHost(memory),
    stdin: {
      bytes: async function* () {},
      async *lines() {
        yield stdin.split("\n").slice(0, 2);
        yield stdin.split("\n").slice(2);
      },
    },
  };
  const { signal } = new AbortController();
  const made = await run(
    ["-q", "-c", "c.json", "-o", "l.txt", "--accept", "blocks-suffix"],
    host,
    signal,
  );
  assert.equal(made, 0, memory.output.stderr);
  meanwhile(memory.files);
  memory.output.stderr = "";
  const exit = await run(["why", "-c", "c.json", "-o", "l.txt", ...words], host, signal);
  return { exit, ...memory.output };
}

async function explained(name: string): Promise<Record<string, unknown>> {
  const { exit, stdout, stderr } = await why(["--json", name]);
  assert.equal(exit, 0, stderr);
  return nameIn(stdout) as Record<string, unknown>;
}

test("why shows the verdict and the deciding rule", async () => {
  for (const [name, verdict, rule] of [
    ["ads.example.com", "blocked", "||ads.example.com^ Ads:2"],
    ["deep.x.ads.example.com", "blocked", "||ads.example.com^ Ads:2"],
    ["big.example.org", "blocked", "||big.example.org^ Ads:4"],
    ["BIG.Example.org.", "blocked", "||big.example.org^ Ads:4"],
    ["||ads.example.com^", "blocked", "||ads.example.com^ Ads:2"],
    ["0.0.0.0 ads.example.com", "blocked", "||ads.example.com^ Ads:2"],
    ["any.example.net", "blocked", "||example.net^$important Own:3"],
    ["good.example.net", "blocked", "||example.net^$important Own:3"],
    ["track7.somewhere.test", "blocked", "/^track[0-9]+\\./ Own:7"],
    ["track.somewhere.test", "neither", undefined],
    ["shop.one.example", "blocked", "||shop.*.example^ Own:8"],
    ["rewritten.example", "rewritten", "||rewritten.example^$dnsrewrite=1.2.3.4 Own:10"],
    ["partly.example", "neither", undefined],
    ["left-out.example", "neither", undefined],
    ["example.com", "neither", undefined],
    ["unknown.test", "neither", undefined],
  ] as const) {
    const answer = await explained(name);
    const by = answer["rule"] as { text: string; source: string; line: number } | undefined;
    assert.equal(answer["verdict"], verdict, name);
    assert.equal(by && `${by.text} ${by.source}:${by.line}`, rule, name);
  }
});

async function lines(name: string): Promise<string[]> {
  const explanation = await explained(name);
  return (explanation["lines"] as LineFate[]).map(
    ({ source, line, fate, by }) =>
      `${source}:${line} ${fate}${by === undefined ? "" : ` ${by.source}:${by.line}`}`,
  );
}

test("why lists every line with the name and its fate", async () => {
  assert.deepEqual(await lines("ads.example.com"), ["Ads:2 kept", "Own:2 same-host Ads:2"]);
  assert.deepEqual(await lines("y.ads.example.com"), [
    "Ads:3 covered Ads:2",
    "Ads:2 kept",
    "Own:2 same-host Ads:2",
  ]);
  assert.deepEqual(await lines("left-out.example"), ["Own:5 excluded"]);
  assert.deepEqual(await lines("big.example.org"), ["Ads:4 kept"]);
  assert.deepEqual(await lines("cart.example"), ["Own:11 kept"]);
  assert.deepEqual(await lines("nothing.test"), []);
});

test("why handles generated exceptions, comments, rewrites and URLs", async () => {
  const files = {
    ...FILES,
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      allow: ["ok.ads.example.com"],
    }),
    "own.txt":
      "! noted.example.com\n# hashed.example.com\n||ads.example.com^\n||both.example^\n||both.example^$dnsrewrite=1.2.3.4\n||some.example^$dnsrewrite=1.2.3.4,client=10.0.0.1\n||zipp^\n||deny.example^$denyallow=OK.deny.example\n",
  };
  for (const [name, verdict, rule] of [
    ["ok.ads.example.com", "allowed", "@@|ok.ads.example.com^ allow:0"],
    ["no.ads.example.com", "blocked", "||ads.example.com^ Own:3"],
    ["https://no.ads.example.com/x?y", "blocked", "||ads.example.com^ Own:3"],
    ["noted.example.com", "neither", undefined],
    ["hashed.example.com", "neither", undefined],
    ["both.example", "rewritten", "||both.example^$dnsrewrite=1.2.3.4 Own:5"],
    ["some.example", "neither", undefined],
    ["foo.zipp", "blocked", "||zipp^ Own:7"],
    ["ok.deny.example", "neither", undefined],
    ["no.deny.example", "blocked", "||deny.example^$denyallow=ok.deny.example Own:8"],
  ] as const) {
    const { stdout, stderr } = await why(["--json", name], undefined, "", files);
    const answer = nameIn(stdout) as {
      verdict: string;
      rule?: { text: string; source: string; line: number };
    };
    assert.equal(answer.verdict, verdict, `${name} ${stderr}`);
    const { rule: by } = answer;
    assert.equal(by && `${by.text} ${by.source}:${by.line}`, rule, name);
    const many = await why(["-"], undefined, name.replace(/^https:\/\/|\/x.*$/g, ""), files);
    assert.equal(many.stdout.split("\t")[1], verdict, name);
  }
});

test("why on a terminal", async () => {
  const { stdout } = await why(["y.ads.example.com", "nothing.test", "partly.example"]);
  assert.equal(
    stdout,
    `y.ads.example.com  BLOCKED in l.txt
  by  ||ads.example.com^  Ads:2
  since 1970-01-01 00:00 UTC or earlier: no older build is stored
      Ads:3  0.0.0.0 x.ads.example.com y.ads.example.com  covered, another line blocks a parent domain: Ads:2
      Ads:2  0.0.0.0 ads.example.com                      kept
      Own:2  ||ads.example.com^                           same-host, another line blocks the same name: Ads:2
  to unblock: rules-compiler allow y.ads.example.com -c c.json -o l.txt, which adds @@||y.ads.example.com^; ||ads.example.com^ still blocks all other names
nothing.test  neither blocked nor allowed in l.txt
  no line of any source names it or a parent domain
partly.example  neither blocked nor allowed in l.txt
  for some clients or query types: ||partly.example^$client=10.0.0.1  Own:9
      Own:9  ||partly.example^$client=10.0.0.1  kept
`,
  );
});

test("why reads many names from standard input", async () => {
  const { exit, stdout } = await why(
    ["-"],
    undefined,
    "ads.example.com\n\nUNKNOWN.test.\ngood.example.net\nx.ads.example.com",
  );
  assert.equal(exit, 0);
  assert.equal(
    stdout,
    [
      "ads.example.com\tblocked\t||ads.example.com^\tAds:2",
      "unknown.test\tneither\t",
      "good.example.net\tblocked\t||example.net^$important\tOwn:3",
      "x.ads.example.com\tblocked\t||ads.example.com^\tAds:2",
      "",
    ].join("\n"),
  );
  const json = await why(["-", "--json"], undefined, "ads.example.com");
  assert.equal((JSON.parse(json.stdout) as { rule: { line: number } }).rule.line, 2);
});

test("many names at once get the same answers as one by one", async () => {
  const names = [
    "ads.example.com",
    "y.ads.example.com",
    "left-out.example",
    "big.example.org",
    "cart.example",
    "a.test",
    "b.test",
    "c.test",
    "d.test",
    "good.example.net",
  ];
  const { stdout } = await why(["--json", ...names]);
  const { names: together } = listIn(stdout) as { names: object[] };
  for (const [index, name] of names.entries())
    assert.deepEqual(together[index], await explained(name), name);
});

test("names that cannot be answered are reported", async () => {
  const none = await why([]);
  assert.equal(none.exit, 2);
  assert.match(none.stderr, /why needs a name/);
  const changed = await why(["left-out.example"], (files) =>
    files.set("/project/own.txt", new TextEncoder().encode("||left-out.example^\n")),
  );
  assert.match(changed.stdout, /not checked, changed since or not cached: own\.txt/);
  const edited = await why(["a.test"], (files) =>
    files.set("/project/l.txt", new TextEncoder().encode("||x.test^\n")),
  );
  assert.equal(edited.exit, 2);
  assert.match(edited.stderr, /record-outdated/);
  for (const lose of ["/project/l.txt", ".gz"]) {
    const gone = await why(["a.test"], (files) => {
      for (const path of files.keys()) if (path.endsWith(lose)) files.delete(path);
    });
    assert.equal(gone.exit, 2);
    assert.match(gone.stderr, /record-missing.*No record of l\.txt/);
  }
  const broken = await why(["a.test"], (files) => {
    for (const path of files.keys())
      if (path.endsWith(".gz")) files.set(path, Uint8Array.of(1, 2, 3));
  });
  assert.match(broken.stderr, /record-missing/);
});

test("the literal of an expression occurs in everything that it matches", () => {
  for (const [source, literal] of [
    ["^(\\S+\\.)?advert", "advert"],
    ["ads?\\.", "ad"],
    ["a|b", ""],
    ["x(ab|cd)yz", "yz"],
    ["[abc]+tail$", "tail"],
    ["ab*c", "a"],
    ["ab+c", "ab"],
    ["a{2}bcd", "bcd"],
    ["\\d+\\.com", ".com"],
    ["[]x]end", "end"],
    ["A\\-B", "a-b"],
  ] as const)
    assert.equal(longest(regexTexts(source)), literal, source);
});

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), "");
}

test("line feeds are counted correctly, wherever a part begins and ends", () => {
  const random = new Random(7);
  const bytes = Uint8Array.from({ length: 4000 }, () =>
    random.chance(0.3) ? 10 : random.below(256),
  );
  for (let round = 0; round < 300; round++) {
    const part = bytes.subarray(random.below(9), 4000 - random.below(9));
    const start = random.below(1000);
    const end = start + random.below(random.chance(0.5) ? 6 : part.length - start);
    const expected = part.subarray(start, end).filter((byte) => byte === 10).length;
    assert.equal(countLineFeeds(part, start, end), expected);
  }
});

test("lines with odd blanks and addresses are shown with the rules that they made", async () => {
  const odd = [
    "0.0.0.0\va.odd.example",
    "0.0.0.0\fb.odd.example",
    "[::] c.odd.example",
    "::1%lo0 d.odd.example",
    "0.0.0.0 e.odd.example#note",
  ];
  const files = { ...FILES, "ads.txt": `${odd.join("\n")}\n` };
  for (const [index, line] of odd.entries()) {
    const name = `${"abcde"[index]!}.odd.example`;
    const { stdout } = await why([name, "--json"], () => {}, "", files);
    assert.ok(stdout.includes(JSON.stringify(line)), `${line}: ${stdout}`);
  }
});
