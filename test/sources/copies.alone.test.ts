import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Host, compile, nodeHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";

const RUNS = isNightly ? 200 : 12;

/** A server of lists, a cache, and as many projects as there are folders. */
class Playground {
  readonly folder: string = mkdtempSync(join(tmpdir(), "copies-"));
  readonly pages = new Map<string, string>();
  /** Waited for before the page is sent. */
  readonly gates = new Map<string, Promise<void>>();
  readonly answered: string[] = [];
  private readonly waiting: (() => void)[] = [];
  base = "";
  output = "";

  nextAnswer(): Promise<void> {
    return new Promise((go) => this.waiting.push(go));
  }

  async open(context: TestContext): Promise<this> {
    const server = createServer((request, response) => {
      const path = request.url ?? "";
      const page = this.pages.get(path) ?? "";
      const etag = `"${page.length}-${page.slice(0, 60).replaceAll(/[^\w.]/g, "")}"`;
      void (this.gates.get(path) ?? Promise.resolve()).then(() => {
        const isSame = request.headers["if-none-match"] === etag;
        response.writeHead(isSame ? 304 : 200, { etag }).end(isSame ? "" : page, () => {
          this.answered.push(path);
          for (const go of this.waiting.splice(0)) go();
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    context.after(() => {
      server.close();
      server.closeAllConnections();
      rmSync(this.folder, { recursive: true, force: true });
    });
    return this;
  }

  get cache(): string {
    return join(this.folder, "cache");
  }

  get objects(): string[] {
    return readdirSync(join(this.cache, "objects"));
  }

  configure(project: string, paths: readonly string[]): void {
    mkdirSync(join(this.folder, project), { recursive: true });
    const sources = paths.map((path) => ({
      source: this.base + path,
      name: path,
      type: "adblock",
      allow_private: true,
    }));
    const config = { name: "n", sources };
    writeFileSync(join(this.folder, project, "c.json"), JSON.stringify(config));
  }

  /** Runs the program in a project, and returns its exit code. */
  async run(project: string, ...words: string[]): Promise<number> {
    const host = nodeHost();
    const silent = { ...host.stderr, isTerminal: false };
    const own: Host = {
      ...host,
      cwd: join(this.folder, project),
      stdout: {
        ...silent,
        write: (text) => void (this.output += text),
        send: async (data) => void (this.output += String(data)),
      },
      stderr: { ...silent, write: (text) => void (this.output += text) },
    };
    this.output = "";
    const [command = "compile", ...more] = words;
    const args = [command, "-c", "c.json", "-o", "out.txt", "--cache-dir", this.cache, ...more];
    return await run(args, own, new AbortController().signal);
  }

  async expect(project: string, ...words: string[]): Promise<void> {
    assert.equal(await this.run(project, ...words), 0, this.output);
  }
}

function listOf(name: string): string {
  return Array.from({ length: 20 }, (_, index) => `||${name}${index}.example^\n`).join("");
}

test("a source that changes leaves one copy, not one per run", async (context) => {
  const play = await new Playground().open(context);
  play.configure("a", ["/l.txt"]);
  for (let round = 0; round < RUNS; round++) {
    play.pages.set("/l.txt", listOf(`n${round}-`));
    await play.expect("a", "compile");
  }
  assert.equal(play.objects.length, 1);
});

test("the library leaves one copy too", async (context) => {
  const play = await new Playground().open(context);
  for (let round = 0; round < RUNS; round++) {
    play.pages.set("/l.txt", listOf(`n${round}-`));
    const result = await compile(
      { name: "n", sources: [{ source: `${play.base}/l.txt`, allow_private: true }] },
      { cacheDir: play.cache },
    );
    result.close();
  }
  assert.equal(play.objects.length, 1);
});

test("copies that a lockfile needs stay until it is deleted", async (context) => {
  const play = await new Playground().open(context);
  play.configure("a", ["/l.txt"]);
  play.configure("b", ["/l.txt"]);
  play.pages.set("/l.txt", listOf("old"));
  await play.expect("b", "compile", "--update");
  cpSync(join(play.folder, "b", "out.txt"), join(play.folder, "expected.txt"));
  for (let round = 0; round < 5; round++) {
    play.pages.set("/l.txt", listOf(`n${round}-`));
    await play.expect("a", "compile");
  }
  assert.equal(play.objects.length, 2);
  await play.expect("b", "compile", "--frozen", "--offline");
  rmSync(join(play.folder, "b"), { recursive: true });
  await play.expect("a", "compile");
  assert.equal(play.objects.length, 1);
});

test("a copy shared by two sources stays while one of them uses it", async (context) => {
  const play = await new Playground().open(context);
  play.configure("a", ["/1.txt", "/2.txt"]);
  for (const path of ["/1.txt", "/2.txt"]) play.pages.set(path, listOf("same"));
  await play.expect("a", "compile");
  assert.equal(play.objects.length, 1);
  play.pages.set("/1.txt", listOf("other"));
  await play.expect("a", "compile");
  assert.equal(play.objects.length, 2);
  await play.expect("a", "compile", "--offline");
  // What it was before counts again.
  play.pages.set("/1.txt", listOf("same"));
  await play.expect("a", "compile");
  assert.equal(play.objects.length, 1);
});

test("the copies behind a published list stay until the next publish", async (context) => {
  const play = await new Playground().open(context);
  play.configure("a", ["/l.txt"]);
  play.configure("b", ["/l.txt"]);
  play.pages.set("/l.txt", listOf("old"));
  await play.expect("a", "compile");
  play.pages.set("/l.txt", listOf("new"));
  await play.expect("b", "compile");
  assert.equal(play.objects.length, 2);
  const host = { ...nodeHost(), cwd: join(play.folder, "a") };
  let said = "";
  const sink = { ...host.stderr, write: (text: string) => void (said += text) };
  const words = ["why", "old1.example", "-c", "c.json", "-o", "out.txt", "--cache-dir", play.cache];
  const send = async (data: string | Uint8Array): Promise<void> => void (said += String(data));
  await run(
    words,
    { ...host, stdout: { ...sink, send }, stderr: sink },
    new AbortController().signal,
  );
  assert.match(said, /\|\|old1\.example\^/);
  assert.match(said, /l\.txt:2/);
});

test("a run keeps its copies while another run replaces and deletes some", async (context) => {
  const play = await new Playground().open(context);
  play.configure("a", ["/1.txt", "/2.txt"]);
  play.configure("b", ["/1.txt"]);
  play.pages.set("/1.txt", listOf("old"));
  play.pages.set("/2.txt", listOf("two"));
  const opened = Promise.withResolvers<void>();
  await play.expect("a", "compile");
  rmSync(join(play.folder, "a", "out.txt"));
  play.gates.set("/2.txt", opened.promise);
  play.answered.length = 0;
  const slow = play.run("a", "compile");
  while (!play.answered.includes("/1.txt")) await play.nextAnswer();
  const other = Object.assign(Object.create(play) as Playground, { output: "" });
  for (let round = 0; round < 3; round++) {
    play.pages.set("/1.txt", listOf(`new${round}-`));
    await other.expect("b", "compile");
  }
  opened.resolve();
  assert.equal(await slow, 0, play.output);
});

test("leftovers of killed runs are removed only when they are old", async (context) => {
  const play = await new Playground().open(context);
  play.configure("a", ["/l.txt"]);
  play.pages.set("/l.txt", listOf("n"));
  await play.expect("a", "compile");
  const plant = (name: string, age: number): string => {
    const path = join(play.cache, "objects", name);
    writeFileSync(path, "x");
    const time = new Date(Date.now() - age * 86_400_000);
    utimesSync(path, time, time);
    return path;
  };
  const gone = plant("new.abcd.tmp", 2);
  const kept = [plant("new.efgh.tmp", 0), plant("f".repeat(64), 2)];
  play.pages.set("/l.txt", listOf("m"));
  await play.expect("a", "compile");
  // The time of the change of a file's status cannot be set: only what is old by both is old.
  assert.ok(kept.every((path) => existsSync(path)));
  const later = { ...nodeHost(), now: () => new Date(Date.now() + 40 * 86_400_000) };
  const { collectCopies } = await import("../../src/sources/copies.ts");
  await collectCopies(play.cache, later);
  assert.ok([gone, ...kept].every((path) => !existsSync(path)));
  assert.equal(play.objects.length, 1);
});
