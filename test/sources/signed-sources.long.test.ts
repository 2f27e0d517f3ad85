import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readSecretKey, signatureFile } from "../../src/sources/held-text.ts";
import {
  type Config,
  CompilerError,
  compile,
  loadConfig,
  memoryHost,
} from "../support/internals.ts";
import { tar } from "../support/make-archive.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { minisignKeys } from "../support/minisign-keys.ts";
import { type Answer, ScriptedWeb } from "../support/scripted-web.ts";

const LIST = "https://a.example/l.txt";
const MIRROR = "https://b.example/copy/l.txt";
const OURS = minisignKeys();
/** Has the same number as ours. */
const OTHER = minisignKeys();

function signed(text: string | Uint8Array, { secret } = OURS): string {
  const key = readSecretKey(secret);
  assert.ok(typeof key === "object");
  return signatureFile(Buffer.from(text), key, "timestamp:1\tfile:l.txt\thashed");
}

type Source = Omit<Partial<Config["sources"][number]>, "key"> & {
  readonly key?: string | readonly string[] | undefined;
};

interface Result {
  readonly state: string | undefined;
  readonly rules: string;
  readonly cause: string;
}

async function run(web: ScriptedWeb, more: Source = {}): Promise<Result> {
  const { key, ...own } = { source: LIST, name: "a", key: OURS.publicKey, ...more };
  const entry = key === undefined ? own : { ...own, key };
  const config = { name: "n", sources: [entry, { source: "own.txt" }] };
  const result = await compile(config, { host: web.host, cacheDir: "/cache", anyMayFail: true });
  const rules = linesOf(result)
    .filter((line) => /^\|\|(?!own)/.test(line))
    .join(" ");
  result.close();
  const about = result.diagnostics.flatMap(({ code, message, cause }) => [code, message, cause]);
  return { state: result.report.sources[0]?.state, rules, cause: about.join(" ") };
}

function linesOf({ bytes }: { readonly bytes: Uint8Array }): string[] {
  return new TextDecoder().decode(bytes).split("\n");
}

function webOf(answers: Readonly<Record<string, Answer>>): ScriptedWeb {
  const web = new ScriptedWeb({ "own.txt": "||own.example^\n" });
  Object.assign(web.answers, answers);
  return web;
}

const OLD = "||old.example^\n||both.example^\n";
const NEW = "||new.example^\n||both.example^\n";

test("a file with a signature by one of the keys is read", async () => {
  const web = webOf({ [LIST]: NEW, [`${LIST}.minisig`]: signed(NEW) });
  for (const key of [OURS.publicKey, [OTHER.publicKey, OURS.publicKey]]) {
    const { state, rules, cause } = await run(web, { key });
    assert.deepEqual([state, rules], ["fetched", "||new.example^ ||both.example^"], cause);
  }
  const crlf = signed(NEW).replaceAll("\n", "\r\n");
  assert.equal((await run(webOf({ [LIST]: NEW, [`${LIST}.minisig`]: crlf }))).state, "fetched");
});

test("the signature is beside the file that was asked for, before its query and before redirects", async () => {
  const moved = { status: 302, headers: { location: "https://cdn.example/77aa" } };
  const web = webOf({
    [`${LIST}?t=1`]: moved,
    "https://cdn.example/77aa": NEW,
    [`${LIST}.minisig?t=1`]: signed(NEW),
  });
  assert.equal((await run(web, { source: `${LIST}?t=1` })).state, "fetched");
});

const lines = signed(NEW).split("\n");
const FORGED: Readonly<Record<string, readonly [Answer | undefined, RegExp]>> = {
  missing: [{ status: 404 }, /its signature cannot be read: .*404/],
  unreachable: [undefined, /its signature cannot be read: .*connection refused/],
  empty: ["", /not one of minisign/],
  "a web page": ["<!doctype html>\n<p>Moved</p>\n", /not one of minisign/],
  "too large": [{ error: "EFBIG" }, /its signature cannot be read: .*16/],
  "of another file": [signed(OLD), /its bytes are not those that were signed/],
  "by another key with the same number": [signed(NEW, OTHER), /not those that were signed/],
  "by a key with another number": [
    [lines[0], renumbered(lines[1]!), ...lines.slice(2)].join("\n"),
    /another key signed it/,
  ],
  "of the old form": [
    signed(NEW).replace(lines[1]!, `RWQ${lines[1]!.slice(3)}`),
    /in the old form/,
  ],
  "with a changed comment": [
    signed(NEW).replace("timestamp:1", "timestamp:2"),
    /not those that were signed/,
  ],
  "without its second part": [lines.slice(0, 3).join("\n"), /not those that were signed/],
};

function renumbered(line: string): string {
  const bytes = Buffer.from(line, "base64");
  bytes[2]! ^= 1;
  return bytes.toString("base64");
}

