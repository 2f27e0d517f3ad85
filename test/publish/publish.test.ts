import assert from "node:assert/strict";
import { test } from "node:test";
import { slugOf } from "../../src/engine/plan.ts";
import { ListFile } from "../../src/publish/list-file.ts";
import { CompilerError, type Host, HostError, memoryHost } from "../support/internals.ts";
import {
  LIST,
  LOCK,
  NEW,
  OLD,
  bytes,
  codeOf,
  publish,
  publishFile,
  refusing,
  seeded,
  systemError,
  textAt,
} from "../support/publishing.ts";

test("publishing a list leaves no other file", async () => {
  const host = seeded();
  assert.equal(await publish(host), "written");
  assert.deepEqual([...host.files.keys()], [LIST]);
  assert.equal(textAt(host, LIST), NEW);
});

function dated(date: string): string {
  return `!\n! Last modified: ${date}\n!\n||a.example^\n`;
}

test("a list that differs only in its date is not written", async () => {
  const old = dated("2026-01-01T00:00:00.000Z");
  const host = seeded({ "l.txt": old });
  const file = new ListFile(LIST, host);
  await file.open();
  file.write(bytes(dated("2026-02-02T00:00:00.000Z")));
  assert.equal(await publishFile(file, host), "unchanged");
  await file.close();
  assert.equal(textAt(host, LIST), old);
  assert.deepEqual([...host.files.keys()], [LIST]);
});

test("leftovers of a killed run are removed, other files are not", async () => {
  const others = [
    ".l.txt.keep",
    ".l.txt.other.abc123.tmp",
    ".m.txt.abc123.tmp",
    "l.txt.abc123.tmp",
    ".l.txt.bak.tmp.txt",
  ];
  const files = Object.fromEntries(others.map((name) => [name, "x"]));
  const host = seeded({ ...files, ".l.txt.a1b2c3d4.tmp": "half", ".l.txt.zz.tmp": "half" });
  await publish(host);
  assert.deepEqual(
    [...host.files.keys()].toSorted(),
    [LIST, ...others.map((name) => `/project/${name}`)].toSorted(),
  );
});

test("publishing replaces links, but neither folders nor devices", async () => {
  for (const [kind, code] of [
    ["folder", "output-failed"],
    ["other", "output-failed"],
    ["link", "none"],
    ["file", "none"],
  ] as const) {
    const host = seeded();
    assert.equal(await codeOf(publish({ ...host, kindOf: async () => kind })), code, kind);
  }
});

/** Every way to the outside that publishing takes. */
const CALLS = [
  "makeFolder",
  "createFile",
  "link",
  "rename",
  "syncFolder",
  "readFile",
  "listFolder",
  "removeFile",
] as const;

test("whatever system call fails, a complete list remains and no lock", async () => {
  for (const call of CALLS)
    for (const code of ["EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS"])
      for (let at = 1; at <= 4; at++) {
        const host = seeded();
        let count = 0;
        const refuse = (): void => {
          if (++count === at) throw new HostError(code, code.toLowerCase());
        };
        const original = host[call] as (...values: unknown[]) => unknown;
        const failing = (...values: unknown[]): unknown => {
          if (call === "createFile") refuse();
          else
            try {
              refuse();
            } catch (error) {
              return Promise.reject(error);
            }
          return original(...values);
        };
        const outcome = await publish({ ...host, [call]: failing }).then(
          () => "written",
          (error: unknown) => {
            assert.ok(error instanceof CompilerError, `${call}: ${String(error)}`);
            assert.equal(error.exit, 6, `${call} ${at}`);
            return "refused";
          },
        );
        const what = `${call} ${at} ${code}: ${outcome}`;
        const found = textAt(host, LIST);
        assert.ok(found === NEW || (outcome === "refused" && found === OLD), what);
        if (call !== "removeFile" && call !== "readFile")
          assert.deepEqual([...host.files.keys()], [LIST], what);
      }
});

function fail(): never {
  throw new HostError("ENOSPC", "no space left on device");
}

test("a write that fails at any byte leaves the old list", async () => {
  for (const when of ["write", "finish"] as const) {
    const host = seeded();
    const real: Host = {
      ...host,
      createFile: (path) => {
        const file = host.createFile(path);
        if (!path.endsWith(".tmp") || !host.files.has(LOCK)) return file;
        return when === "write"
          ? { ...file, write: fail }
          : { ...file, finish: async () => fail() };
      },
    };
    const error = await publish(real).catch((reason: unknown) => reason);
    assert.ok(error instanceof CompilerError);
    assert.equal(error.exit, 6);
    assert.match(error.diagnostics[0]!.cause ?? "", /ENOSPC: no space left on device/);
    assert.equal(textAt(host, LIST), OLD);
    assert.deepEqual([...host.files.keys()], [LIST]);
  }
});

