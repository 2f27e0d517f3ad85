import assert from "node:assert/strict";
import {
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost, nodeHost } from "../support/internals.ts";
import { checkLintFix } from "../support/lint-fix.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";

const LIST = `! Title: Mine
||ads.example.com^
||tracker.ads.example.com^
0.0.0.0 ads.example.com
||com^
||fine.example^$dnsrewrite=1.2.3.4
example.org##.banner
  ||blank.example^ 
||ads.example.com^`;

test("lint reports every problem with line and column, and whether it can be fixed", async () => {
  const project = new MemoryProject({ "mine.txt": LIST });
  const { exit, stdout } = await project.run("lint", "mine.txt");
  assert.equal(exit, 9);
  assert.equal(
    stdout,
    `mine.txt:3:1: warning[covered]: another line blocks a parent domain: line 2
mine.txt:4:1: warning[same-host]: another line blocks the same name: line 2
mine.txt:5:1: error[public-suffix]: would block a whole public suffix
mine.txt:6:1: warning[rewrites]: changes responses ($dnsrewrite), which the trust of the source does not permit
mine.txt:7:1: error[bad-syntax]: not a valid rule
mine.txt:8:1: warning[outer-blanks]: has leading or trailing blanks
mine.txt:9:1: warning[duplicate]: same text as another line: line 2
1 file: 2 errors, 5 warnings; --fix fixes 3 without changing what the list blocks
`,
  );
});

test("--fix fixes the problems, and a second run finds nothing more to fix", async () => {
  const project = new MemoryProject({ "mine.txt": LIST });
  const fixed = await project.run("lint", "--fix", "mine.txt");
  assert.equal(fixed.exit, 9);
  assert.match(fixed.stdout, /1 file: 2 errors, 2 warnings; 1 file fixed/);
  assert.match(fixed.stdout, /^mine\.txt:3:1: warning\[same-host\]/);
  assert.equal(
    project.text("mine.txt"),
    "! Title: Mine\n||ads.example.com^\n0.0.0.0 ads.example.com\n||com^\n||fine.example^$dnsrewrite=1.2.3.4\nexample.org##.banner\n||blank.example^\n",
  );
  assert.doesNotMatch((await project.run("lint", "mine.txt")).stdout, /--fix/);
});

test("lint writes SARIF, annotations and JSON, and rejects unknown report formats", async () => {
  const project = new MemoryProject({ "a,b.txt": "||com^\n", "good.txt": "||a.example^\n" });
  const sarif = JSON.parse((await project.run("lint", "a,b.txt", "--format", "sarif")).stdout) as {
    version: string;
    runs: { results: { ruleId: string; level: string; locations: unknown[] }[] }[];
  };
  assert.equal(sarif.version, "2.1.0");
  assert.equal(sarif.runs[0]!.results[0]!.ruleId, "public-suffix");
  assert.deepEqual(sarif.runs[0]!.results[0]!.locations, [
    {
      physicalLocation: {
        artifactLocation: { uri: "a,b.txt" },
        region: { startLine: 1, startColumn: 1 },
      },
    },
  ]);
  assert.equal(
    (await project.run("lint", "a,b.txt", "--format", "github")).stdout,
    "::error file=a%2Cb.txt,line=1,col=1,title=public-suffix::would block a whole public suffix\n",
  );
  assert.equal((await project.run("lint", "good.txt")).exit, 0);
  assert.equal((await project.run("lint", "good.txt", "--format", "xml")).exit, 2);
  assert.equal((await project.run("lint")).exit, 2);
  assert.equal((await project.run("lint", "none.txt")).exit, 4);
});

test("--fix keeps a line if the line that covers it is conditional", async () => {
  const text =
    "!#if (!adguard)\n||x.example^\n!#endif\n||x.example^\n||y.example^\n!#if (adguard)\n||y.example^\n!#else\n||y.example^\n!#endif\n";
  const project = new MemoryProject({ "a.txt": text });
  await project.run("lint", "--fix", "a.txt");
  // In DNS, `adguard` is false: the branch that is read repeats what stands above it.
  assert.equal(project.text("a.txt"), text.replace("!#else\n||y.example^\n", "!#else\n"));
});

