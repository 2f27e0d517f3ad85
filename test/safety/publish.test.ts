import assert from "node:assert/strict";
import { test } from "node:test";
import { ListFile, slugOf } from "../../src/compile/write.ts";
import {
  CompilerError,
  type Host,
  HostError,
  type MemoryHost,
  memoryHost,
} from "../../src/index.ts";

const LIST = "/project/l.txt";
const LOCK = "/project/.l.txt.lock";
const OLD = "! old\n||old.example^\n";
const NEW = "! new\n||new.example^\n";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textAt(host: MemoryHost, path: string): string {
  return new TextDecoder().decode(host.files.get(path));
}

/** Publishes the new list; resolves to what came of it. */
async function publish(host: Host): Promise<string> {
  const file = new ListFile(LIST, host);
  await file.open();
  try {
    file.write(bytes(NEW));
    return await file.publish();
  } finally {
    await file.close();
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    assert.ok(error instanceof CompilerError, String(error));
    return error.diagnostics[0]!.code;
  }
}

function seeded(files: Record<string, string> = {}): MemoryHost {
  return memoryHost({ files: { "l.txt": OLD, ...files } });
}

test("a list is published and nothing else is left", async () => {
  const host = seeded();
  assert.equal(await publish(host), "written");
  assert.deepEqual([...host.files.keys()], [LIST]);
  assert.equal(textAt(host, LIST), NEW);
});

function dated(date: string): string {
  return `!\n! Last modified: ${date}\n!\n||a.example^\n`;
}

test("a list that differs in its date alone is left as it is", async () => {
  const old = dated("2026-01-01T00:00:00.000Z");
  const host = seeded({ "l.txt": old });
  const file = new ListFile(LIST, host);
  await file.open();
  file.write(bytes(dated("2026-02-02T00:00:00.000Z")));
  assert.equal(await file.publish(), "unchanged");
  await file.close();
  assert.equal(textAt(host, LIST), old);
  assert.deepEqual([...host.files.keys()], [LIST]);
});

