import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Config, CompilerError, compile, memoryHost } from "../support/internals.ts";
import { type Files, tar, zip } from "../support/make-archive.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const LIST = "||a.example.com^\n||b.example.com^\n";
const FILES: Files = [
  ["lists/README", "read me\n"],
  ["lists/ads/domains", LIST],
  ["lists/ads/urls", "x\n"],
  ["lists/porn/domains", "||c.example.com^\n"],
];
const ONE: Files = [["top.txt", LIST]];
const URL_A = "https://a.example/l";

/** Compiles an archive from a file and from the web; both must agree. */
async function rulesIn(bytes: Uint8Array, member?: string): Promise<number> {
  const source = { type: "adblock", ...(member !== undefined && { member }) } as const;
  const local = await attempt(
    { ...source, source: "l" },
    { host: memoryHost({ files: { l: bytes } }) },
  );
  const web = new ScriptedWeb();
  web.answers[URL_A] = { body: bytes };
  const remote = await attempt({ ...source, source: URL_A }, { host: web.host });
  assert.equal(typeof local, typeof remote, `${String(local)} and ${String(remote)}`);
  if (typeof local === "string") throw new Error(`${local}\n${String(remote)}`);
  assert.equal(local, remote);
  return local;
}

async function attempt(
  source: Config["sources"][number],
  options: Parameters<typeof compile>[1],
): Promise<number | string> {
  try {
    const result = await compile({ name: "n", sources: [source] }, options);
    result.close();
    return result.report.rules;
  } catch (error) {
    assert.ok(error instanceof CompilerError, String(error));
    return error.diagnostics.map(({ code, cause }) => `${code}: ${cause}`).join();
  }
}

const MAKERS: Readonly<Record<string, (files: Files) => Uint8Array>> = {
  zip,
  "zip without packing": (files) => zip(files, { stored: true }),
  tar,
  "tar.gz": (files) => gzipSync(tar(files)),
  "tar.zst": (files) => zstdCompressSync(tar(files)),
};

test("a file that cannot be read does not matter if it is not selected", async () => {
  const files: Files = [
    ["a", "x"],
    ["b", LIST],
    ["c", "y"],
  ];
  const bytes = zip(files, {
    flagsOf: (name) => (name === "a" ? 1 : 0),
    methodOf: (name) => (name === "c" ? 12 : 8),
  });
  assert.equal(await rulesIn(bytes, "b"), 2);
  await assert.rejects(() => rulesIn(bytes, "a"), /encrypted/);
  await assert.rejects(() => rulesIn(bytes, "c"), /compression method 12/);
});

for (const [kind, make] of Object.entries(MAKERS))
  test(`${kind}: one file, or the one that member selects`, async () => {
    assert.equal(await rulesIn(make(ONE)), 2);
    assert.equal(await rulesIn(make(FILES), "*/ads/domains"), 2);
    assert.equal(await rulesIn(make(FILES), "lists/porn/domains"), 1);
    await assert.rejects(async () => await rulesIn(make(FILES)), /member must select one/);
    await assert.rejects(async () => await rulesIn(make(FILES), "*/domains"), /it has 2: /);
    await assert.rejects(async () => await rulesIn(make(FILES), "*/none"), /no file that member/);
    await assert.rejects(async () => await rulesIn(make([])), /no file that member|NUL/);
  });

test("packed lists without an archive are read as before", async () => {
  for (const bytes of [gzipSync(LIST), zstdCompressSync(LIST)])
    assert.equal(await rulesIn(bytes), 2);
  await assert.rejects(async () => await rulesIn(gzipSync(LIST), "x"), /not an archive/);
});

const bomb = Buffer.alloc(20 * 1024 * 1024, "a");
const strange = ["../../etc/passwd", "/etc/passwd", "..\\..\\x", "C:\\x", "a\0b", "\u202etxt"];