for (const [what, [answer, expected]] of Object.entries(FORGED))
  test(`a signature fails and the last copy is used: ${what}`, async () => {
    const beside = answer === undefined ? {} : { [`${LIST}.minisig`]: answer };
    const first = await run(webOf({ [LIST]: NEW, ...beside }));
    assert.deepEqual([first.state, first.rules], ["dropped", ""]);
    assert.match(first.cause, expected);
    const web = webOf({ [LIST]: OLD, [`${LIST}.minisig`]: signed(OLD) });
    assert.equal((await run(web)).state, "fetched");
    web.answers[LIST] = NEW;
    if (answer === undefined) delete web.answers[`${LIST}.minisig`];
    else web.answers[`${LIST}.minisig`] = answer;
    const { state, rules, cause } = await run(web);
    assert.deepEqual([state, rules], ["stale", "||old.example^ ||both.example^"]);
    assert.match(cause, expected);
    assert.match(cause, /Failed to fetch https:\/\/a\.example\/l\.txt/);
  });

test("a required source without a valid signature has a code of its own", async () => {
  const web = webOf({ [LIST]: NEW, [`${LIST}.minisig`]: signed(OLD) });
  await assert.rejects(run(web, { required: true }), (error: unknown) => {
    assert.ok(error instanceof CompilerError);
    assert.deepEqual(
      error.diagnostics.map(({ code }) => code),
      ["source-not-signed"],
    );
    return true;
  });
});

test("a mirror needs a signature beside it", async () => {
  const web = webOf({ [MIRROR]: NEW, [`${LIST}.minisig`]: signed(NEW) });
  assert.equal((await run(web, { mirrors: [MIRROR] })).state, "dropped");
  web.answers[`${MIRROR}.minisig`] = signed(NEW);
  assert.equal((await run(web, { mirrors: [MIRROR] })).state, "fetched");
  const forged = webOf({
    [LIST]: "||evil.example^\n",
    [`${LIST}.minisig`]: signed(OLD),
    [MIRROR]: NEW,
    [`${MIRROR}.minisig`]: signed(NEW),
  });
  const { state, rules } = await run(forged, { mirrors: [MIRROR] });
  assert.deepEqual([state, rules], ["fetched", "||new.example^ ||both.example^"]);
});

test("a mirror that answers for more than 3 days is reported, if it is not signed", async () => {
  const web = webOf({ [MIRROR]: NEW, [`${MIRROR}.minisig`]: signed(NEW) });
  const isTold = async (day: number, key?: string): Promise<boolean> => {
    web.time = new Date(Date.UTC(2026, 0, 1 + day, 1));
    const { state, cause } = await run(web, { mirrors: [MIRROR], key });
    assert.equal(state, "fetched");
    return cause.includes("mirror-only a has come from a mirror since 2026-01-");
  };
  const days = async (...all: number[]): Promise<boolean[]> => {
    const told: boolean[] = [];
    for (const day of all) told.push(await isTold(day));
    return told;
  };
  assert.deepEqual(await days(0, 2, 3, 4, 5), [false, false, false, true, true]);
  web.answers[LIST] = NEW;
  assert.deepEqual(await days(6), [false]);
  delete web.answers[LIST];
  assert.deepEqual(await days(7, 10, 11), [false, false, true]);
  assert.deepEqual(await days(1, 5), [false, true], "a clock that was wrong");
  for (const day of [20, 30]) assert.equal(await isTold(day, OURS.publicKey), false);
});

for (const [what, before] of [
  ["without a key", undefined],
  ["with another key", OTHER.publicKey],
] as const)
  test(`a copy that was stored ${what} does not serve an entry with a key`, async () => {
    const etag = { etag: '"1"' };
    const web = webOf({
      [LIST]: { body: OLD, headers: etag },
      [`${LIST}.minisig`]: signed(OLD, OTHER),
    });
    const entry = { key: before };
    assert.equal((await run(web, entry)).state, "fetched");
    // The server confirms what it sent, if it is asked.
    web.answers[LIST] = async ({ headers }) =>
      headers["if-none-match"] === undefined ? OLD : { status: 304 };
    const { state, rules } = await run(web);
    assert.deepEqual([state, rules], ["dropped", ""]);
    delete web.answers[LIST];
    assert.deepEqual((await run(web)).rules, "");
    assert.equal((await run(web, entry)).state, "stale", "its own entry has it");
  });

test("a confirmed copy was verified when it was stored", async () => {
  const web = webOf({
    [LIST]: { body: NEW, headers: { etag: '"1"' } },
    [`${LIST}.minisig`]: signed(NEW),
  });
  await run(web);
  web.answers[LIST] = { status: 304 };
  assert.equal((await run(web)).state, "unchanged");
});

