import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { PROGRAM } from "../support/command.ts";
import { blocksOf, follow } from "../support/markdown.ts";
import { KEYS, SwiftStore } from "../support/swift-store.ts";

/** The recipes of the guide, with the real git, rclone and an S3 server. All commands and scripts come from the page. */
const PAGE = join(import.meta.dirname, "../../docs/guide/publish-elsewhere.md");

class Reader {
  readonly folder: string = mkdtempSync(join(tmpdir(), "recipe-"));
  readonly remote: string = join(this.folder, "remote.git");
  private readonly env: NodeJS.ProcessEnv;

  constructor(context: TestContext, endpoint: string) {
    context.after(() => rmSync(this.folder, { recursive: true, force: true }));
    const bin = join(this.folder, "bin");
    mkdirSync(bin);
    mkdirSync(join(this.folder, "home"));
    const start = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
    writeFileSync(join(bin, "rules-compiler"), start, { mode: 0o755 });
    this.env = {
      PATH: `${bin}:${process.env["PATH"]}`,
      HOME: join(this.folder, "home"),
      REMOTE: this.remote,
      GIT_CONFIG_NOSYSTEM: "1",
      CI: "true",
    };
    for (const { title, language, text } of blocksOf(readFileSync(PAGE, "utf8")))
      if (title !== undefined && title !== "output" && language !== "sh")
        this.write(
          title,
          text
            .replace("https://s3.example.com", endpoint)
            .replace(/\bKEY$/m, KEYS.id)
            .replace(/\bSECRET$/m, KEYS.secret),
        );
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  /** What a script prints, with its messages. */
  async sh(script: string): Promise<string> {
    const { folder: cwd, env } = this;
    const words = ["-c", `{ ${script}\n} 2>&1`];
    return (await promisify(execFile)("bash", words, { cwd, env })).stdout;
  }

  /** Follows the commands of a section and compares what they print with the page. */
  async follow(name: string): Promise<void> {
    const page = readFileSync(PAGE, "utf8").split(/^## /m);
    const section = page.find((part) => part.startsWith(name))!;
    await follow(blocksOf(section), {
      write: () => undefined,
      run: async (script) => ({ code: 0, said: await this.sh(script) }),
    });
  }

  /** The published files. */
  published(): Record<string, string> {
    const names = readdirSync(join(this.folder, "rules")).filter((name) => !name.startsWith("."));
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(this.folder, "rules", name), "utf8")]),
    );
  }

  /** Runs the script of the hook as the hook did, and kills it and all that it started if it is told to. */
  async upload(store: SwiftStore, isEnd: (asked: string) => boolean): Promise<number | null> {
    const { folder: cwd } = this;
    const env = { ...this.env, RULES_COMPILER_OUTPUT: join(cwd, "rules/home.txt") };
    const child = spawn("sh", ["upload.sh"], { cwd, env, detached: true });
    const ended = new Promise<number | null>((end) => child.once("close", end));
    store.onRequest = (asked) => {
      if (!isEnd(asked)) return true;
      process.kill(-child.pid!, "SIGKILL");
      return false;
    };
    child.stdin.end(readFileSync(join(cwd, "event.json")));
    const code = await ended;
    store.onRequest = () => true;
    return code;
  }

  /** The files that `latest.json` points to; all of them must have its digests. */
  async latest(): Promise<Record<string, string>> {
    const pointer = JSON.parse(await this.sh("rclone cat lists:example-lists/latest.json")) as {
      build: string;
      files: { file: string; sha256: string }[];
    };
    const files: Record<string, string> = {};
    for (const { file, sha256 } of pointer.files) {
      const text = await this.sh(`rclone cat 'lists:example-lists/${pointer.build}/${file}'`);
      assert.equal(createHash("sha256").update(text).digest("hex"), sha256, file);
      files[file] = text;
    }
    return files;
  }
}

test("git: the branch is the published folder, and keeps the commits of others", async (context) => {
  const reader = new Reader(context, "");
  await reader.sh("git init --quiet --bare remote.git");
  await reader.follow("A git branch");
  const branch = async (): Promise<Record<string, string>> => {
    const names = (await reader.sh("git -C remote.git ls-tree -r --name-only lists")).trim();
    const files: Record<string, string> = {};
    for (const name of names.split("\n"))
      files[name] = await reader.sh(`git -C remote.git show lists:${name}`);
    return files;
  };
  assert.deepEqual(await branch(), reader.published());
  assert.deepEqual(Object.keys(await branch()), ["home.hosts", "home.txt"]);

  reader.write("own.txt", "||ads.example^\n||new.example^\n");
  await reader.sh("mv remote.git moved.git");
  assert.match(
    await reader.sh("rules-compiler -c branch.yaml --permit hooks"),
    /warning\[hook-failed\]/,
  );
  await reader.sh("mv moved.git remote.git");
  await reader.sh("rules-compiler -c branch.yaml --permit hooks");
  assert.deepEqual(await branch(), reader.published());
  assert.match((await branch())["home.txt"]!, /new\.example/);

  const somebody = "-c user.name=Somebody -c user.email=somebody@example.org";
  await reader.sh("git clone --quiet --branch lists remote.git clone && touch clone/theirs");
  await reader.sh(
    `cd clone && git add . && git ${somebody} commit --quiet -m Theirs && git push --quiet`,
  );
  reader.write("own.txt", "||ads.example^\n||newer.example^\n");
  await reader.sh("rules-compiler -c branch.yaml --permit hooks");
  assert.deepEqual(await branch(), reader.published());
  const log = await reader.sh("git -C remote.git log --format=%s lists");
  assert.match(
    log,
    /^Home: published; .*\nTheirs\nHome: published; .*\nHome: published; 2 rules\n$/,
  );
});

test("bucket: a kill at any upload leaves the pointer at a complete build", async (context) => {
  const store = await SwiftStore.start(context);
  const reader = new Reader(context, store.endpoint);
  const isMissing = "--config rclone.conf --s3-no-check-bucket=false";
  await reader.sh(`rclone mkdir ${isMissing} lists:example-lists`);
  await reader.follow("A bucket");
  assert.deepEqual(await reader.latest(), reader.published());

  // The same hook as a program that keeps its input.
  reader.write("event.yaml", await reader.sh("sed 's/sh, upload.sh/tee, event.json/' bucket.yaml"));
  for (const killed of [1, 2, 3]) {
    const old = await reader.latest();
    reader.write("own.txt", `||ads.example^\n||new-${killed}.example^\n`);
    await reader.sh("rules-compiler -c event.yaml --permit hooks");
    const puts: string[] = [];
    const isEnd = (asked: string): boolean =>
      asked.startsWith("PUT ") && puts.push(asked) === killed;
    assert.equal(await reader.upload(store, isEnd), null);
    assert.equal(puts.length >= killed, true);
    if (killed === 3) assert.match(puts[2]!, /\/latest\.json/);
    assert.deepEqual(await reader.latest(), old);
    assert.equal(await reader.upload(store, () => false), 0);
    assert.deepEqual(await reader.latest(), reader.published());
  }

  // A run that published nothing names no files, and a file that was replaced in between has another digest.
  const published = await reader.latest();
  const event = readFileSync(join(reader.folder, "event.json"), "utf8");
  reader.write("event.json", event.replace(/"files":\[.*?\]/, '"files":[]'));
  assert.notEqual(await reader.upload(store, () => false), 0);
  reader.write("event.json", event);
  reader.write("rules/home.hosts", "# another run\n");
  assert.notEqual(await reader.upload(store, () => false), 0);
  assert.deepEqual(await reader.latest(), published);
});
