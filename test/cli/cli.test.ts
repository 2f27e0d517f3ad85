import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import type { Options } from "../../src/cli/flags/options.ts";
import { BuildScreen } from "../../src/cli/output/build-screen.ts";
import { Reporter, textWidth } from "../../src/cli/output/reporter.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import {
  type Host,
  HostError,
  type MemoryHost,
  type MemoryHostOptions,
  memoryHost,
  nodeHost,
} from "../support/internals.ts";
import { listIn } from "../support/documents.ts";
import { MemoryProject } from "../support/memory-project.ts";

const HOSTS =
  "# a hosts file\n127.0.0.1 localhost\n0.0.0.0 ads.example.com\n0.0.0.0 x.ads.example.com\n";
const CONFIG = JSON.stringify({
  name: "My list",
  sources: [{ name: "Hosts", source: "hosts.txt", type: "hosts" }],
  transformations: ["RemoveComments", "Compress", "Validate", "InsertFinalNewLine"],
});
const FILES = { "compiler-config.json": CONFIG, "hosts.txt": HOSTS };

async function cli(
  words: string,
  options: MemoryHostOptions = {},
): Promise<{ exit: Exit; host: MemoryHost; stdout: string; stderr: string }> {
  const host = memoryHost({ files: FILES, now: new Date("2026-01-02T03:04:05Z"), ...options });
  const exit = await run(words === "" ? [] : words.split(" "), host, new AbortController().signal);
  return { exit, host, ...host.output };
}

