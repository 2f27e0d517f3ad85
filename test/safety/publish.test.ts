import assert from "node:assert/strict";
import { test } from "node:test";
import { ListFile } from "../../src/compile/write.ts";
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
