import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "../../src/config/outputs.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { type MemoryHost, type MemoryHostOptions, memoryHost } from "../support/internals.ts";

const LIST = "! A list\n||ads.example^\n0.0.0.0 host.example\n@@||ok.ads.example^\n";

async function cli(
  words: string,
  options: MemoryHostOptions = {},
): Promise<{ exit: Exit; host: MemoryHost; stdout: string; stderr: string }> {
  const host = memoryHost({
    files: { "list.txt": LIST },
    now: new Date("2026-01-02T03:04:05Z"),
    ...options,
  });
  const exit = await run(words.split(" "), host, new AbortController().signal);
  return { exit, host, ...host.output };
}

function textOf(host: MemoryHost, file: string): string {
  return new TextDecoder().decode(host.files.get(`/project/${file}`));
}

/** Every file but the list that a run is given. */
function written({ files }: MemoryHost): string[] {
  return [...files.keys()].filter((path) => path !== "/project/list.txt").toSorted();
}

/** What blocks `ads.example` in each format. */
const LINES: Readonly<Record<OutputFormat, string>> = {
  adblock: "||ads.example^",
  hosts: "0.0.0.0 ads.example",
  domains: "ads.example",
  wildcard: "*.host.example",
  dnsmasq: "address=/ads.example/",
  "dnsmasq-servers": "server=/ads.example/",
  unbound: 'local-zone: "ads.example." always_nxdomain',
  rpz: "*.ads.example CNAME .",
  dnscrypt: "ads.example",
  smartdns: "address /ads.example/#",
  dnsdist: "ads.example",
  squid: ".ads.example",
  rbldnsd: ".ads.example",
  pihole: "||ads.example^",
  blocky: "*.ads.example",
  mihomo: "+.ads.example",
  "sing-box": ',"ads.example"',
  json: ' {"name":"ads.example","scope":"subtree","action":"block"}',
  cdb: "",
};

for (const format of OUTPUT_FORMATS)
  test(`one command converts: ${format}`, async () => {
    const { extension, hasAllowFile, isDatabase } = nameFormats.get(format)!;
    const file = `a${extension}`;
    const all = [file];
    if (hasAllowFile === true) all.push(file.replace(/(\.[^./]*)$/, ".allow$1"));
    if (isDatabase === true) all.push(`${file}.lua`);
    const named = await cli(`-i list.txt --to ${format} -o ${file}`);
    assert.equal(named.exit, Exit.Done, named.stderr);
    const text = textOf(named.host, file);
    assert.ok(text.split("\n").includes(LINES[format]) || isDatabase === true, text);
    const others = written(named.host).filter((path) => !path.includes("/.rules-compiler/"));
    assert.deepEqual(others, all.map((one) => `/project/${one}`).toSorted());
    for (const one of all) assert.ok(isDatabase === true || named.stderr.includes(one), one);
    // The extension of the file means the same.
    for (const words of [`list.txt -o ${file}`]) {
      const { exit, host } = await cli(words);
      assert.equal(exit, Exit.Done);
      assert.equal(textOf(host, file), text, words);
    }
    for (const words of [`list.txt --to ${format}${format === "rpz" ? "" : " -o -"}`]) {
      const sent = await cli(words);
      assert.deepEqual(written(sent.host), []);
      if (all.length === 1) assert.equal(sent.stdout, text, words);
      else {
        assert.equal(sent.exit, Exit.Usage);
        assert.match(sent.stderr, new RegExp(`${format} has two files`));
        assert.ok(sent.stderr.includes(`Use -o list${extension}`));
      }
    }
  });

const TEXTS = OUTPUT_FORMATS.filter((format) => nameFormats.get(format)!.isDatabase !== true);

