import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { run } from "../../src/cli/main.ts";
import { type Answer, ScriptedWeb } from "../support/scripted-web.ts";

const A = "https://a.example/l.txt";
const B = "https://user:hunter22@b.example/l.txt";
const DAY = 86_400_000;

interface Files {
  readonly files: Map<string, Uint8Array>;
  readonly output: { stderr: string };
}

class LockedProject extends ScriptedWeb {
  constructor() {
    const config = {
      name: "N",
      sources: [
        { source: A, name: "first" },
        { source: B, name: "second" },
        { source: "local.txt", name: "own" },
      ],
    };
    super({ "c.json": JSON.stringify(config), "local.txt": "||own.example^\n" });
    this.answers[A] = { body: "||ads-a.example^\n", headers: { etag: '"a"' } };
    this.answers[B] = "||ads-b.example^\n!#include more.txt\n";
    this.answers["https://user:hunter22@b.example/more.txt"] = "||more.example^\n";
  }

  private get memory(): Files {
    return this.host as unknown as Files;
  }

  read(path: string): string {
    return new TextDecoder().decode(this.memory.files.get(`/project/${path}`));
  }

  write(path: string, text: string): void {
    this.memory.files.set(`/project/${path}`, new TextEncoder().encode(text));
  }

  forgetCopies(): void {
    for (const path of this.memory.files.keys())
      if (path.startsWith("/project/cache/")) this.memory.files.delete(path);
  }

  async run(...more: string[]): Promise<{ exit: number; said: string }> {
    return await this.runWith("-q", "-c", "c.json", "-o", "out.txt", "-r", ...more);
  }

  async runWith(...words: string[]): Promise<{ exit: number; said: string }> {
    this.memory.output.stderr = "";
    const args = [...words, "--cache-dir", "cache"];
    const exit = await run(args, this.host, new AbortController().signal);
    return { exit, said: this.memory.output.stderr };
  }
}

/** The lock of the one configuration that a file speaks of. */
function onlyLockIn(text: string): unknown {
  const { lockfile, locks } = JSON.parse(text) as { lockfile: number; locks: unknown[] };
  assert.deepEqual([lockfile, locks.length], [2, 1]);
  return locks[0];
}

async function locked(): Promise<LockedProject> {
  const project = new LockedProject();
  assert.deepEqual(await project.run("--update"), { exit: 0, said: "" });
  return project;
}

test("a lockfile records the inputs of a build without passwords", async () => {
  const project = await locked();
  const text = project.read("rules.lock");
  assert.doesNotMatch(text, /hunter22/);
  const lock = onlyLockIn(text) as {
    tool: string;
    built: string;
    sources: { source: string; rules: number; files: { sha256: string; size: number }[] }[];
    local: { path: string; sha256: string }[];
  };
  assert.equal(lock.built, "2026-01-01T00:00:00.000Z");
  assert.deepEqual(
    lock.sources.map(({ source, rules, files }) => [source, rules, files.length]),
    [
      [A, 1, 1],
      ["https://b.example/l.txt", 2, 2],
    ],
  );
  assert.match(lock.sources[0]!.files[0]!.sha256, /^[0-9a-f]{64}$/);
  assert.equal(lock.sources[0]!.files[0]!.size, 17);
  assert.deepEqual(
    lock.local.map(({ path }) => path),
    ["local.txt"],
  );
});

test("--frozen builds the same bytes from the same files, whatever the servers send now", async () => {
  const project = await locked();
  const list = project.read("out.txt");
  project.time = new Date(project.time.getTime() + 30 * DAY);
  project.answers[A] = "||changed.example^\n";
  project.answers[B] = { status: 404 };
  project.asked.length = 0;
  assert.deepEqual(await project.run("--frozen"), { exit: 0, said: "" });
  assert.equal(project.read("out.txt"), list, "date included");
  assert.equal(project.asked.length, 0);
});

test("without copies, --frozen accepts the same content from the server and fails otherwise", async () => {
  const project = await locked();
  const list = project.read("out.txt");
  project.forgetCopies();
  assert.equal((await project.run("--frozen")).exit, 0);
  assert.equal(project.read("out.txt"), list);
  project.forgetCopies();
  project.answers[A] = "||changed.example^\n";
  const { exit, said } = await project.run("--frozen");
  assert.equal(exit, 4);
  assert.match(
    said,
    /error\[lock-mismatch\]: https:\/\/a\.example\/l\.txt does not match the lock/,
  );
  assert.equal(project.read("out.txt"), list);
});

