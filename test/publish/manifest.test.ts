import assert from "node:assert/strict";
import { test } from "node:test";
import { minisignKeys } from "../support/minisign-keys.ts";
import { MemoryProject } from "../support/memory-project.ts";

async function released(
  manifest: object,
  files: Record<string, string> = {},
): Promise<MemoryProject> {
  const made = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ source: "a.txt" }],
      outputs: [{ format: "hosts" }],
      manifest,
    }),
    "a.txt": "||a.example^\n",
    ...files,
  });
  const { exit, stderr } = await made.run("compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  return made;
}

test("a manifest lists every file with its digest, and verify finds differences", async () => {
  const made = await released({ valid_for: "2d" });
  const { name, version, expires, files } = JSON.parse(made.text("rules/manifest.json")) as Record<
    string,
    unknown
  >;
  assert.deepEqual([name, version, expires], ["L", 1_794_268_800, "2026-11-12T00:00:00.000Z"]);
  assert.deepEqual(
    (files as { file: string }[]).map(({ file }) => file),
    ["l.txt", "l.hosts"],
  );
  const good = await made.run("verify", "rules/manifest.json");
  assert.equal(good.exit, 0);
  assert.match(good.stderr, /good: 2 files of version 1794268800, signature not checked/);
  made.write("rules/l.hosts", "0.0.0.0 evil.example\n");
  const bad = await made.run("verify", "rules/manifest.json", "--json");
  assert.equal(bad.exit, 5);
  assert.equal((JSON.parse(bad.stdout) as { ok: boolean }).ok, false);
  assert.match(bad.stderr, /l\.hosts does not match the manifest/);
  made.memory.files.delete("/project/rules/l.hosts");
  made.now = "2026-11-13T00:00:00Z";
  const { stderr } = await made.run("verify", "rules/manifest.json");
  assert.match(stderr, /l\.hosts is missing/);
  assert.match(stderr, /The manifest expired at 2026-11-12/);
});

