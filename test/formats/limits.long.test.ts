import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { listIn } from "../support/documents.ts";

const WORDS = ["compile", "-c", "c.json", "--no-cache"];

const FIRST = [
  ...Array.from({ length: 30 }, (_, index) => `||first${index}.com^`),
  "|only.first.net^",
  "||*.below.first.net^",
  "||weak.first.net^$important",
];
const SECOND = Array.from({ length: 30 }, (_, index) => `0.0.0.0 second${index}.com`);
const THIRD = [
  "||third.org^",
  "@@||good.third.org^",
  "||bad.good.third.org^$important",
  "@@|p*.first0.com^",
  "/regex[0-9]/",
  "||x.com^$client=10.0.0.1",
];

function projectOf(outputs: readonly object[], transformations: readonly string[]): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: ["First", "Second", "Third"].map((name) => ({
        name,
        source: name,
        type: "adblock",
      })),
      transformations,
      outputs,
    }),
    First: `${FIRST.join("\n")}\n`,
    Second: `${SECOND.join("\n")}\n`,
    Third: `${THIRD.join("\n")}\n`,
  });
}

interface Output {
  readonly format?: string;
  readonly names: number;
  readonly files: readonly string[];
  readonly leftOut?: readonly { readonly label: string; readonly names: number }[];
}

async function run(
  outputs: readonly object[],
  transformations: readonly string[] = [],
): Promise<{ project: MemoryProject; written: Output[] }> {
  const project = projectOf(outputs, transformations);
  const { exit, stdout, stderr } = await project.run(...WORDS, "--json");
  assert.equal(exit, 0, stderr);
  const all = (listIn(stdout) as { outputs: Output[] }).outputs;
  return { project, written: all.filter(({ format }) => format !== undefined) };
}

function size(project: MemoryProject, { files }: Output): number {
  return files.reduce((sum, file) => sum + project.memory.files.get(`/project/${file}`)!.length, 0);
}

/** Entries of a file: what stands for one name or one rule. */
function entries(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !/^(?:$|[!#;$:@{]|\]|"|server:)(?!@)/.test(line))
    .map(
      (line) => /[a-z0-9.-]+\.(?:com|net|org)|regex/.exec(line)?.[0].replace(/^\.+/, "") ?? line,
    );
}

test("no format exceeds a limit", async () => {
  for (const transformations of [[], ["Compress"]])
    for (const most of [12, 33, 60]) {
      const limit = (format: string): object => ({ format, fit: { max_rules: most } });
      const { project, written } = await run(FORMAT_NAMES.map(limit), transformations);
      for (const output of written) {
        const names = new Set(output.files.flatMap((file) => entries(project.text(file))));
        assert.ok(names.size <= most, `${output.format}: ${names.size} of ${most}`);
        assert.ok(
          names.size >= Math.min(most, 28) - 5,
          `${output.format}: ${names.size} of ${most}`,
        );
      }
    }
});

test("the size includes header, footer and the file of exceptions", async () => {
  for (const most of [900, 1500, 2500]) {
    const limit = (format: string): object => ({ format, fit: { max_bytes: most } });
    const { project, written } = await run(FORMAT_NAMES.map(limit));
    for (const output of written) {
      const bytes = size(project, output);
      assert.ok(bytes <= most, `${output.format}: ${bytes} of ${most}`);
      assert.ok(
        (output.leftOut ?? []).length === 0 || bytes > most - 120,
        `${output.format}: ${bytes}`,
      );
    }
  }
});

test("earlier sources have priority, and what is left out is reported per source", async () => {
  for (const format of ["adblock", "dnscrypt", "domains", "rpz", "json"]) {
    const { project, written } = await run([{ format, fit: { max_rules: 20 } }]);
    const text = written[0]!.files.map((file) => project.text(file)).join("\n");
    assert.doesNotMatch(text, /second/, format);
    assert.ok((text.match(/first\d+\.com/g)?.length ?? 0) > 10, format);
    const left = written[0]!.leftOut!.map(({ label }) => label);
    assert.deepEqual(left.slice(0, 2), ["First", "Second"], format);
    assert.equal(written[0]!.leftOut!.find(({ label }) => label === "Second")?.names, 30, format);
  }
});

test("exceptions are never left out", async () => {
  const outputs = ["adblock", "rpz", "dnsmasq", "squid", "json"].map((format) => ({
    format,
    fit: { max_rules: 4 },
  }));
  const { project, written } = await run(outputs);
  for (const { files, format } of written)
    assert.match(files.map((file) => project.text(file)).join("\n"), /good\.third\.org/, format);
  for (const fit of [{ max_rules: 0 }, { max_bytes: 120 }]) {
    const { exit, stderr } = await projectOf([{ format: "adblock", fit }], []).run(...WORDS);
    assert.equal(exit, 5, stderr);
    assert.match(
      stderr,
      /error\[limit-too-small\]: The exceptions in rules\/l\.adblock\.txt exceed/,
    );
  }
});

test("a rule of AdGuard Home counts as 500 bytes of memory", async () => {
  const { written } = await run([{ format: "adblock", fit: { ram: "5k" } }]);
  assert.equal(written[0]!.names, 10);
});

test("related names of a policy zone stay in one part", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      outputs: [{ format: "rpz", split: { max_rules: 5 } }],
    }),
    "a.txt": Array.from({ length: 6 }, (_, index) =>
      [
        `||s${index}.com^$important`,
        `@@||b.s${index}.com^$important`,
        `||x${index}.org^`,
        `@@||n${index}.net^`,
        `||c.n${index}.net^$important`,
        "",
      ].join("\n"),
    ).join(""),
  });
  const { exit, stdout, stderr } = await project.run(...WORDS, "--json");
  assert.equal(exit, 0, stderr);
  const [, output] = (listIn(stdout) as { outputs: Output[] }).outputs;
  const parts = output!.files.map((file) => project.text(file));
  assert.ok(parts.length > 4);
  for (const part of parts)
    for (let index = 0; index < 6; index++) {
      assert.equal(part.includes(`\ns${index}.com `), part.includes(`\nb.s${index}.com `));
      assert.equal(part.includes(`\nn${index}.net `), part.includes(`\nc.n${index}.net `));
    }
});

