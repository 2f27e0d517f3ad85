import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { listIn } from "../support/documents.ts";

async function notesOf(
  type: "hosts" | "adblock",
  lines: readonly string[],
  ...words: string[]
): Promise<string[]> {
  const project = new MemoryProject({
    "c.yaml": `name: n
sources: [{ source: s.txt, name: s, type: ${type}, trust: full }]
transformations: [Validate, Compress]
`,
    "s.txt": `${lines.join("\n")}\n`,
  });
  const { exit, stdout, stderr } = await project.run(
    "-c",
    "c.yaml",
    "-o",
    "o.txt",
    "--json",
    ...words,
  );
  assert.equal(exit, 0, stderr);
  const { diagnostics } = listIn(stdout) as { diagnostics: { message: string }[] };
  return diagnostics.map(({ message }) => message);
}

test("a line that maps only local names to an address does not redirect a name", async () => {
  const local = ["255.255.255.255 broadcasthost", "ff00::0 ip6-localnet", "0.0.0.0 ads.example"];
  assert.deepEqual(await notesOf("hosts", local), []);
  const one = [...local, "192.0.2.1 localhost nas.example"];
  assert.deepEqual(await notesOf("hosts", one), []);
  assert.deepEqual(await notesOf("hosts", one, "--compat"), [
    "s: 1 hosts line maps a name to a real address; it is blocked like all others",
  ]);
  const two = [...local, "192.0.2.1 a.test", "192.0.2.1 b.test"];
  assert.deepEqual(await notesOf("hosts", two, "--compat"), [
    "s: 2 hosts lines map a name to a real address; the names are blocked like all others",
  ]);
});

test("a rule for a shared host needs no remark, because it has no remedy", async () => {
  assert.deepEqual(await notesOf("adblock", ["||us-west-2.compute.amazonaws.com^"]), []);
  assert.deepEqual(await notesOf("adblock", ["||github.io^", "||a.run.app^"]), [
    "||github.io^ blocks adguardteam.github.io, which devices need",
  ]);
});