/** Archives that must fail. */
const HOSTILE: readonly (readonly [string, Uint8Array])[] = [
  ["another method", zip(ONE, { method: 12 })],
  ["an unknown method", zip(ONE, { method: 99 })],
  ["encrypted", zip(ONE, { flags: 1 })],
  ["a wrong checksum", zip(ONE, { crc: 1 })],
  ["a wrong checksum without packing", zip(ONE, { crc: 1, stored: true })],
  ["a wrong size", zip(ONE, { size: 3 })],
  ["a huge size", zip(ONE, { size: 0xfffffffe })],
  ["a packed size beyond the end", zip(ONE, { packedSize: 0xfffffffe })],
  ["a packed size of nothing", zip(ONE, { packedSize: 0 })],
  ["a short packed size", zip(ONE, { packedSize: 5 })],
  ["a header beyond the end", zip(ONE, { header: 0xfffffff0 })],
  ["a header in the middle", zip(ONE, { header: 7 })],
  ["more files than entries", zip(ONE, { count: 60_000 })],
  ["zip64", zip(ONE, { count: 0xffff })],
  ["a directory beyond the end", zip(ONE, { directory: 0x7fffffff })],
  ["a directory at the start", zip(ONE, { directory: 0 })],
  ["a directory of nothing", zip(ONE, { directorySize: 0 })],
  ["a huge directory", zip(ONE, { directorySize: 0xfffffff0 })],
  ["stored with another size", zip(ONE, { stored: true, size: 9 })],
  ["no files at all", zip([], {})],
  ["folders only", zip([["a/", ""]])],
  ["a bomb", zip([["a", bomb]])],
  ["a bomb in gzip", gzipSync(tar([["a", bomb]]))],
  ["a bomb in zstd", zstdCompressSync(tar([["a", bomb]]))],
  ["a binary file", zip([["a", "\0\0\0"]])],
  ["a web page", zip([["a", "<!doctype html><html></html>"]])],
  ["an archive in an archive", zip([["a.zip", zip(ONE)]])],
  ["tar with a wrong sum", tar(ONE, { sum: "000001\0 " })],
  ["tar with a sum that is not a number", tar(ONE, { sum: "x\0      " })],
  ["tar with a size beyond the end", tar(ONE, { size: "77777777777\0" })],
  ["tar with a negative size", tar(ONE, { size: "-0000000001\0" })],
  ["tar with a binary size", tar(ONE, { size: "\x80\0\0\0\0\0\0\0\0\0\x01" })],
  ["tar without an end", tar(ONE, { noEnd: true })],
  ["tar with a link", tar(ONE, { type: "2" })],
  ["tar with a hard link", tar(ONE, { type: "1" })],
  ["tar with a device", tar(ONE, { type: "3" })],
  ["tar with a folder", tar(ONE, { type: "5" })],
  ["tar with a pipe", tar(ONE, { type: "6" })],
  ["tar with a long name only", tar(ONE, { type: "L" })],
  ...[0.1, 0.3, 0.5, 0.7, 0.9, 0.99].flatMap((share) =>
    [zip(FILES), gzipSync(tar(FILES)), zstdCompressSync(tar(FILES))].map((bytes, index) => {
      const cut = bytes.subarray(0, Math.floor(bytes.length * share));
      return [`cut at ${share}, ${index}`, cut] as const;
    }),
  ),
];

test("fifty hostile archives fail", async () => {
  assert.ok(HOSTILE.length >= 50, `${HOSTILE.length}`);
  for (const [what, bytes] of HOSTILE) {
    const limits = { maxBytes: 8 * 1024 * 1024, retries: 0 };
    const web = new ScriptedWeb();
    web.answers[URL_A] = { body: bytes };
    const source = { source: URL_A, member: what.startsWith("cut") ? "*/ads/domains" : "*" };
    const outcome = await attempt(source, { host: web.host, fetchLimits: limits });
    assert.match(String(outcome), /^source-(?:not-text|is-html)|fetch-failed/, what);
  }
});

test("names in an archive are never paths", async () => {
  for (const name of strange)
    for (const make of [zip, tar]) {
      const host = memoryHost({ files: { l: make([[name, LIST]]) } });
      const before = [...host.files.keys()];
      assert.equal(await attempt({ source: "l" }, { host }), 2, name);
      assert.deepEqual([...host.files.keys()], before);
    }
});

test("member needs an archive, in a file and on the web", async () => {
  for (const bytes of [new TextEncoder().encode(LIST), gzipSync(LIST)])
    await assert.rejects(rulesIn(bytes, "*/domains"), /it is not an archive, but member is set/);
});

test("a file in .xz is refused, and the message says what to do", async () => {
  // The start of a file that xz wrote.
  const xz = Buffer.from("fd377a585a000004e6d6b4460200210116000000742fe5a3010010", "hex");
  await assert.rejects(rulesIn(xz), /source-not-text: it is compressed as \.xz.*xz -d/);
});