test("what a killed run left is removed, what is somebody else's is not", async () => {
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

const HOLDER = { pid: 7, began: "", machine: "elsewhere 1 2", token: "t", since: "2026-01-01" };

/** A folder in which somebody's lock stands. */
function held(
  running: boolean | undefined,
  silenceMs = 0,
  lock: string = JSON.stringify(HOLDER),
): { host: MemoryHost; real: Host } {
  const host = seeded({ ".l.txt.lock": lock });
  const real: Host = {
    ...host,
    isRunning: () => running,
    stampOf: async (path) => {
      const stamp = await host.stampOf(path);
      return stamp === undefined
        ? undefined
        : { ...stamp, changed: host.now().getTime() - silenceMs };
    },
  };
  return { host, real };
}

test("a lock is respected while its holder runs, or has been heard of", async () => {
  for (const [running, silence, isHeld] of [
    [true, 0, true],
    [true, 10_000_000, true],
    [false, 0, false],
    [undefined, 0, true],
    [undefined, 119_000, true],
    [undefined, 121_000, false],
    // A clock that was put back is no silence, and one that is far behind is not believed.
    [undefined, -60_000, true],
    [undefined, -1_000_000, false],
  ] as const) {
    const { host, real } = held(running, silence);
    const what = `${running} ${silence}`;
    if (!isHeld) {
      assert.equal(await publish(real), "written", what);
      assert.deepEqual([...host.files.keys()], [LIST], what);
      continue;
    }
    const error = await publish(real).catch((reason: unknown) => reason);
    assert.ok(error instanceof CompilerError, what);
    assert.equal(error.diagnostics[0]!.code, "locked");
    assert.equal(error.exit, 7);
    assert.match(
      error.message,
      /\/project\/l\.txt is being made by process 7 on elsewhere, since 2026-01-01/,
    );
    assert.equal(textAt(host, LIST), OLD);
    assert.equal(textAt(host, LOCK), JSON.stringify(HOLDER), "and is left as it is");
    assert.equal(host.files.size, 2);
  }
});

test("a lock that cannot be read is somebody's who is writing it, but not for long", async () => {
  for (const lock of ["", "{", "null", '{"pid":1}', '{"token":"x"}']) {
    assert.equal(await codeOf(publish(held(true, 4000, lock).real)), "locked", lock);
    assert.equal(await publish(held(true, 6000, lock).real), "written", lock);
  }
});

test("who has lost the lock does not publish", async () => {
  const host = seeded();
  const file = new ListFile(LIST, host);
  await file.open();
  file.write(bytes(NEW));
  host.files.set(LOCK, bytes(JSON.stringify(HOLDER)));
  assert.equal(await codeOf(file.publish()), "output-failed");
  assert.equal(textAt(host, LIST), OLD);
  assert.equal(textAt(host, LOCK), JSON.stringify(HOLDER), "it is the other's now");
  assert.equal(host.files.size, 2);
});

test("a dead lock that another run takes meanwhile is the other's", async () => {
  const { host, real } = held(false);
  const fresh = JSON.stringify({ ...HOLDER, token: "fresh" });
  let renames = 0;
  const racing: Host = {
    ...real,
    isRunning: ({ pid }) => pid === 7 && renames > 0,
    rename: async (from, to) => {
      if (from === LOCK && renames++ === 0) host.files.set(LOCK, bytes(fresh));
      await host.rename(from, to);
    },
  };
  assert.equal(await codeOf(publish(racing)), "locked");
  assert.equal(textAt(host, LOCK), fresh);
  assert.equal(textAt(host, LIST), OLD);
});

test("the holder says that it is there, and stops when it is done", async () => {
  const { setInterval: realSet, clearInterval: realClear } = globalThis;
  let beat: (() => void) | undefined;
  let everyMs = 0;
  // Not the mocks of node:test, which Deno does not have.
  globalThis.setInterval = ((work: () => void, ms: number) => {
    beat = work;
    everyMs = ms;
    return 1;
  }) as unknown as typeof setInterval;
  globalThis.clearInterval = () => {
    beat = undefined;
  };
  try {
    const host = seeded();
    const touched: string[] = [];
    const file = new ListFile(LIST, { ...host, touch: async (path) => void touched.push(path) });
    await file.open();
    beat?.();
    beat?.();
    assert.deepEqual(touched, [LOCK, LOCK]);
    assert.equal(everyMs, 10_000);
    file.write(bytes(NEW));
    await file.publish();
    await file.close();
    assert.equal(beat, undefined);
  } finally {
    globalThis.setInterval = realSet;
    globalThis.clearInterval = realClear;
  }
});

test("neither folders nor devices are replaced, links are", async () => {
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

test("whatever the system refuses, the old list or the new one is there, whole, and no lock stays", async () => {
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

test("a write that fails, at any byte, leaves the old list", async () => {
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
  const outcome = await file.publish();
  await file.close();
  assert.equal(textAt(host, LIST), outcome === "unchanged" ? old : fresh);
  return outcome === "unchanged";
}

const A_DATE = "2026-01-01T00:00:00.000Z";
const B_DATE = "2026-02-02T00:00:00.000Z";

test("what counts as the same list: all bytes but those of one date line in the header", async () => {
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

test("an old list that cannot be opened is replaced; one that cannot be read on is an error", async () => {
  const locked: Host["openFile"] = () =>
    Promise.reject(new HostError("EACCES", "permission denied"));
  assert.equal(await isLeft(dated(A_DATE), dated(B_DATE), { openFile: locked }), false);
  const other = seeded();
  const failing: Host["openFile"] = async (path) => ({
    ...(await other.openFile(path)),
    read: () => Promise.reject(new HostError("EIO", "input/output error")),
  });
  assert.equal(await codeOf(publish({ ...other, openFile: failing })), "output-failed");
  assert.equal(textAt(other, LIST), OLD);
  // A bug is not taken for a refusal of the system.
  const bug: Host["openFile"] = () => Promise.reject(new TypeError("a bug"));
  await assert.rejects(publish({ ...seeded(), openFile: bug }), TypeError);
});

test("a list that is not there yet is written, and its folder made", async () => {
  const host = memoryHost();
  const made: string[] = [];
  assert.equal(
    await publish({ ...host, makeFolder: async (path) => void made.push(path) }),
    "written",
  );
  assert.deepEqual(made, ["/project"]);
  assert.equal(textAt(host, LIST), NEW);
});

test("what is in the way is named as what it is", async () => {
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

test("the limits of a lock's silence, to the millisecond", async () => {
  assert.equal(await publish(held(undefined, 120_000).real), "written");
  assert.equal(await codeOf(publish(held(undefined, 119_999).real)), "locked");
  assert.equal(await publish(held(true, 5000, "{").real), "written");
  assert.equal(await codeOf(publish(held(true, 4999, "{").real)), "locked");
  // By a clock that is not at zero.
  for (const [silence, code] of [
    [60_000, "locked"],
    [200_000, "none"],
  ] as const) {
    const { real } = held(undefined, silence);
    const now = Date.parse("2026-05-05T00:00:00Z");
    const stampOf: Host["stampOf"] = async (path) => {
      const stamp = await real.stampOf(path);
      return stamp === undefined ? undefined : { ...stamp, changed: now - silence };
    };
    assert.equal(await codeOf(publish({ ...real, now: () => new Date(now), stampOf })), code);
  }
});

test("a lock that comes and goes is tried five times", async () => {
  const host = seeded();
  let tries = 0;
  const link: Host["link"] = () => {
    tries++;
    return Promise.reject(new HostError("EEXIST", "file exists"));
  };
  // Whoever has it is gone whenever one looks.
  assert.equal(await codeOf(publish({ ...host, link })), "locked");
  assert.equal(tries, 5);
  const cleared: Host["link"] = () => {
    tries++;
    return Promise.reject(new HostError("ENOENT", "somebody cleared it away"));
  };
  tries = 0;
  assert.equal(await codeOf(publish({ ...host, link: cleared })), "locked");
  assert.equal(tries, 5);
  const refused: Host["link"] = () => Promise.reject(new HostError("EPERM", "not permitted"));
  assert.equal(await codeOf(publish({ ...seeded(), link: refused })), "output-failed");
  const bug: Host["link"] = () => Promise.reject(new TypeError("a bug"));
  await assert.rejects(publish({ ...seeded(), link: bug }), TypeError);
});

test("a lock that cannot be read is not one that is gone", async () => {
  const { host, real } = held(true, 1000);
  const readFile: Host["readFile"] = (path) =>
    path === LOCK
      ? Promise.reject(new HostError("EACCES", "permission denied"))
      : host.readFile(path);
  assert.equal(await codeOf(publish({ ...real, readFile })), "locked");
  const bug: Host["readFile"] = () => Promise.reject(new TypeError("not of the system"));
  assert.equal(await codeOf(publish({ ...held(true, 1000).real, readFile: bug })), "locked");
});

test("a dead lock that goes by itself, or may not be moved", async () => {
  const gone = held(false);
  const rename =
    (code: string): Host["rename"] =>
    async (from, to) => {
      if (from !== LOCK) return await gone.host.rename(from, to);
      if (code === "ENOENT") gone.host.files.delete(LOCK);
      throw new HostError(code, code);
    };
  assert.equal(await publish({ ...gone.real, rename: rename("ENOENT") }), "written");
  const stuck = held(false);
  const refuse: Host["rename"] = () => Promise.reject(new HostError("EACCES", "permission denied"));
  assert.equal(await codeOf(publish({ ...stuck.real, rename: refuse })), "output-failed");
});

test("names of files: letters and digits, and no longer than a file system takes", () => {
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