/** The lines of a file that are not its header. */
function body(text: string): string[] {
  return text.split("\n").filter((line) => !/^(?:[!#;]|@ SOA|\{"about")/.test(line));
}

/** The first lines of a real list. */
function realList(): string {
  const file = join(corpusFolder("typical"), "sjhgvr__oisd__abp_small.txt");
  return readFileSync(file, "utf8").split("\n").slice(0, 100).join("\n");
}

for (const format of TEXTS)
  test(
    `a real list is the same after a round trip: ${format}`,
    { skip: missingCorpus },
    async () => {
      const { extension } = nameFormats.get(format)!;
      const there = await cli(`list.txt -o a${extension}`, { files: { "list.txt": realList() } });
      assert.equal(there.exit, Exit.Done, there.stderr);
      const text = textOf(there.host, `a${extension}`);
      assert.ok(body(text).length > 60, text.slice(0, 500));
      const back = await cli(`-i a${extension} -o b${extension}`, {
        files: { [`a${extension}`]: text },
      });
      assert.equal(back.exit, Exit.Done, back.stderr);
      assert.deepEqual(body(textOf(back.host, `b${extension}`)), body(text));
      const plain = await cli(`-i a${extension} -o b.txt`, { files: { [`a${extension}`]: text } });
      const list = await cli("list.txt -o b.txt", { files: { "list.txt": realList() } });
      assert.deepEqual(body(textOf(plain.host, "b.txt")), body(textOf(list.host, "b.txt")));
    },
  );

test("a file of a format is never a list in adblock syntax", async () => {
  for (const [file, hint] of [
    ["list.zone", "--to rpz"],
    ["list.db", "--to rpz or --to cdb"],
    ["list.conf", "--to dnsmasq or --to unbound or --to smartdns"],
    ["list.txt.gz", "--to adblock"],
  ] as const) {
    const { exit, host, stderr } = await cli(`list.txt -o ${file}`);
    assert.equal(exit, Exit.Usage);
    assert.ok(stderr.includes(hint), stderr);
    assert.deepEqual(written(host), []);
  }
  for (const [file, line] of [
    ["hosts", "0.0.0.0 ads.example"],
    ["RULES.RPZ", "*.ads.example CNAME ."],
    ["list", "||ads.example^"],
    ["list.v2", "||ads.example^"],
    ["list.adblock", "||ads.example^"],
  ] as const) {
    const { host, stderr } = await cli(`-i list.txt -o ${file}`);
    assert.ok(textOf(host, file).split("\n").includes(line), `${file}: ${stderr}`);
  }
  for (const words of ["plan list.txt", "watch list.txt", "rollback", "why ads.example"]) {
    const { exit, stderr } = await cli(`${words} -o a.rpz`);
    assert.equal(exit, Exit.Usage);
    assert.match(stderr, /is for lists in adblock syntax; -o a\.rpz is of another format/);
  }
});

const CONFIG = `name: My list
sources: [{ name: a, source: list.txt, type: adblock }]
outputs: [{ format: rpz, answer: nodata }, { format: hosts }]
`;

test("a configuration is converted with its settings of the format, and nothing else is written", async () => {
  const files = { "list.txt": LIST, "my.yaml": CONFIG };
  for (const words of ["-c my.yaml -o a.rpz", "my.yaml --to rpz -o a.rpz"]) {
    const { exit, host, stderr } = await cli(words, { files });
    assert.equal(exit, Exit.Done, stderr);
    assert.match(textOf(host, "a.rpz"), /\nads\.example CNAME \*\.\n/);
    assert.match(stderr, /2 other files of the configuration are not written/);
    assert.deepEqual([...host.files.keys()].toSorted(), [
      "/project/a.rpz",
      "/project/list.txt",
      "/project/my.yaml",
    ]);
  }
  const folder = await cli("my.yaml --to rpz -o out/", { files });
  assert.match(folder.stderr, /written out\/my-list\.rpz: rpz/);
  assert.ok(!folder.host.files.has("/project/out/my-list.txt"));
  for (const [words, text] of [
    ["my.yaml --to rpz", /--to needs -o[^]*-o list\.rpz[^]*outputs/],
    ["my.yaml -o a.rpz -r", /-r copies the list in adblock syntax/],
    ["list.txt --to rpx -o a", /--to must be one of .*[^]*Did you mean rpz\?/],
    ["list.txt --to bind -o a", /Did you mean rpz\?/],
    ["list.txt --to Pi-hole -o a", /Did you mean pihole\?/],
  ] as const) {
    const { exit, stderr } = await cli(words, { files });
    assert.equal(exit, Exit.Usage);
    assert.match(stderr, text);
  }
});

test("what a format cannot express is reported once, with what to do", async () => {
  const { stderr } = await cli("list.txt -o a.hosts");
  const losses = stderr.match(/exact names only.*/g) ?? [];
  assert.equal(losses.length, 1);
  assert.match(losses[0], /subdomains of 2 rules .*; rpz, unbound and dnsmasq block them$/);
});

test("a converted file that has the same rules is left alone", async () => {
  const first = await cli("list.txt -o a.rpz");
  const files = Object.fromEntries(first.host.files);
  const again = await cli("list.txt -o a.rpz", { files, now: new Date("2026-02-02T03:04:05Z") });
  assert.match(again.stderr, /unchanged a\.rpz/);
  assert.deepEqual(Object.fromEntries(again.host.files), files);
});

test("the first argument is a list, a URL, a configuration or a folder", async () => {
  const files = {
    "list.txt": LIST,
    "my.yaml": CONFIG,
    "there/compiler-config.json": JSON.stringify({
      name: "There",
      sources: [{ source: "../list.txt" }],
    }),
  };
  const web = { "https://lists.example/a.txt?x=1": LIST };
  for (const [words, text] of [
    ["my.yaml -o -", /! Title: My list/],
    ["compile my.yaml -o -", /! Title: My list/],
    ["./there -o -", /! Title: There/],
    ["there/ -o -", /! Title: There/],
    ["list.txt", /! Title: Blocklist[^]*\|\|ads\.example\^/],
    ["./list.txt list.txt -o -", /\|\|ads\.example\^/],
    ["https://lists.example/a.txt?x=1", /\|\|ads\.example\^/],
  ] as const) {
    const { exit, stdout, stderr } = await cli(words, { files, web });
    assert.equal(exit, Exit.Done, `${words}: ${stderr}`);
    assert.match(stdout, text, words);
  }
  const valid = await cli("validate my.yaml", { files });
  assert.match(valid.stderr, /valid: "My list"/);
  for (const [words, text] of [
    ["nothing.txt", /nothing\.txt/],
    ["nothing.yaml", /Configuration file not found: nothing\.yaml/],
    ["my.yaml there/", /More than one configuration: my\.yaml and there\//],
    ["my.yaml -c my.yaml", /More than one configuration/],
    ["validate list.txt", /validate does not take a list: list\.txt/],
    ["my-lists", /Unknown command: my-lists[^]*write \.\/my-lists/],
    ["complie", /Did you mean "compile"/],
  ] as const) {
    const { exit, stderr } = await cli(words, { files });
    assert.notEqual(exit, Exit.Done, words);
    assert.match(stderr, text);
  }
});