/** Whether publishing a text over another leaves the old one where it is. */
async function isLeft(old: string, fresh: string, change: Partial<Host> = {}): Promise<boolean> {
  const host = seeded({ "l.txt": old });
  const file = new ListFile(LIST, { ...host, ...change });
  await file.open();
  file.write(bytes(fresh));
  const outcome = await publishFile(file, { ...host, ...change });
  await file.close();
  assert.equal(textAt(host, LIST), outcome === "unchanged" ? old : fresh);
  return outcome === "unchanged";
}

const A_DATE = "2026-01-01T00:00:00.000Z";
const B_DATE = "2026-02-02T00:00:00.000Z";

test("two lists are the same if they differ only in the date line of the header", async () => {
  const big = "||a.example^\n".repeat(100_000);
  for (const [old, fresh, isSame] of [
    [dated(A_DATE), dated(B_DATE), true],
    [dated(A_DATE) + big, dated(B_DATE) + big, true],
    // Differences behind the first block that is compared, in its middle and at its end.
    [`${dated(A_DATE)}${big}x`, `${dated(B_DATE)}${big}y`, false],
    [`${dated(A_DATE)}${big}x${big}`, `${dated(B_DATE)}${big}y${big}`, false],
    [dated(A_DATE), dated("2026"), false],
    [`!x\n${dated(A_DATE)}`, `!y\n${dated(B_DATE)}`, false],
    // The date stands elsewhere, ends elsewhere, is missing in one, in both.
    [`! aa\n${dated(A_DATE)}`, `${dated(B_DATE)}! aa\n`, false],
    [`!\n! Last modified: aa\n!\n||b^\n`, `!\n! Last modified: aaa\n!\n||b\n`, false],
    [dated(A_DATE), dated(B_DATE).replace("Last", "Lost"), false],
    [dated(A_DATE).replace("Last", "Lost"), dated(B_DATE), false],
    [OLD, OLD.replace("old.example", "odd.example"), false],
    // The line must end, and stand within the first 8 KiB.
    [`!\n! Last modified: ${A_DATE}`, `!\n! Last modified: ${B_DATE}`, false],
    [`!${"x".repeat(8150)}${dated(A_DATE)}`, `!${"x".repeat(8150)}${dated(B_DATE)}`, true],
    [`!${"x".repeat(8200)}${dated(A_DATE)}`, `!${"x".repeat(8200)}${dated(B_DATE)}`, false],
  ] as const)
    assert.equal(await isLeft(old, fresh), isSame, `${old.slice(0, 60)} | ${fresh.slice(0, 60)}`);
});

test("an old list that cannot be opened is replaced; a read error in it is an error", async () => {
  assert.equal(
    await isLeft(dated(A_DATE), dated(B_DATE), { openFile: refusing(systemError("EACCES")) }),
    false,
  );
  const other = seeded();
  const failing: Host["openFile"] = async (path) => ({
    ...(await other.openFile(path)),
    read: () => Promise.reject(new HostError("EIO", "input/output error")),
  });
  assert.equal(await codeOf(publish({ ...other, openFile: failing })), "output-failed");
  assert.equal(textAt(other, LIST), OLD);
  // A bug is not taken for a refusal of the system.
  await assert.rejects(
    publish({ ...seeded(), openFile: refusing(new TypeError("a bug")) }),
    TypeError,
  );
});

test("a first publish creates the folder", async () => {
  const host = memoryHost();
  const made: string[] = [];
  assert.equal(
    await publish({ ...host, makeFolder: async (path) => void made.push(path) }),
    "written",
  );
  assert.deepEqual(made, ["/project"]);
  assert.equal(textAt(host, LIST), NEW);
});

test("an obstacle at the output path is named in the message", async () => {
  for (const [kind, words] of [
    ["folder", "is a folder"],
    ["other", "is not a regular file"],
  ] as const) {
    const error = await publish({ ...seeded(), kindOf: async () => kind }).catch(
      (one: unknown) => one,
    );
    assert.ok(error instanceof CompilerError);
    assert.equal(error.diagnostics[0]!.cause, `EINVAL: ${words}`);
  }
});

test("file names have letters and digits and a limited length", () => {
  for (const [name, slug] of [
    ["My list", "my-list"],
    ["--A//B--", "a-b"],
    ["ÄÖ ü", "äö-ü"],
    ["!!!", "rules"],
    ["x".repeat(300), "x".repeat(200)],
    ["ж".repeat(200), "ж".repeat(100)],
  ] as const)
    assert.equal(slugOf(name), slug);
});