test("--frozen fails for a changed local file, a new source or a missing lockfile", async () => {
  const project = await locked();
  project.write("local.txt", "||other.example^\n");
  assert.match((await project.run("--frozen")).said, /error\[lock-mismatch\]: local\.txt/);
  project.write("local.txt", "||own.example^\n");
  assert.equal((await project.run("--frozen")).exit, 0);
  const config = project.read("c.json");
  project.write("c.json", config.replace(A, "https://c.example/l.txt"));
  const { exit, said } = await project.run("--frozen");
  assert.equal(exit, 4);
  assert.match(said, /c\.example\/l\.txt is not in rules\.lock/);
  const none = new LockedProject();
  const missing = await none.run("--frozen");
  assert.equal(missing.exit, 2);
  assert.match(missing.said, /error\[lock-missing\]/);
});

test("--frozen fails for a changed configuration and never leaves out a source", async () => {
  const project = await locked();
  const config = project.read("c.json");
  project.write("c.json", config.replace('"name":"N"', '"name":"N","exclusions":["x"]'));
  assert.match((await project.run("--frozen")).said, /error\[lock-mismatch\]: The configuration/);
  project.write("c.json", config.replaceAll('"name":"first"', '"name":"first","required":false'));
  assert.equal((await project.run("--update")).exit, 0);
  project.forgetCopies();
  project.answers[A] = "||changed.example^\n";
  assert.equal((await project.run("--frozen")).exit, 4);
});

function filesIn(lock: string): unknown {
  const { sources } = onlyLockIn(lock) as { sources: { files: unknown }[] };
  return sources.map(({ files }) => files);
}

test("a build from copies keeps the lockfile entries", async () => {
  const project = await locked();
  const before = project.read("rules.lock");
  project.answers[A] = { status: 404 };
  project.time = new Date(project.time.getTime() + DAY);
  assert.equal((await project.run()).exit, 0);
  assert.deepEqual(filesIn(project.read("rules.lock")), filesIn(before));
  assert.equal((await project.run("--frozen")).exit, 0);
});

test("--update with a source updates that source and keeps the others locked", async () => {
  const project = await locked();
  project.answers[A] = "||ads-a.example^\n||new.example^\n";
  project.answers[B] = "||changed.example^\n||changed2.example^\n";
  assert.deepEqual(await project.run("--update", "first"), { exit: 0, said: "" });
  assert.match(project.read("out.txt"), /new\.example/);
  assert.doesNotMatch(project.read("out.txt"), /changed/);
  const list = project.read("out.txt");
  assert.equal((await project.run("--frozen")).exit, 0);
  assert.equal(project.read("out.txt"), list);
  const wrong = await project.run("--update", "third");
  assert.equal(wrong.exit, 2);
  assert.match(wrong.said, /No source matches --update third/);
});

test("every build updates an existing lockfile and does not create a missing one", async () => {
  const project = await locked();
  const before = project.read("rules.lock");
  project.time = new Date(project.time.getTime() + DAY);
  project.answers[A] = "||ads-a.example^\n||new.example^\n";
  assert.equal((await project.run()).exit, 0);
  assert.notEqual(project.read("rules.lock"), before);
  const without = new LockedProject();
  assert.equal((await without.run()).exit, 0);
  assert.equal(without.read("rules.lock"), "");
});