test("entries with and without a key for one URL do not share what they read", async () => {
  const web = webOf({ [LIST]: NEW, [`${LIST}.minisig`]: signed(NEW) });
  const config = {
    name: "All",
    sources: [
      { source: LIST, name: "plain" },
      { source: LIST, name: "signed", key: OURS.publicKey },
    ],
    lists: [
      { name: "P", sources: ["plain"] },
      { name: "S", sources: ["signed"] },
    ],
  };
  const project = new MemoryProject(
    { "c.json": JSON.stringify(config) },
    { fetch: (request) => web.host.fetch(request), wait: async () => {} },
  );
  for (const text of [NEW, `${NEW}||evil.example^\n`, `${NEW}||evil.example^\n`]) {
    web.answers[LIST] = text;
    const { exit, stderr } = await project.run("-c", "c.json", "--cache-dir", "cache");
    assert.equal(exit, 0, stderr);
    assert.equal(project.text("rules/p.txt").includes("evil"), text !== NEW);
    assert.ok(!project.text("rules/s.txt").includes("evil"));
    assert.match(project.text("rules/s.txt"), /new\.example/);
  }
});

test("what is signed is the file: before its own compression, after that of the transfer", async () => {
  const packed = gzipSync(NEW);
  const archive = gzipSync(tar([["l.txt", NEW]]));
  const gzip = { "content-encoding": "gzip" };
  const odd = Buffer.concat([Buffer.from(`${NEW}! `), Buffer.of(0xe9, 0x0a)]);
  const wide = { "content-type": "text/plain; charset=utf-16le" };
  for (const [what, body, headers, file, more] of [
    ["compressed by the server", packed, gzip, NEW, {}],
    ["a compressed file", packed, {}, packed, {}],
    ["a compressed file, said to be compressed by the server", packed, gzip, packed, {}],
    ["an archive", archive, {}, archive, { member: "l.txt" }],
    ["an invalid byte, and a header with another encoding", odd, wide, odd, {}],
  ] as const) {
    const web = webOf({ [LIST]: { body, headers }, [`${LIST}.minisig`]: signed(file) });
    const { state, rules, cause } = await run(web, more);
    assert.deepEqual([state, rules], ["fetched", "||new.example^ ||both.example^"], what + cause);
  }
  const inside = webOf({ [LIST]: { body: packed }, [`${LIST}.minisig`]: signed(NEW) });
  assert.equal((await run(inside)).state, "dropped");
});

test("includes of a signed source are signed", async () => {
  const text = "||new.example^\n!#include more.txt\n";
  const more = "https://a.example/more.txt";
  const web = webOf({ [LIST]: text, [`${LIST}.minisig`]: signed(text), [more]: OLD });
  const { state, cause } = await run(web);
  assert.equal(state, "dropped");
  assert.match(cause, /more\.txt: its signature cannot be read/);
  web.answers[`${more}.minisig`] = signed(OLD);
  assert.equal((await run(web)).state, "fetched");
});

test("feeds and files of names are signed, too", async () => {
  const json = '{"d":["new.example"]}';
  const feed = { type: "json", pointer: "/d/*" } as const;
  const web = webOf({ [LIST]: json, [`${LIST}.minisig`]: signed(json) });
  assert.equal((await run(web, feed)).state, "fetched");
  web.answers[LIST] = json.replace("new", "evil");
  assert.equal((await run(web, feed)).state, "stale");
  const allow = webOf({ [LIST]: "own.example\n", [`${LIST}.minisig`]: signed(NEW) });
  for (const [key, blocks] of [
    [OURS.publicKey, true],
    [undefined, false],
  ] as const) {
    const file = { source: LIST, ...(key && { key }) };
    const config = { name: "n", sources: [{ source: "own.txt" }], allow_sources: [file] };
    const result = await compile(config, { host: allow.host });
    assert.equal(linesOf(result).includes("||own.example^"), blocks);
    result.close();
  }
});

test("a key in the configuration must be one, and belong to a URL", async () => {
  for (const [source, key, expected] of [
    [LIST, OURS.publicKey, undefined],
    [LIST, [OURS.publicKey], undefined],
    [LIST, [], /key is not a public key of minisign/],
    [LIST, "", /key is not a public key of minisign/],
    [LIST, OURS.publicKey.slice(1), /key is not a public key of minisign/],
    [LIST, [OURS.publicKey, "k.pub"], /key is not a public key of minisign/],
    [LIST, 7, /key must be a string/],
    ["own.txt", OURS.publicKey, /has a key, but no URL/],
  ] as const) {
    const config = { name: "n", sources: [{ source, key }] };
    const loading = loadConfig(
      "c.json",
      memoryHost({ files: { "c.json": JSON.stringify(config) } }),
    );
    if (expected === undefined) await loading;
    else await assert.rejects(loading, expected);
  }
});
