import assert from "node:assert/strict";
import { test } from "node:test";
import { slowCrc32 } from "../../src/sources/copies.ts";
import type { Host } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";

const TEXT = "hostile\n";
const CHECKSUM: string = checksumOf(TEXT);
const JOURNAL = "rules/.rules-compiler/l.txt.journal";

interface Step {
  readonly file: unknown;
  readonly checksum?: unknown;
  readonly fresh?: unknown;
  readonly before?: unknown;
}

function checksumOf(text: string): string {
  return `${text.length}-${slowCrc32(new TextEncoder().encode(text), 0).toString(16)}`;
}

/** Runs a list over a journal that others wrote; returns what the files of others are afterwards. */
async function runOver(
  steps: readonly Step[],
  files: Readonly<Record<string, string>>,
  changes: Partial<Host> = {},
): Promise<MemoryProject> {
  const project = new MemoryProject(
    {
      "c.json": JSON.stringify({
        name: "L",
        sources: [{ source: "a.txt" }],
        outputs: [{ format: "hosts" }, { format: "dnsmasq", split: { max_rules: 1 } }],
        guards: { min_rules: 1000 },
      }),
      "a.txt": "||a.example^\n||b.example^\n",
      [JOURNAL]: JSON.stringify({
        journal: 1,
        steps: steps.map((step) => ({ checksum: CHECKSUM, fresh: "aa", before: null, ...step })),
      }),
      ...files,
    },
    changes,
  );
  const { exit, stderr } = await project.run("-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 5, stderr);
  assert.ok(!project.memory.files.has(`/project/${JOURNAL}`));
  return project;
}

test("a journal cannot write or remove what the configuration does not name", async () => {
  const names = [
    "../a.txt",
    "../../etc/passwd",
    "/etc/passwd",
    "other.txt",
    "l-2.hosts",
    "l-1.dnsmasq.conf",
    "l-02.dnsmasq.conf",
    "l-1001.dnsmasq.conf",
    "l.txt/../other.txt",
    "sub/l.txt",
    ".l.txt",
    ".rules-compiler/l.txt.json",
    "patches/l_v2026.11.09.0000-s-1794182400-21600.patch",
    "manifest.json",
    "l.hosts.gz",
  ];
  for (const file of names) {
    const path = `/project/rules/${file}`;
    const place = path.replace(/[^/]*$/, "");
    const name = path.slice(place.length);
    const others = { [path]: "kept\n", [`${place}.${name}.aa.tmp`]: TEXT };
    for (const step of [
      { file },
      { file, checksum: null, fresh: null },
      { file, checksum: checksumOf("kept\n"), before: null },
      { file, checksum: null, fresh: null, before: "aa" },
    ]) {
      const project = await runOver([step, { file: "l.hosts" }], {
        ...others,
        "rules/l.txt": "old\n",
      });
      const found =
        project.memory.files.get(new URL(`file://${path}`).pathname) ??
        project.memory.files.get(path);
      assert.equal(new TextDecoder().decode(found), "kept\n", JSON.stringify(step));
      assert.equal(project.text("rules/l.txt"), "old\n");
    }
  }
});

test("a journal that is damaged or has strange tokens does nothing, and is gone", async () => {
  for (const step of [
    { file: "l.txt", fresh: "../x" },
    { file: "l.txt", fresh: "A" },
    { file: "l.txt", fresh: 5 },
    { file: "l.txt", before: "a/b" },
    { file: "l.txt", checksum: "" },
    { file: "l.txt", checksum: null },
    { file: 5 },
    { file: "" },
  ]) {
    const project = await runOver([step], { "rules/l.txt": "old\n", "rules/.l.txt.aa.tmp": TEXT });
    assert.equal(project.text("rules/l.txt"), "old\n", JSON.stringify(step));
  }
});

test("a journal follows no symbolic link", async () => {
  const files = { "rules/l.hosts": "old\n", "rules/.l.hosts.aa.tmp": TEXT };
  // Without the link, this journal is completed.
  const plain = await runOver([{ file: "l.hosts" }], files);
  assert.equal(plain.text("rules/l.hosts"), TEXT);
  for (const link of [".l.hosts.aa.tmp", "l.hosts"]) {
    let memory: MemoryProject["memory"] | undefined;
    const changes: Partial<Host> = {
      kindOf: async (path) => {
        // The configuration itself may not write to a link, so that the link appears only afterwards.
        if (path === `/project/rules/${link}` && isLink) return "link";
        if (path.endsWith("l.txt.lock")) isLink = true;
        return (await memory?.kindOf(path)) ?? undefined;
      },
      exists: async (path) => {
        if (path.endsWith(".journal")) isLink = true;
        return (await memory?.exists(path)) ?? false;
      },
      readFile: async (path) => {
        if (path.endsWith(".journal")) isLink = true;
        return await memory!.readFile(path);
      },
    };
    let isLink = false;
    const project = new MemoryProject({}, changes);
    memory = project.memory;
    for (const [path, bytes] of plain.memory.files.entries()) memory.files.set(path, bytes);
    for (const [name, text] of Object.entries(files)) project.write(name, text);
    project.write(
      JOURNAL,
      JSON.stringify({
        journal: 1,
        steps: [{ file: "l.hosts", checksum: CHECKSUM, fresh: "aa", before: null }],
      }),
    );
    const { exit, stderr } = await project.run("-q", "-c", "c.json", "--no-cache");
    assert.equal(exit, 5, stderr);
    assert.equal(project.text("rules/l.hosts"), "old\n", link);
  }
});

test("a run reports an interrupted publish once, and keeps it as a condition of the list until the next run", async () => {
  const files = { "rules/l.txt": "old\n", "rules/l.hosts": "old\n", "rules/.l.hosts.aa.tmp": TEXT };
  // One that can be completed, and one that names a file that the configuration does not.
  for (const steps of [[{ file: "l.hosts" }], [{ file: "other.txt" }, { file: "l.hosts" }]]) {
    const project = await runOver(steps, files);
    const { stderr } = project.memory.output;
    assert.equal(stderr.match(/\[publish-unfinished\]/g)?.length, 1, stderr);
    const conditions = (): string => project.text("rules/.rules-compiler/l.txt.conditions.json");
    assert.match(conditions(), /publish-unfinished/);
    await project.run("-q", "-c", "c.json", "--no-cache");
    assert.doesNotMatch(conditions(), /publish-unfinished/);
  }
});
