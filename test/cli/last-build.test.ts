import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import { type Host, type MemoryHost, memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";

const ARGS = ["-c", "c.json", "-o", "out.txt", "--cache-dir", "cache"];

function project(source = "list.txt"): MemoryHost {
  const config = { name: "N", sources: [{ source }], transformations: ["Compress"], extra: 1 };
  return memoryHost({
    files: {
      "c.json": JSON.stringify(config),
      "list.txt": "||a.example^\n!#include more.txt\n",
      "more.txt": "||b.example^\n",
    },
    web: { "https://lists.example/l.txt": "||a.example^\n" },
  });
}

/** Runs, and tells how many lists were read and what was said. */
async function runOnce(host: MemoryHost, args = ARGS, more: Partial<Host> = {}) {
  let reads = 0;
  const counting: Host = {
    ...host,
    ...more,
    openFile: (path) => {
      reads += path.endsWith("list.txt") || path.endsWith("more.txt") ? 1 : 0;
      return host.openFile(path);
    },
  };
  host.output.stderr = "";
  const exit = await run(args, counting, new AbortController().signal);
  assert.equal(exit, Exit.Done, host.output.stderr);
  return { reads, said: host.output.stderr.replaceAll(/\d+\.\d s/g, "0.0 s") };
}

/** What counts of what was said. */
function words(text: string): string {
  return text.replaceAll(/^(?:read|debug).*\n/gm, "").replace("written", "unchanged");
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

test("an unchanged build reads nothing and prints the same result, but no warning twice", async () => {
  const host = project();
  const first = await runOnce(host);
  // Each is read for the list, and for its digest in the history.
  assert.equal(first.reads, 4);
  const second = await runOnce(host);
  assert.equal(second.reads, 0);
  assert.match(first.said, /^warning.*extra/m);
  assert.match(second.said, /^ {2}source .*\n.*\n.*\nunchanged out\.txt: 2 rules/);
});

test("further formats have their own figures when nothing has changed", async () => {
  const host = project();
  const config = JSON.stringify({
    name: "N",
    sources: [{ source: "list.txt", name: "L", type: "adblock" }],
    outputs: [{ format: "hosts", file: "n.hosts" }],
  });
  host.files.set("/project/c.json", bytes(config));
  const first = await runOnce(host, [...ARGS, "-r"]);
  const second = await runOnce(host, [...ARGS, "-r"]);
  assert.match(second.said, /unchanged .*n\.hosts: hosts, 2 names/);
  assert.equal(
    words(second.said).replaceAll("written", "unchanged"),
    words(first.said).replaceAll("written", "unchanged"),
  );
});

test("who asks about a build does not hear the warnings of its configuration again", async () => {
  const made = new MemoryProject({
    "c.yaml": "name: N\nsources: [{ source: list.txt }]\nextra: 1\n",
    "list.txt": "||a.example^\n",
  });
  assert.match((await made.run("-c", "c.yaml")).stderr, /warning.*extra/);
  const { stdout, stderr } = await made.run("why", "-c", "c.yaml", "a.example");
  assert.match(stdout, /BLOCKED/);
  assert.doesNotMatch(stderr, /warning/);
});

test("whatever the list depends on makes it be compiled again", async () => {
  const changes: Record<string, (host: MemoryHost) => void> = {
    "a source": (host) => host.files.set("/project/list.txt", bytes("||c.example^\n")),
    "an included file": (host) => host.files.set("/project/more.txt", bytes("||c.example^\n")),
    "the configuration": (host) => {
      const text = new TextDecoder().decode(host.files.get("/project/c.json"));
      host.files.set("/project/c.json", bytes(text.replace('"N"', '"M"')));
    },
    "the list is gone": (host) => host.files.delete("/project/out.txt"),
    "the list was edited": (host) => host.files.set("/project/out.txt", bytes("x")),
    "the record is empty": (host) => {
      const record = [...host.files.keys()].find((path) => path.includes("/cache/build-"))!;
      host.files.set(record, bytes("null"));
    },
    "the record is no record": (host) => {
      const record = [...host.files.keys()].find((path) => path.includes("/cache/build-"))!;
      host.files.set(record, bytes("{"));
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const host = project();
    await runOnce(host);
    assert.equal((await runOnce(host)).reads, 0, what);
    change(host);
    assert.notEqual((await runOnce(host)).reads, 0, what);
    assert.match(new TextDecoder().decode(host.files.get("/project/out.txt")), /example/, what);
  }
});

test("nothing is taken for granted that cannot be known", async () => {
  const fresh = project();
  const now = fresh.now().getTime();
  const stamp = { text: "1", changed: now - 100 };
  const openFile: Host["openFile"] = async (path) => ({ ...(await fresh.openFile(path)), stamp });
  await run(ARGS, { ...fresh, openFile }, new AbortController().signal);
  assert.equal([...fresh.files.keys()].filter((path) => path.includes("/cache/build-")).length, 0);
});

test("what comes from the web is asked for every time, and compiled when it is another text", async () => {
  const host = project("https://lists.example/l.txt");
  let body = "||a.example^\n";
  let fetches = 0;
  const fetch: Host["fetch"] = async (request) => {
    fetches++;
    request.take(bytes(body));
    return { status: 200, headers: {} };
  };
  assert.match((await runOnce(host, ARGS, { fetch })).said, /written out\.txt: 1 rule,/);
  assert.match((await runOnce(host, ARGS, { fetch })).said, /unchanged out\.txt: 1 rule,/);
  body = "||a.example^\n||b.example^\n";
  assert.match((await runOnce(host, ARGS, { fetch })).said, /written out\.txt: 2 rules/);
  assert.equal(fetches, 3);
});