test("a manifest is renewed even if nothing else has changed", async () => {
  const made = await released({ valid_for: "1d" });
  const words = ["compile", "-q", "-c", "c.json", "--cache-dir", "/cache"];
  await made.run(...words);
  made.now = "2026-11-20T00:00:00Z";
  await made.run(...words);
  assert.match(made.text("rules/manifest.json"), /"expires": "2026-11-21T/);
  made.write(
    "rules/manifest.json",
    made.text("rules/manifest.json").replace(/"version": \d+/, '"version": "\u001b[31m"'),
  );
  assert.match((await made.run("verify", "rules/manifest.json")).stderr, /is not a manifest/);
});

test("a signature is valid for its key and its manifest only", async () => {
  const { secret, publicKey } = minisignKeys();
  const made = await released(
    { key_file: "secret.key" },
    { "secret.key": secret, "pub.key": `untrusted comment: x\n${publicKey}\n` },
  );
  assert.match(
    made.text("rules/manifest.json.minisig"),
    /^untrusted comment: .*\n.*\ntrusted comment: version:1794268800\texpires:/,
  );
  assert.equal((await made.run("verify", "rules/manifest.json", "--key", publicKey)).exit, 0);
  assert.equal((await made.run("verify", "rules/manifest.json", "--key", "pub.key")).exit, 0);
  const other = await made.run("verify", "rules/manifest.json", "--key", minisignKeys().publicKey);
  assert.equal(other.exit, 5);
  assert.match(other.stderr, /is not signed with this key/);
  made.write("rules/manifest.json", made.text("rules/manifest.json").replace('"L"', '"M"'));
  assert.equal((await made.run("verify", "rules/manifest.json", "--key", publicKey)).exit, 5);
});

test("a manifest without a key has no signature of an earlier one", async () => {
  const { secret, publicKey } = minisignKeys();
  const made = await released({ key_file: "secret.key" }, { "secret.key": secret });
  assert.ok(made.text("rules/manifest.json.minisig"));
  made.write("c.json", made.text("c.json").replace('"key_file":"secret.key"', ""));
  assert.equal((await made.run("compile", "-q", "-c", "c.json", "--no-cache")).exit, 0);
  const { exit, stderr } = await made.run("verify", "rules/manifest.json", "--key", publicKey);
  assert.equal(exit, 5);
  assert.match(stderr, /manifest\.json\.minisig is missing/);
});

test("invalid keys, invalid manifests and paths outside of the folder are reported", async () => {
  const made = await released({});
  assert.equal((await made.run("verify", "rules/manifest.json", "--key", "gone.pub")).exit, 2);
  made.write(
    "x.json",
    JSON.stringify({
      manifest: 1,
      files: [{ file: "/etc/passwd", sha256: "x" }],
      expires: "2027-01-01",
    }),
  );
  const { exit, stderr } = await made.run("verify", "x.json");
  assert.equal(exit, 5);
  assert.match(stderr, /x\.json is not a manifest/);
  const words = ["compile", "-q", "-c", "c.json", "--no-cache"];
  made.write(
    "c.json",
    made.text("c.json").replace('"manifest":{}', '"manifest":{"key_file":"a.txt"}'),
  );
  made.write("a.txt", "||b.example^\n");
  const unsigned = await made.run(...words);
  assert.equal(unsigned.exit, 2);
  assert.match(unsigned.stderr, /it is not a minisign secret key/);
  assert.doesNotMatch(made.text("rules/l.txt"), /b\.example/, "nothing was published");
});

function versionOf(made: MemoryProject): number {
  return (JSON.parse(made.text("rules/manifest.json")) as { version: number }).version;
}

test("the version of a release always increases, whatever the clock shows", async () => {
  const made = await released({});
  const words = ["compile", "-q", "-c", "c.json", "--no-cache"];
  const versions = [versionOf(made)];
  for (const now of ["2026-11-10T00:00:00Z", "2026-10-31T00:00:00Z", "2026-11-10T00:00:01Z"]) {
    made.now = now;
    assert.equal((await made.run(...words)).exit, 0);
    versions.push(versionOf(made));
  }
  const first = 1_794_268_800;
  assert.deepEqual(versions, [first, first + 1, first + 2, first + 3]);
  made.now = "2026-11-11T00:00:00Z";
  await made.run(...words);
  assert.equal(versionOf(made), first + 86_400);
});

test("verify refuses releases that are older than the last verified one", async () => {
  const { secret, publicKey } = minisignKeys();
  const made = await released({ key_file: "secret.key" }, { "secret.key": secret });
  const keep = (): Record<string, string> =>
    Object.fromEntries(
      ["manifest.json", "manifest.json.minisig", "l.txt", "l.hosts"].map((file) => [
        file,
        made.text(`rules/${file}`),
      ]),
    );
  const putBack = (files: Record<string, string>): void => {
    for (const [file, text] of Object.entries(files)) made.write(`rules/${file}`, text);
  };
  const verify = ["verify", "rules/manifest.json", "--key", publicKey, "--state", "state.json"];
  const old = keep();
  assert.equal((await made.run(...verify)).exit, 0);
  assert.equal((await made.run(...verify)).exit, 0, "the same again");
  made.write("a.txt", "||b.example^\n");
  await made.run("compile", "-q", "-c", "c.json", "--no-cache");
  const fresh = keep();
  assert.equal((await made.run(...verify)).exit, 0);
  putBack(old);
  assert.equal((await made.run(...verify.slice(0, 4))).exit, 0, "nobody knows that it is old");
  const rolledBack = await made.run(...verify);
  assert.equal(rolledBack.exit, 5);
  assert.match(rolledBack.stderr, /is older than version \d+, which was verified before/);
  putBack(fresh);
  assert.equal((await made.run(...verify)).exit, 0, "what was refused is not remembered");
  made.write("state.json", "{}");
  assert.match((await made.run(...verify)).stderr, /is not a state file written by verify/);
  assert.equal(made.text("state.json"), "{}");
});

test("verify refuses a release of another list, and a different release of the same version", async () => {
  const made = await released({});
  const verify = ["verify", "rules/manifest.json"];
  assert.equal((await made.run(...verify, "--name", "L", "--state", "s.json")).exit, 0);
  const named = await made.run(...verify, "--name", "Other");
  assert.equal(named.exit, 5);
  assert.match(named.stderr, /The release is of L, not of Other/);
  const text = made.text("rules/manifest.json");
  made.write("rules/manifest.json", text.replace('"name": "L"', '"name": "M"'));
  const other = await made.run(...verify, "--state", "s.json");
  assert.equal(other.exit, 5);
  assert.match(other.stderr, /The release is of M, not of L/);
  made.write("rules/manifest.json", text.replace(/"built": "[^"]+"/, '"built": ""'));
  assert.match((await made.run(...verify, "--state", "s.json")).stderr, /The release differs/);
});

test("a manifest without files is refused", async () => {
  const made = await released({});
  const text = made.text("rules/manifest.json").replace(/"files": \[[^\]]*\]/, '"files": []');
  made.write("rules/manifest.json", text);
  const { exit, stderr } = await made.run("verify", "rules/manifest.json");
  assert.equal(exit, 5);
  assert.match(stderr, /The manifest lists no files/);
});

test("a run removes the unfinished manifest and signature of a killed run, and nothing else", async () => {
  const { secret } = minisignKeys();
  const made = await released({ key_file: "s.key" }, { "s.key": secret });
  const before = new Set(made.memory.files.keys());
  for (const name of [".manifest.json.a1b2c3d4.tmp", ".manifest.json.minisig.zz.tmp"])
    made.write(`rules/${name}`, "half");
  made.write("rules/manifest.json.bak.tmp.txt", "x");
  assert.equal((await made.run("compile", "-q", "-c", "c.json", "--no-cache")).exit, 0);
  const others = [...made.memory.files.keys()].filter((path) => !before.has(path));
  const published = others.filter((path) => !path.includes("/.rules-compiler/"));
  assert.deepEqual(published, ["/project/rules/manifest.json.bak.tmp.txt"]);
});