function fileOf(host: MemoryHost, path: string): string | undefined {
  const bytes = host.files.get(path);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

const LIST =
  "!\n! Title: My list\n! Last modified: 2026-01-02T03:04:05.000Z\n!\n! Compiled by rules-compiler v0.1.0\n!\n||ads.example.com^\n";

test("without arguments it compiles compiler-config.json into the rules directory", async () => {
  const { exit, host, stdout, stderr } = await cli("");
  assert.equal(exit, Exit.Done);
  assert.equal(fileOf(host, "/project/rules/my-list.txt"), LIST);
  assert.equal(stdout, "");
  assert.match(stderr, /Hosts +4 +1 +3 +covered 1, local-name 1$/m);
  assert.match(stderr, /written rules\/my-list\.txt: 1 rule, 120 B/);
});

test("CONFIG_PATH, RULES_DIR and the flags decide what is read and written", async () => {
  const files = {
    "c/other.yaml": "name: Other\nsources: [{name: a, type: hosts, source: a.txt}]\n",
    "c/a.txt": "x.com",
  };
  const env = { CONFIG_PATH: "c/other.yaml", RULES_DIR: "out" };
  for (const [args, written] of [
    ["", ["/project/out/other.txt"]],
    ["-o l.txt", ["/project/l.txt"]],
    ["-o l.txt -r", ["/project/out/other.txt", "/project/l.txt"]],
    ["-r", ["/project/out/other.txt"]],
  ] as const) {
    const { host } = await cli(args, { files, env });
    const lists = [...host.files.keys()].filter((path) => path.endsWith(".txt"));
    assert.deepEqual(lists.slice(1), written);
  }
});

test("a leading -- is not an argument", async () => {
  assert.equal((await cli("-- -c compiler-config.json -r -d")).exit, Exit.Done);
});

test("-o - writes the list, and nothing else, to standard output", async () => {
  assert.equal((await cli("-o -")).stdout, LIST);
});

test("the list is left alone when only the date would change", async () => {
  const old = LIST.replace("2026-01-02", "2020-01-01");
  const { host, stderr } = await cli("-o old.txt", { files: { ...FILES, "old.txt": old } });
  assert.equal(fileOf(host, "/project/old.txt"), old);
  assert.match(stderr, /unchanged old\.txt/);
});

test("SOURCE_DATE_EPOCH sets the date", async () => {
  const { stdout } = await cli("-o -", { env: { SOURCE_DATE_EPOCH: "1700000000" } });
  assert.match(stdout, /! Last modified: 2023-11-14T22:13:20\.000Z/);
});

test("--validate and validate check the configuration and stop", async () => {
  for (const words of ["--validate", "validate", "validate --verbose"]) {
    const { exit, host, stderr } = await cli(words);
    assert.equal(exit, Exit.Done);
    assert.equal(host.files.size, 2);
    assert.match(stderr, /valid: "My list" with 1 source/);
  }
});

test("--json prints one report on standard output and problems as JSON lines on standard error", async () => {
  const { stdout, stderr } = await cli("--json", {
    files: {
      ...FILES,
      "compiler-config.json": CONFIG.replace('"name":"My list"', '"name":"My list","nmae":1'),
    },
  });
  const report = listIn(stdout) as {
    lines: number;
    kept: number;
    sources: { dropped: Record<string, number> }[];
  };
  assert.equal(report.lines, 4);
  assert.equal(report.kept, 1);
  assert.deepEqual(report.sources[0]!.dropped, { comment: 1, covered: 1, "local-name": 1 });
  assert.equal((JSON.parse(stderr.split("\n")[0]!) as { code: string }).code, "unknown-key");
});

test("quick mode compiles sources without a configuration", async () => {
  const { exit, stdout } = await cli("-i hosts.txt -t hosts -o -");
  assert.equal(exit, Exit.Done);
  assert.match(stdout, /! Title: Blocklist\n[^]*\n\|\|ads\.example\.com\^\n$/);
});

const FAILURES: readonly [
  words: string,
  files: Record<string, string>,
  exit: Exit,
  text: RegExp,
][] = [
  [
    "-c nope.json",
    {},
    Exit.Usage,
    /error\[config-not-found\]: Configuration file not found: nope\.json/,
  ],
  [
    "-c a.toml",
    { "a.toml": "" },
    Exit.Usage,
    /Invalid configuration: a\.toml does not end in \.json, \.jsonc, \.yaml or \.yml/,
  ],
  [
    "-c a.json",
    { "a.json": '{"name": "x", // c\n}' },
    Exit.Usage,
    /Invalid JSON: comments are allowed in \.jsonc only\n +--> a\.json:1:15/,
  ],
  ["-c a.json", { "a.json": "{'name': 1}" }, Exit.Usage, /Invalid JSON: /],
  ["-c a.jsonc", { "a.jsonc": "{ /* c */ " }, Exit.Usage, /Failed to parse configuration: /],
  ["-c a.yaml", { "a.yaml": "name: [" }, Exit.Usage, /Failed to parse configuration: /],
  ["-c a.json", { "a.json": "{}" }, Exit.Usage, /name is required[^]*sources is required/],
  [
    "-c a.json",
    { "a.json": '{"name": "x", "sources": [{"name": "y"}]}' },
    Exit.Usage,
    /source of sources\[0\] is required/,
  ],
  [
    "-c a.json",
    { "a.json": '{"name": 1, "sources": 2}' },
    Exit.Usage,
    /Invalid configuration: name must be a string, not 1[^]*sources must be a list/,
  ],
  [
    "-c a.yaml",
    { "a.yaml": "name: x\nversion: 1.10\nsources: [{source: a}]" },
    Exit.Usage,
    /version must be a string, not 1\.1\n +--> a\.yaml:2:10\n +\|\n +2 \| version: 1\.10\n +\| +\^/,
  ],
  [
    "-c a.json",
    { "a.json": '{"name":"x","sources":[{"source":"s","transformations":["compress"]}]}' },
    Exit.Usage,
    /Unknown transformation: compress[^]*did you mean "Compress"\?/,
  ],
  [
    "-c a.json",
    {
      "a.json":
        '{"name":"x","sources":[{"source":"s"}],"transformations":["Validate","ValidateAllowIp"]}',
    },
    Exit.Usage,
    /more than one validator/,
  ],
  [
    "-c a.json",
    {
      "a.json":
        '{"name":"x","sources":[{"source":"s","transformations":["Validate"]}],"transformations":["Validate"]}',
    },
    Exit.Usage,
    /the top level uses Validate/,
  ],
  ["--confg x", {}, Exit.Usage, /Unknown option: --confg[^]*Did you mean --config\?/],
  ["complie", {}, Exit.Usage, /Unknown command: complie[^]*Did you mean "compile"\?/],
  ["-c", {}, Exit.Usage, /-c needs a value: FILE/],
  ["--json=1", {}, Exit.Usage, /--json takes no value/],
  ["--color blue", {}, Exit.Usage, /--color must be auto, always or never, not blue/],
  ["-i nope.txt -o -", {}, Exit.Sources, /File not found: nope\.txt/],
  [
    "-i http://127.0.0.1:1/x -o -",
    {},
    Exit.Sources,
    /Failed to fetch http:\/\/127\.0\.0\.1:1\/x\n +(?:--> .*\n +)?= because: ECONNREFUSED/,
  ],
];

for (const [words, files, exit, text] of FAILURES) {
  test(`${words} ${JSON.stringify(files).slice(0, 60)} ends in ${exit}`, async () => {
    const result = await cli(words, { files: { ...FILES, ...files } });
    assert.match(result.stderr, text);
    assert.equal(result.exit, exit);
    assert.equal(result.stdout, "");
    assert.doesNotMatch(result.stderr, /\n +at /, "no stack trace for a user's mistake");
  });
}

test("all failing sources are reported, and nothing is written", async () => {
  const config = JSON.stringify({
    name: "x",
    sources: ["a", "b", "c"].map((source) => ({ source, name: source, type: "hosts" })),
  });
  const { exit, stderr, host } = await cli("", {
    files: { "compiler-config.json": config, b: "ok.example" },
  });
  assert.equal(exit, Exit.Sources);
  assert.match(stderr, /File not found: a[^]*File not found: c/);
  assert.equal(host.files.size, 2);
});

function noSpace(): never {
  throw new HostError("ENOSPC", "no space left");
}

test("an output that cannot be written exits with code 6 and leaves no files behind", async () => {
  const faults: Record<string, (host: Host) => Partial<Host>> = {
    createFile: () => ({ createFile: noSpace }),
    write: (host) => ({ createFile: (path) => ({ ...host.createFile(path), write: noSpace }) }),
    finish: (host) => ({
      createFile: (path) => ({ ...host.createFile(path), finish: async () => noSpace() }),
    }),
    rename: () => ({ rename: async () => noSpace() }),
    syncFolder: () => ({ syncFolder: async () => noSpace() }),
    makeFolder: () => ({ makeFolder: async () => noSpace() }),
  };
  for (const [call, fault] of Object.entries(faults)) {
    const host = memoryHost({ files: { ...FILES, "l.txt": "old" } });
    const broken: Host = { ...host, ...fault(host) };
    const exit = await run(["-o", "l.txt"], broken, new AbortController().signal);
    assert.equal(exit, Exit.Output, call);
    assert.match(
      host.output.stderr,
      /Cannot write \/project\/l\.txt\n += because: ENOSPC: no space left/,
    );
    assert.deepEqual(
      [...host.files.keys()].filter((path) => path.endsWith(".tmp")),
      [],
    );
  }
});

test("a signal stops the run with 130 or 143", async () => {
  for (const [signal, exit] of [
    ["SIGINT", Exit.Interrupted],
    ["SIGTERM", Exit.Terminated],
  ] as const) {
    const host = memoryHost({ files: FILES });
    const stop = new AbortController();
    stop.abort(signal);
    assert.equal(await run([], host, stop.signal), exit);
    assert.equal(host.files.size, 2);
  }
});

test("an internal error exits with code 1 and asks for a report", async () => {
  const host = memoryHost({ files: FILES });
  const broken: Host = { ...host, readFile: async () => Promise.reject(new TypeError("oops")) };
  assert.equal(await run([], broken, new AbortController().signal), Exit.Bug);
  assert.match(host.output.stderr, /bug: please report this/);
});

test("levels: quiet, debug, DEBUG and the log level of the .NET compiler", async () => {
  assert.equal((await cli("--quiet")).stderr, "");
  assert.match((await cli("-d")).stderr, /debug: /);
  assert.match((await cli("", { env: { DEBUG: "true" } })).stderr, /debug: /);
  assert.match(
    (await cli("", { env: { RULESCOMPILER_Logging__LogLevel__Default: "Debug" } })).stderr,
    /debug: /,
  );
  assert.equal(
    (await cli("", { env: { RULESCOMPILER_Logging__LogLevel__Default: "Error" } })).stderr,
    "",
  );
});

test("nothing from a list reaches the terminal unescaped", async () => {
  const files = {
    ...FILES,
    "hosts.txt": "6.6.6.6 \u001b[31mred.example.com\u202e\n!#if (\u001b]0;x\u0007\n",
  };
  const { stderr } = await cli("", { files });
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.match(stderr, /\\u\{1b\}/);
});

test("a password in an address reaches neither the list nor the screen", async () => {
  const config = JSON.stringify({
    name: "x",
    sources: [{ source: "https://user:secret@example.org/l.txt", type: "hosts" }],
  });
  const ok = await cli("-o -", {
    files: { "compiler-config.json": config },
    web: { "https://user:secret@example.org/l.txt": "0.0.0.0 a.example.com" },
  });
  const failed = await cli("-o -", { files: { "compiler-config.json": config } });
  for (const { stdout, stderr } of [ok, failed]) assert.doesNotMatch(stdout + stderr, /secret/);
  assert.match(ok.stdout, /! Source: https:\/\/example\.org\/l\.txt/);
});

test("paths are looked up beside the configuration, then in the working directory with a note", async () => {
  const config = JSON.stringify({
    name: "x",
    sources: [{ source: "l.txt", name: "l", type: "hosts" }],
  });
  const beside = await cli("-c c/c.json -o -", {
    files: { "c/c.json": config, "c/l.txt": "beside.example.com", "l.txt": "cwd.example.com" },
  });
  assert.match(beside.stdout, /beside/);
  assert.doesNotMatch(beside.stderr, /note/);
  const elsewhere = await cli("-c c/c.json -o -", {
    files: { "c/c.json": config, "l.txt": "cwd.example.com" },
  });
  assert.match(elsewhere.stdout, /cwd/);
  assert.match(elsewhere.stderr, /note\[found-beside-working-directory\]/);
});

test("on a terminal progress is drawn over; --version and --help need nothing", async () => {
  const { stderr } = await cli("", { isTerminal: true });
  assert.match(stderr, /reading sources 0\/1[^]*\u001b\[2A\u001b\[J/);
  assert.match((await cli("--version")).stdout, /^0\.1\.0(?: \(commit [0-9a-f]{10}\))?\n$/);
  assert.match((await cli("--help")).stdout, /^rules-compiler: .*\n[^]*Exit codes:/);
});

test("a bad expression in the configuration is found by validate, with its place", async () => {
  const files = {
    "a.yaml":
      'name: x\nsources: [{source: s, name: s, type: hosts}]\nexclusions:\n  - ok\n  - "/(/"\n',
  };
  const { exit, stderr } = await cli("validate -c a.yaml", { files });
  assert.equal(exit, Exit.Usage);
  assert.match(stderr, /error\[bad-regex-entry\].*\n +--> a\.yaml:5:5/);
});

test("an invalid address is an error of the configuration, not a bug", async () => {
  const { exit, stderr } = await cli("-i http://127.0.0.1:99999/x -o -");
  assert.equal(exit, Exit.Usage);
  assert.match(stderr, /sources\[0\]\.source is not a URL/);
});

test("a closed pipe is not an error; a full disk behind standard output is", async () => {
  for (const [code, exit] of [
    ["EPIPE", Exit.Done],
    ["ENOSPC", Exit.Output],
  ] as const) {
    for (const words of ["-o -", "--json"]) {
      const host = memoryHost({ files: FILES });
      const stdout = {
        ...host.stdout,
        send: async () => Promise.reject(new HostError(code, "refused")),
      };
      assert.equal(
        await run(words.split(" "), { ...host, stdout }, new AbortController().signal),
        exit,
        `${words} ${code}`,
      );
    }
  }
});

test("a closed pipe that throws, as Deno does, is not a bug", async () => {
  const closed = Object.assign(new Error("Broken pipe (os error 32)"), { code: "EPIPE" });
  const write = process.stderr.write.bind(process.stderr);
  const sink = nodeHost().stderr;
  try {
    process.stderr.write = () => {
      throw closed;
    };
    sink.write("a message");
    await assert.rejects(sink.send("an answer"), { name: "HostError", code: "EPIPE" });
  } finally {
    process.stderr.write = write;
  }
});

test("--json with -o - keeps the list alone on standard output", async () => {
  const { stdout, stderr } = await cli("--json -o -");
  assert.equal(stdout, LIST);
  assert.equal((listIn(stderr) as { kept: number }).kept, 1);
});

test("on a narrow terminal nothing is wider than the screen, whatever the script", async () => {
  const sources = [
    "広告ブロックリスト広告ブロックリスト広告ブロックリスト",
    "a".repeat(90),
    "短い",
  ].map((name) => ({ name, source: "hosts.txt", type: "hosts" }));
  const config = JSON.stringify({
    name: "x",
    sources,
    transformations: ["RemoveComments", "Compress", "Validate"],
  });
  const { stderr } = await cli("", {
    files: { ...FILES, "compiler-config.json": config },
    isTerminal: true,
  });
  const widths = stderr
    .replace(/\u001b\[[0-9;]*[A-Za-z]/g, "")
    .split("\n")
    .map(textWidth);
  assert.ok(Math.max(...widths) <= 80, String(Math.max(...widths)));
});

test("an empty source is pointed out", async () => {
  const { exit, stderr } = await cli("", { files: { ...FILES, "hosts.txt": " \n" } });
  assert.equal(exit, Exit.Guard, "and an empty list is not published");
  assert.match(stderr, /warning\[source-empty\]: hosts\.txt is empty/);
});

test("a thread that hears signals starts for plugins and for large sources only", async () => {
  const said: string[] = [];
  const watchSignals = ({ farewell }: { farewell: string }): void => void said.push(farewell);
  const compile = async (...words: string[]): Promise<number> => {
    said.length = 0;
    const host = { ...memoryHost({ files: FILES }), watchSignals };
    assert.equal(await run(words, host, new AbortController().signal), Exit.Done);
    return said.length;
  };
  assert.equal(await compile(), 0);
  assert.equal(await compile("--permit", "plugins"), 3);
  assert.match(said[0]!, /nothing was written/);
  assert.match(said[1]!, /while replacing files/);
  assert.match(said[2]!, /were published before: My list/);

  said.length = 0;
  const host = { ...memoryHost(), watchSignals };
  const options = { permit: [], level: "normal" } as unknown as Options;
  const screen = new BuildScreen(options, host, new Reporter(host, options));
  const read = { kind: "source-read", source: 0, label: "a", isCopy: false } as const;
  for (const bytes of [100e6, 30e6, 10e6, 1e6])
    screen.show({ kind: "progress", event: { ...read, bytes } });
  assert.equal(said.length, 1);
});

test("the summary says why lines of a zone are dropped", async () => {
  const zone =
    "$TTL 60\n@ IN SOA localhost. root.localhost. (\n1\n2\n3\n4\n5 )\nads.example CNAME .\n*.ads.example CNAME .\n";
  const one = new MemoryProject({
    "z.rpz": zone,
    "c.yaml": "name: N\nsources: [{ source: z.rpz, type: rpz }]\n",
  });
  const { exit, stderr } = await one.run("-c", "c.yaml");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /z\.rpz .*joined \d/);
});

test("a change of one rule is not shown as no change", async () => {
  const old = Array.from({ length: 4000 }, (_, index) => `||a${index}.example^\n`).join("");
  const one = new MemoryProject({ "old.txt": old, "new.txt": `${old}||new.example^\n` });
  assert.match((await one.run("diff", "old.txt", "new.txt")).stdout, /was 4,000, \+0\.03 %\)/);
});

test("a plan counts decisions apart from sources, and errors come last", async () => {
  const one = new MemoryProject({
    "a.txt": "||ads.example^\n",
    "c.yaml": "name: N\nsources: [a.txt]\n",
    "decisions.txt": "block b.example\n",
  });
  const { stdout } = await one.run("plan", "-c", "c.yaml");
  assert.match(stdout, /^ {2}1 source and decisions: 1 local$/m);
  one.write("c.yaml", "sources: [{ source: a.txt, type: hots }]\n");
  const { stderr } = await one.run("-c", "c.yaml");
  const words = [...stderr.matchAll(/^(note|error)\[/gm)].map(([, word]) => word);
  assert.match(words.join(" "), /^(?:note )+error(?: error)*$/, stderr);
});

test("a schedule and a port are refused in the words of the hint", async () => {
  const one = new MemoryProject({ "c.yaml": "name: N\nsources: [a.txt]\n" });
  const { stderr } = await one.run("serve", "-c", "c.yaml", "--schedule", "0 3 * *");
  assert.match(stderr, /because: it has 4 fields, not 5\n.*hint: Five fields/);
  const port = await one.run("serve", "-c", "c.yaml", "--port", "abc");
  assert.match(port.stderr, /hint: Such as: --port 8080/);
});