test("--fix keeps symbolic links and file permissions", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lint-"));
  try {
    const [file, link] = [join(folder, "real.txt"), join(folder, "link.txt")];
    writeFileSync(file, "||a.example^\n||a.example^\n", { mode: 0o600 });
    symlinkSync(file, link);
    const words = ["lint", "--fix", "-q", link];
    const host = { ...nodeHost(), stdout: memoryHost().stdout };
    assert.equal(await run(words, host, new AbortController().signal), 0);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(readFileSync(file, "utf8"), "||a.example^\n");
    assert.equal(statSync(file).mode & 0o777, 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("control characters and text direction marks are errors", async () => {
  const project = new MemoryProject({ "mine.txt": "||a\u0001.example^\n||b.example^\u202e\n" });
  const { exit, stdout } = await project.run("lint", "mine.txt");
  assert.equal(exit, 9);
  assert.match(
    stdout,
    /^mine\.txt:1:1: error\[control-bytes\].*\nmine\.txt:2:1: error\[control-bytes\]/,
  );
});

test("--fix does not change text that is not UTF-8", async () => {
  const project = new MemoryProject({});
  const bytes = new Uint8Array([
    ...new TextEncoder().encode("||a.example^\n||a.example^\n! "),
    0xe9,
  ]);
  project.memory.files.set("/project/old.txt", bytes);
  await project.run("lint", "--fix", "old.txt");
  assert.deepEqual(project.memory.files.get("/project/old.txt"), bytes);
});

async function fixedText(text: string, type = "adblock", more = {}): Promise<string> {
  const project = new MemoryProject({ "a.txt": text, ...more });
  await project.run("lint", "--fix", "-t", type, "a.txt");
  return project.text("a.txt");
}

test("a hosts line or plain name neither covers nor duplicates a rule for its subdomains", async () => {
  for (const [text, type] of [
    ["p.com\n||x.p.com^\n0.0.0.0 q.com\n||q.com^\n", "adblock"],
    ["||q.com^\n0.0.0.0 q.com\nx.q.com\n127.0.0.1 q.com\nq.com\n", "adblock"],
    ["0.0.0.0 example.com\n0.0.0.0 www.example.com\n0.0.0.0 ads.example.com\n", "hosts"],
    ["example.com\nwww.example.com\n", "domains"],
  ] as const)
    assert.equal(await fixedText(text, type), text);
  assert.equal(
    await fixedText("0.0.0.0 a.com\nb.com\n0.0.0.0 a.com\nb.com\n", "hosts"),
    "0.0.0.0 a.com\nb.com\n",
  );
});

test("a subdomain of another name in a hosts file is not a problem", async () => {
  const project = new MemoryProject({ hosts: "0.0.0.0 example.com\n0.0.0.0 www.example.com\n" });
  const { stdout } = await project.run("lint", "-t", "hosts", "hosts");
  assert.equal(stdout, "1 file: 0 errors, 0 warnings\n");
});

test("a rule that a $badfilter rule may cancel covers nothing, whatever their order", async () => {
  const rules = "||a.com^\n||x.a.com^\n";
  for (const text of [
    `${rules}||a.com^$badfilter\n`,
    `${rules}!#if (adguard)\n||a.com^$badfilter\n!#endif\n`,
    `${rules}!#include more.txt\n`,
    `${rules}!#if (adguard)\n!#include more.txt\n!#endif\n`,
  ])
    assert.equal(await fixedText(text, "adblock", { "more.txt": "||a.com^$badfilter\n" }), text);
  assert.equal(
    await fixedText(`${rules}!#include more.txt\n`, "adblock", { "more.txt": "||b.com^\n" }),
    "||a.com^\n!#include more.txt\n",
  );
});

test("a rule that an included file repeats is reported but kept", async () => {
  const text = "!#include more.txt\n||a.com^\n";
  const project = new MemoryProject({ "a.txt": text, "more.txt": "||a.com^\n||com.example^\n" });
  const { stdout } = await project.run("lint", "--fix", "a.txt");
  assert.equal(project.text("a.txt"), text);
  assert.match(stdout, /^a\.txt:2:1: warning\[same-host\]: another line blocks the same name\n/);
});

test("rules that rewrite answers keep their order", async () => {
  const text = "||a.com^$dnsrewrite=b.com\n||a.com^$dnsrewrite=c.com\n||a.com^$dnsrewrite=b.com\n";
  assert.equal(await fixedText(text), text);
});

test("--fix removes blanks only where they do not change the meaning", async () => {
  const text =
    " q.com\n||a.com^\n q.com\nr.com \n 0.0.0.0 s.com\n ||b.com^ \n t.com # note\n0.0.0.0 u.com \n! c\n";
  assert.equal(
    await fixedText(text),
    " q.com\n||a.com^\nr.com \n 0.0.0.0 s.com\n||b.com^\n t.com # note\n0.0.0.0 u.com\n! c\n",
  );
});

test("--fix does not change a list with lone carriage returns", async () => {
  const text = "||a.com^\r||a.com^\r";
  assert.equal(await fixedText(text), text);
  assert.equal(await fixedText("||a.com^\r\n||a.com^\r\n"), "||a.com^\n");
});

test("--fix does not move lines of other formats", async () => {
  const text = "$TTL 60\na.com CNAME .\n  CNAME .\na.com CNAME .\n";
  assert.equal(await fixedText(text, "rpz"), text);
});

test("random lists keep their meaning after --fix, for subscribers and after any transformations", async () => {
  const random = new Random(21_112_026);
  for (let round = 0; round < 60; round++) await checkLintFix(random, `round ${round}`);
});