test("a zone whose exceptions do not fit into one part is not published", async () => {
  const outputs = [{ format: "rpz", split: { max_rules: 2 } }];
  const { exit, stderr } = await projectOf(outputs, []).run(...WORDS);
  assert.equal(exit, 5, stderr);
  assert.match(stderr, /error\[limit-too-small\].*`split`/);
});

test("every part of a rule-set of sing-box is a document, also in its second section", async () => {
  const trees = Array.from({ length: 7 }, (_, index) => `t${index}.example`);
  const names = Array.from({ length: 8 }, (_, index) => `n${index}.example`);
  for (const split of [{ max_rules: 4 }, { max_bytes: 200 }]) {
    const project = new MemoryProject({
      "c.json": JSON.stringify({
        name: "L",
        sources: [{ name: "A", source: "a.txt", type: "adblock" }],
        outputs: [{ format: "sing-box", split }],
      }),
      "a.txt": [...trees.map((one) => `||${one}^`), ...names.map((one) => `|${one}^`)].join("\n"),
    });
    const { exit, stdout, stderr } = await project.run(...WORDS, "--json");
    assert.equal(exit, 0, stderr);
    const written = (listIn(stdout) as { outputs: Output[] }).outputs;
    const { files } = written.find(({ format }) => format === "sing-box")!;
    const parts = files
      .filter((file) => !file.includes("allow"))
      .map((file) => JSON.parse(project.text(file)) as { rules: Record<string, string[]>[] });
    assert.ok(parts.length >= 3, `${parts.length} parts`);
    const all = (key: string): string[] =>
      parts.flatMap(({ rules }) => rules[0]![key] ?? []).filter((one) => !one.endsWith(".invalid"));
    assert.deepEqual(all("domain_suffix"), trees);
    assert.deepEqual(all("domain"), names);
  }
});

function manyNames(count: number): string {
  return Array.from({ length: count }, (_, index) => `||n${index}.first.com^\n`).join("");
}

test("an output that would be split into thousands of files is refused", async () => {
  const project = projectOf([{ format: "domains", split: { max_rules: 1 } }], []);
  project.write("Second", "\n");
  project.write("Third", "\n");
  project.write("First", manyNames(1001));
  const { exit, stderr } = await project.run(...WORDS);
  assert.equal(exit, 5, stderr);
  assert.match(
    stderr,
    /error\[too-many-files\]: l\.domains would be split into more than 1,000 files[^]*Increase max_rules/,
  );
  assert.ok(![...project.memory.files.keys()].some((path) => path.includes("l-2.domains")));
  project.write("First", manyNames(20));
  assert.equal((await project.run(...WORDS)).exit, 0);
  assert.ok(project.memory.files.has("/project/rules/l-20.domains"));
});
