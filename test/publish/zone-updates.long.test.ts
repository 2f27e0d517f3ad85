import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { LineDifference } from "../../src/publish/patches.ts";
import { memoryHost } from "../support/memory-host.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";

function projectOf(output: object): MemoryProject {
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    outputs: [{ format: "rpz", updates: "192.0.2.1#5353", ...output }],
  };
  return new MemoryProject({ "compiler-config.json": JSON.stringify(config), "own.txt": "" });
}

async function publish(project: MemoryProject, names: readonly string[]): Promise<string> {
  project.write("own.txt", `${names.map((name) => `||${name}^`).join("\n")}\n`);
  const accept = ["source-shrunk", "source-grown", "source-replaced"];
  const { exit, stderr } = await project.run(...accept.flatMap((one) => ["--accept", one]));
  assert.equal(exit, 0, stderr);
  return stderr;
}

/** The records of a zone file, with full names. */
function recordsOf(zone: string): Set<string> {
  const lines = zone.split("\n").filter((line) => line !== "" && !/^[;$]/.test(line));
  return new Set(
    lines.map((line) =>
      line.replace(/^@ /, "rpz.local. ").replace(/^([^ ]+[^. ]) /, "$1.rpz.local. "),
    ),
  );
}

/** What a primary does with the messages of a script. */
function applied(zone: ReadonlySet<string>, messages: readonly string[]): Set<string> {
  const records = new Set(zone);
  for (const message of messages) {
    const lines = message.split("\n");
    const needed = lines.find((line) => line.startsWith("prereq"))!;
    if (!records.has(needed.replace("prereq yxrrset ", ""))) continue;
    assert.ok(message.length < 120_000);
    for (const line of lines) {
      const removed = /^update delete (?<record>.*)$/.exec(line)?.groups?.["record"];
      const added = /^update add (?<owner>\S+) \d+ (?<data>.*)$/.exec(line)?.groups;
      if (removed !== undefined) assert.ok(records.delete(removed), line);
      if (added === undefined) continue;
      if (added["data"]!.startsWith("SOA"))
        for (const record of records)
          if (record.startsWith("rpz.local. SOA")) records.delete(record);
      records.add(`${added["owner"]} ${added["data"]}`);
    }
  }
  return records;
}

function messagesOf(script: string): string[] {
  return script.split(/(?<=^send\n)/m);
}

test("a script changes the zone before into the published one, also if it stopped in between", async () => {
  const random = new Random(31);
  for (let round = 0; round < (isNightly ? 60 : 2); round++) {
    const project = projectOf({});
    // Long names, so that a few hundred fill a message.
    const fresh = (): string => `${`${"x".repeat(50)}.`.repeat(3)}n${random.below(1e9)}.example`;
    const names = random.times(1000, fresh);
    await publish(project, names);
    const before = recordsOf(project.text("rules/list.rpz"));
    const count = 100 + random.below(20);
    for (let index = 0; index < count; index++) names[random.below(names.length)] = fresh();
    assert.match(await publish(project, names), /updates: [\d,]+ records? in \d messages?, rules/);
    const after = recordsOf(project.text("rules/list.rpz"));
    const messages = messagesOf(project.text("rules/list.rpz.nsupdate"));
    assert.deepEqual(applied(before, messages), after);
    const stopped = applied(before, messages.slice(0, random.below(messages.length + 1)));
    assert.deepEqual(applied(stopped, messages), after);
    assert.deepEqual(applied(after, messages), after, "again");
    await publish(project, [...names, fresh()]);
    const next = messagesOf(project.text("rules/list.rpz.nsupdate"));
    assert.deepEqual(applied(before, next), before, "a script for another version does nothing");
  }
});

test("a script is removed when the whole zone is the way, and stays when nothing changes", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.example`);
  const project = projectOf({});
  assert.match(await publish(project, names), /whole zone, because it has no earlier version/);
  assert.ok(!project.memory.files.has("/project/rules/list.rpz.nsupdate"));
  await publish(project, [...names, "one.example"]);
  const script = project.text("rules/list.rpz.nsupdate");
  assert.match(script, /^server 192\.0\.2\.1 5353$/m);
  await publish(project, [...names, "one.example"]);
  assert.equal(project.text("rules/list.rpz.nsupdate"), script);
  assert.match(await publish(project, names.slice(0, 50)), /because a large part of it changed/);
  assert.ok(!project.memory.files.has("/project/rules/list.rpz.nsupdate"));
  const config = JSON.parse(project.text("compiler-config.json")) as { outputs: object[] };
  config.outputs[0] = { ...config.outputs[0], ttl: 61 };
  project.write("compiler-config.json", JSON.stringify(config));
  assert.match(await publish(project, names.slice(0, 51)), /because its settings changed/);
});

test("updates that cannot work are refused", async () => {
  for (const [output, message] of [
    [{ format: "hosts" }, /updates is for zones/],
    [{ updates: "a b\nserver" }, /updates is not an address/],
    [{ split: { max_rules: 10 } }, /updates needs a single zone/],
  ] as const) {
    const { exit, stderr } = await projectOf(output).run();
    assert.equal(exit, 2);
    assert.match(stderr, message);
  }
});

test("the difference of two files has the lines that only one of them has", () => {
  const random = new Random(32);
  for (let round = 0; round < 200; round++) {
    const bytes = 2 ** (20 + (round % 8));
    const difference = new LineDifference(() => memoryHost({ files: {} }).openScratch(), bytes);
    const lines = (): string[] => random.times(random.below(60), () => `line ${random.below(40)}`);
    const [before, after] = [lines(), lines()];
    for (const [side, all] of [
      ["before", before],
      ["after", after],
    ] as const)
      for (const line of all) {
        const text = encodeUtf8(`>${line}<`);
        difference.add(side, text, 1, text.length - 1);
      }
    const { removed, added } = difference.changes();
    difference.close();
    assert.deepEqual(removed.toSorted(), before.filter((line) => !after.includes(line)).toSorted());
    assert.deepEqual(added.toSorted(), after.filter((line) => !before.includes(line)).toSorted());
  }
});

test("a run removes the unfinished script of a killed run, even if the zone has not changed", async () => {
  const project = projectOf({});
  await publish(project, ["a.example"]);
  project.write("rules/.list.rpz.nsupdate.a1b2c3d4.tmp", "half");
  await project.run("--no-cache");
  assert.ok(!project.memory.files.has("/project/rules/.list.rpz.nsupdate.a1b2c3d4.tmp"));
});
