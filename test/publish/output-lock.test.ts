import assert from "node:assert/strict";
import { test } from "node:test";
import { ListFile } from "../../src/publish/list-file.ts";
import { CompilerError, type Host, HostError } from "../support/internals.ts";
import {
  HOLDER,
  LIST,
  LOCK,
  NEW,
  OLD,
  bytes,
  codeOf,
  held,
  publish,
  publishFile,
  refusing,
  seeded,
  systemError,
  textAt,
} from "../support/publishing.ts";
import { posixPath } from "../support/memory-host.ts";

test("a lock is respected while its holder is running or was active recently", async () => {
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
      /\/project\/l\.txt is being built by process 7 on elsewhere, since 2026-01-01/,
    );
    assert.equal(textAt(host, LIST), OLD);
    assert.equal(textAt(host, LOCK), JSON.stringify(HOLDER), "and is left as it is");
    assert.equal(host.files.size, 2);
  }
});

test("an unreadable lock is respected for a short time", async () => {
  for (const lock of ["", "{", "null", '{"pid":1}', '{"token":"x"}']) {
    assert.equal(await codeOf(publish(held(true, 4000, lock).real)), "locked", lock);
    assert.equal(await publish(held(true, 6000, lock).real), "written", lock);
  }
});

test("a run that has lost its lock does not publish", async () => {
  const host = seeded();
  const file = new ListFile(LIST, host);
  await file.open();
  file.write(bytes(NEW));
  host.files.set(LOCK, bytes(JSON.stringify(HOLDER)));
  assert.equal(await codeOf(publishFile(file, host)), "output-failed");
  assert.equal(textAt(host, LIST), OLD);
  assert.equal(textAt(host, LOCK), JSON.stringify(HOLDER), "it is the other's now");
  assert.equal(host.files.size, 2);
});

test("a stale lock that another run takes over belongs to that run", async () => {
  const { host, real } = held(false);
  const fresh = JSON.stringify({ ...HOLDER, token: "fresh" });
  let renames = 0;
  const racing: Host = {
    ...real,
    isRunning: ({ pid }) => pid === 7 && renames > 0,
    rename: async (from, to) => {
      if (posixPath(from) === LOCK && renames++ === 0) host.files.set(LOCK, bytes(fresh));
      await host.rename(from, to);
    },
  };
  assert.equal(await codeOf(publish(racing)), "locked");
  assert.equal(textAt(host, LOCK), fresh);
  assert.equal(textAt(host, LIST), OLD);
});

test("the holder renews its lock until it is done", async () => {
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
    const file = new ListFile(LIST, {
      ...host,
      touch: async (path) => void touched.push(posixPath(path)),
    });
    await file.open();
    beat?.();
    beat?.();
    assert.deepEqual(touched, [LOCK, LOCK]);
    assert.equal(everyMs, 10_000);
    file.write(bytes(NEW));
    await publishFile(file, host);
    await file.close();
    assert.equal(beat, undefined);
  } finally {
    globalThis.setInterval = realSet;
    globalThis.clearInterval = realClear;
  }
});

test("the time limits of a lock are exact to the millisecond", async () => {
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

test("a lock that appears and disappears is tried five times", async () => {
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
  assert.equal(
    await codeOf(publish({ ...seeded(), link: refusing(systemError("EPERM")) })),
    "output-failed",
  );
  await assert.rejects(publish({ ...seeded(), link: refusing(new TypeError("a bug")) }), TypeError);
});

test("an unreadable lock does not count as released", async () => {
  const { host, real } = held(true, 1000);
  const readFile: Host["readFile"] = (path) =>
    posixPath(path) === LOCK
      ? Promise.reject(new HostError("EACCES", "permission denied"))
      : host.readFile(path);
  assert.equal(await codeOf(publish({ ...real, readFile })), "locked");
  assert.equal(
    await codeOf(publish({ ...held(true, 1000).real, readFile: refusing(new TypeError("a bug")) })),
    "locked",
  );
});

test("a stale lock may disappear, or may not be movable", async () => {
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
  assert.equal(
    await codeOf(publish({ ...stuck.real, rename: refusing(systemError("EACCES")) })),
    "output-failed",
  );
});
