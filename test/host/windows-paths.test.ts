import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost } from "../support/host/in-memory.ts";
import { type MemoryHost, HostError, compile } from "../support/internals.ts";

function windows(files: Readonly<Record<string, string>>): MemoryHost {
  return memoryHost({ files, system: "windows" });
}

async function rules(source: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const config = { name: "L", sources: [{ source }] };
  const { bytes } = await compile(config, {
    host: windows(files),
    configFolder: "C:\\project\\lists",
  });
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter((line) => /^[^!]/.test(line));
}

test("a path may have a drive, backslashes, slashes and any case", async () => {
  const files = { "C:\\project\\lists\\Ads\\a.txt": "||a.example^" };
  for (const source of [
    "Ads\\a.txt",
    "Ads/a.txt",
    "ads/A.TXT",
    "c:/project/lists/ads/a.txt",
    "\\project\\lists\\Ads\\a.txt",
  ])
    assert.deepEqual(await rules(source, files), ["||a.example^"], source);
});

test("an include stays in the folder of its list, on its drive", async () => {
  const files = {
    "C:\\project\\lists\\sub\\b.txt": "||b.example^",
    "C:\\project\\lists\\..well.txt": "||well.example^",
    "C:\\project\\other.txt": "||other.example^",
    "C:\\project\\lists-2\\c.txt": "||c.example^",
    "D:\\project\\lists\\d.txt": "||d.example^",
  };
  const included = async (name: string): Promise<string[]> =>
    await rules("a.txt", {
      ...files,
      "C:\\project\\lists\\a.txt": `||a.example^\n!#include ${name}`,
    });
  for (const name of [
    "sub\\b.txt",
    "sub/b.txt",
    "SUB\\B.TXT",
    "..\\lists\\sub\\b.txt",
    "C:\\project\\lists\\sub\\b.txt",
  ])
    assert.deepEqual(await included(name), ["||a.example^", "||b.example^"], name);
  assert.deepEqual(await included("..well.txt"), ["||a.example^", "||well.example^"]);
  for (const name of [
    "..\\other.txt",
    "../other.txt",
    "\\project\\other.txt",
    "..\\lists-2\\c.txt",
    "D:\\project\\lists\\d.txt",
  ])
    await assert.rejects(included(name), /outside the folder of the list/, name);
  await assert.rejects(included("A.txt"), /includes itself/);
});

test("a list that a reader has open stays as it is, and nothing is left beside it", async () => {
  const host = windows({
    "c.json": JSON.stringify({ name: "L", sources: [{ source: "a.txt" }] }),
    "a.txt": "||a.example^",
    "rules/l.txt": "||old.example^\n",
  });
  const words = ["compile", "-c", "c.json", "--no-cache", "--no-record"];
  const reader = await host.openFile("rules/l.txt");
  assert.equal(await run(words, host, new AbortController().signal), 6);
  assert.match(host.output.stderr, /output-failed/);
  assert.equal(new TextDecoder().decode(host.files.get("rules/l.txt")), "||old.example^\n");
  assert.deepEqual(
    [...host.files.keys()].filter((path) => /tmp|lock/.test(path)),
    [],
  );
  await reader.close();
  assert.equal(await run(words, host, new AbortController().signal), 0);
  assert.match(new TextDecoder().decode(host.files.get("RULES/L.TXT")), /\|\|a\.example\^/);
});

test("the host refuses what Windows refuses", async () => {
  const host = windows({ "A.txt": "1" });
  assert.equal(await host.realPath("a.TXT"), "C:\\project\\A.txt");
  assert.throws(() => host.createFile("a.txt"), HostError);
  for (const name of ["x/a:b", "what?", "a*", "end.", "end "])
    assert.throws(() => host.createFile(name), HostError, name);
});