test("--frozen refuses a lockfile of another version, and other builds replace it", async () => {
  const project = await locked();
  const text = project.read("rules.lock");
  project.write("rules.lock", text.replace(/"tool": "[^"]+"/, '"tool": "99.0.0"'));
  const { exit, said } = await project.run("--frozen");
  assert.equal(exit, 2);
  assert.match(said, /error\[lock-version\]: rules\.lock was written by rules-compiler 99\.0\.0/);
  project.write("rules.lock", text.slice(0, 40));
  assert.match((await project.run("--frozen")).said, /error\[lock-unreadable\]/);
  project.time = new Date(project.time.getTime() + DAY);
  assert.equal((await project.run("--update")).exit, 0);
  assert.equal((await project.run("--frozen")).exit, 0);
});

test("every configuration of a folder has its own entry in the lockfile", async () => {
  const project = await locked();
  const other = { name: "Other", sources: [{ source: "other.txt" }] };
  project.write("other.json", JSON.stringify(other));
  project.write("other.txt", "||other.example^\n");
  const before = project.read("rules.lock");
  const words = ["-q", "-c", "other.json", "-o", "other-list.txt", "-r"];
  assert.deepEqual(await project.runWith(...words), { exit: 0, said: "" });
  assert.equal(project.read("rules.lock"), before, "a plain build of another leaves it alone");
  const { exit, said } = await project.runWith(...words, "--frozen");
  assert.equal(exit, 2);
  assert.match(said, /error\[lock-missing\]: rules\.lock has no entry for other\.json/);
  assert.equal((await project.runWith(...words, "--update")).exit, 0);
  assert.equal((await project.runWith(...words, "--frozen")).exit, 0);
  assert.equal((await project.run("--frozen")).exit, 0, "both are locked");
  project.time = new Date(project.time.getTime() + DAY);
  project.write("other.txt", "||other.example^\n||more.example^\n");
  assert.equal((await project.runWith(...words)).exit, 0);
  assert.equal((await project.runWith(...words, "--frozen")).exit, 0, "kept up by its own builds");
  assert.equal((await project.run("--frozen")).exit, 0);
});

/** As version 0.1.0 wrote it. */
function withoutName(text: string): string {
  const { configuration: _name, ...lock } = onlyLockIn(text) as Record<string, unknown>;
  return JSON.stringify({ lockfile: 1, ...lock }, undefined, 2);
}

test("a lockfile of version 0.1.0 is read, and only its own configuration updates it", async () => {
  const project = await locked();
  const text = withoutName(project.read("rules.lock"));
  project.write("rules.lock", text);
  assert.equal((await project.run("--frozen")).exit, 0);
  project.write(
    "other.json",
    JSON.stringify({ name: "Other", sources: [{ source: "local.txt" }] }),
  );
  const other = ["-q", "-c", "other.json", "-o", "other-list.txt", "-r"];
  assert.equal((await project.runWith(...other)).exit, 0);
  assert.equal(project.read("rules.lock"), text);
  assert.match((await project.runWith(...other, "--frozen")).said, /The configuration has changed/);
  assert.equal((await project.runWith(...other, "--update")).exit, 0);
  assert.equal((await project.run("--frozen")).exit, 0);
  assert.equal((await project.run("--update")).exit, 0);
  const { locks } = JSON.parse(project.read("rules.lock")) as { locks: object[] };
  assert.deepEqual(
    locks.map((lock) => (lock as { configuration?: string }).configuration),
    ["c.json", "other.json"],
  );
});

test("every build reports an unreadable lockfile and does not change it", async () => {
  const project = await locked();
  project.write("rules.lock", "<<<<<<< HEAD\n{");
  const { exit, said } = await project.runWith("-c", "c.json", "-o", "out.txt");
  assert.equal(exit, 0);
  assert.match(said, /warning\[lock-unreadable\]: .*rules\.lock is not a valid lockfile/);
  assert.equal(project.read("rules.lock"), "<<<<<<< HEAD\n{");
  assert.equal((await project.run("--update")).exit, 0);
  assert.equal((await project.run("--frozen")).exit, 0);
});

/** Every value in a document, replaced or left out. */
function* damaged(value: unknown): Generator {
  yield* [null, 5, "", "text", true, [], {}, [null], { "": null }];
  if (Array.isArray(value))
    for (const [index, one] of value.entries())
      for (const bad of damaged(one)) yield value.with(index, bad);
  else if (typeof value === "object" && value !== null)
    for (const [key, one] of Object.entries(value)) {
      const { [key]: _left, ...others } = value as Record<string, unknown>;
      yield others;
      for (const bad of damaged(one)) yield { ...value, [key]: bad };
    }
}

test("builds with a damaged lockfile end with a diagnostic", async () => {
  const project = await locked();
  const whole = project.read("rules.lock");
  const texts = [whole, withoutName(whole)].flatMap((text) => [
    ...Array.from(damaged(JSON.parse(text)), (one) => JSON.stringify(one)),
    ...Array.from({ length: 40 }, (_, part) => text.slice(0, (text.length * part) / 40)),
  ]);
  assert.ok(texts.length > 800);
  for (const text of texts) {
    project.write("rules.lock", text);
    const { exit, said } = await project.run("--frozen");
    assert.ok([0, 2, 4].includes(exit), `${exit} ${said} ${text}`);
    assert.doesNotMatch(said, /TypeError|internal|\bat .*\.ts:/, text);
  }
  for (const text of texts.filter((_, index) => index % 25 === 0)) {
    project.write("rules.lock", text);
    const { exit, said } = await project.run();
    assert.equal(exit, 0, `${said} ${text}`);
  }
});

test("the lockfile lists sources in the order of the configuration", async () => {
  for (const late of [A, B]) {
    const project = new LockedProject();
    const answer = project.answers[late] as Answer;
    project.answers[late] = async () => {
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      return answer;
    };
    assert.equal((await project.run("--update")).exit, 0);
    const { sources } = onlyLockIn(project.read("rules.lock")) as { sources: { source: string }[] };
    assert.deepEqual(
      sources.map(({ source }) => source),
      ["https://a.example/l.txt", "https://b.example/l.txt"],
    );
  }
});
