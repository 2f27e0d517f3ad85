import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { PROGRAM } from "../support/command.ts";
import { blocksOf } from "../support/markdown.ts";
import { minisignKeys } from "../support/minisign-keys.ts";
import { freeTcpPort } from "../support/resolvers/reloadable.ts";

const PAGE = join(import.meta.dirname, "../../docs/guide/publish-elsewhere.md");
const blocks = blocksOf(readFileSync(PAGE, "utf8"));

/** The upload and the client of the guide, with real rclone as uploader and as the web server in between. */
test("a client of twenty lines takes whole, signed and newer builds only", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "client-"));
  const store = join(folder, "store/example-lists");
  mkdirSync(store, { recursive: true });
  mkdirSync(join(folder, "home/.config/rclone"), { recursive: true });
  mkdirSync(join(folder, "bin"));
  const start = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
  writeFileSync(join(folder, "bin/rules-compiler"), start, { mode: 0o755 });
  for (const { title, text } of blocks) {
    if (title === undefined || title === "output") continue;
    const signed =
      title === "bucket.yaml" ? "manifest: { file: manifest.json, key_file: own.key }\n" : "";
    writeFileSync(join(folder, title), text + signed);
  }
  assert.ok(readFileSync(join(folder, "client.sh"), "utf8").trim().split("\n").length <= 22);
  writeFileSync(
    join(folder, "home/.config/rclone/rclone.conf"),
    `[lists]\ntype = alias\nremote = ${join(folder, "store")}\n`,
  );
  const [own, other] = [minisignKeys(), minisignKeys()];
  writeFileSync(join(folder, "own.key"), own.secret, { mode: 0o600 });
  writeFileSync(
    join(folder, "own.pub"),
    `untrusted comment: own\n${own.publicKey.trim().split("\n").at(-1)}\n`,
  );
  writeFileSync(
    join(folder, "other.pub"),
    `untrusted comment: other\n${other.publicKey.trim().split("\n").at(-1)}\n`,
  );
  const env = {
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    HOME: join(folder, "home"),
    CI: "true",
  };
  const port = await freeTcpPort();
  const web = spawn(
    "rclone",
    ["serve", "http", store, "--addr", `127.0.0.1:${port}`, "--dir-cache-time", "0s"],
    {
      env,
      stdio: "ignore",
    },
  );
  context.after(async () => {
    const ended = new Promise((closed) => web.once("close", closed));
    web.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const run = async (
    program: string,
    ...words: string[]
  ): Promise<{ code: number; said: string }> => {
    try {
      const { stdout, stderr } = await promisify(execFile)(program, words, { cwd: folder, env });
      return { code: 0, said: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, said: `${stdout}${stderr}` };
    }
  };
  const publish = async (name: string): Promise<string> => {
    writeFileSync(join(folder, "own.txt"), `||${name}^\n`);
    const words = ["-c", "bucket.yaml", "--permit", "hooks", "--accept", "source-replaced"];
    const { code, said } = await run("rules-compiler", ...words);
    assert.equal(code, 0, said);
    assert.match(said, /hook-ran/);
    return (JSON.parse(readFileSync(join(store, "latest.json"), "utf8")) as { build: string })
      .build;
  };
  const client = async (key = "own.pub"): ReturnType<typeof run> =>
    await run("sh", "client.sh", `http://127.0.0.1:${port}`, "copy", key);
  const current = (): string => readlinkSync(join(folder, "copy/current"));
  const listed = (): string => readFileSync(join(folder, "copy/current/home.txt"), "utf8");

  const first = await publish("first.example");
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(100))
    if ((await fetch(`http://127.0.0.1:${port}/latest.json`).catch(() => undefined))?.ok === true)
      break;
  const taken = await client();
  assert.equal(taken.code, 0, taken.said);
  assert.equal(current(), first);
  assert.match(listed(), /first\.example/);
  assert.equal((await client()).code, 0, "nothing new");

  const second = await publish("second.example");
  const good = join(folder, "good");
  cpSync(join(store, second), good, { recursive: true });
  const refused = async (what: string, change: () => void, key?: string): Promise<void> => {
    change();
    const { code } = await client(key);
    assert.notEqual(code, 0, what);
    assert.equal(current(), first, what);
    assert.match(listed(), /first\.example/, what);
    rmSync(join(store, second), { recursive: true });
    cpSync(good, join(store, second), { recursive: true });
  };
  const manifest = join(store, second, "manifest.json");
  await refused("another key", () => undefined, "other.pub");
  await refused("a changed list", () => writeFileSync(join(store, second, "home.txt"), "||com^\n"));
  await refused("a changed manifest", () =>
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/[0-9a-f]{64}/, "0".repeat(64))),
  );
  await refused("no signature", () => rmSync(`${manifest}.minisig`));
  await refused("a missing list", () => rmSync(join(store, second, "home.hosts")));
  const now = await client();
  assert.equal(now.code, 0, now.said);
  assert.equal(current(), second);
  assert.match(listed(), /second\.example/);

  // Somebody who controls the store plays an old build again.
  const pointer = readFileSync(join(store, "latest.json"), "utf8");
  writeFileSync(join(store, "latest.json"), pointer.replace(second, first));
  assert.notEqual((await client()).code, 0);
  assert.equal(current(), second);
});
