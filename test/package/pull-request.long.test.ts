import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const skip = process.platform === "win32" && "the action's steps are for bash";

/** A server whose list has other names in every answer, with the same number of lines and bytes. */
async function changingServer(context: TestContext): Promise<{ url: string; answers: string[] }> {
  const answers: string[] = [];
  const server: Server = createServer((_, response) => {
    const names = ["phish", "safe1", "safe2"].map((name) => `${name}${answers.length}.example.com`);
    answers.push(names.join());
    response.end(`! Title: hostile\n${names.map((name) => `||${name}^\n`).join("")}`);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/list.txt`, answers };
}

test(
  "a pull request has what was planned, although the source answers each request differently",
  { skip },
  async (context) => {
    const { url, answers } = await changingServer(context);
    const folder = mkdtempSync(join(tmpdir(), "pull-request-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const work = join(folder, "work");
    mkdirSync(join(folder, "bin"));
    mkdirSync(work);
    const npx = join(folder, "bin/npx");
    // Without what npx would fetch: `npx --yes rules-compiler@VERSION …`
    writeFileSync(
      npx,
      `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${join(ROOT, "dist/cli/bin.js")}' "$@"\n`,
    );
    chmodSync(npx, 0o755);
    const source = { source: url, type: "adblock", allow_private: true };
    const config = {
      name: "Several",
      sources: [{ name: "upstream", ...source }],
      lists: [
        { name: "One", outputs: [{ format: "hosts" }, { format: "rpz", updates: "127.0.0.1" }] },
        { name: "Two", manifest: {}, outputs: [{ format: "domains", pack: ["gzip"] }] },
      ],
    };
    writeFileSync(join(work, "compiler-config.json"), JSON.stringify(config));
    const git = (...words: string[]): string =>
      execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...words], {
        cwd: work,
        encoding: "utf8",
      });
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", join(folder, "remote")]);
    git("init", "-q", "-b", "main");
    git("remote", "add", "origin", join(folder, "remote"));
    git("add", "-A");
    git("commit", "-q", "-m", "Configure");
    git("push", "-q", "-u", "origin", "main");
    const outputs = await new Promise<string>((done, failed) => {
      execFile(
        process.execPath,
        [join(ROOT, "packaging/pull-request.mjs")],
        {
          cwd: work,
          encoding: "utf8",
          env: {
            ...process.env,
            PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`,
            XDG_CACHE_HOME: join(folder, "cache"),
            GITHUB_ACTION_PATH: ROOT,
            CONFIG: ".",
            VERSION: "0.0.0",
            MERGE_UP_TO: "100",
          },
        },
        (error, stdout, stderr) => {
          if (error === null) done(stdout);
          else failed(new Error(stderr + stdout));
        },
      );
    });
    const said = Object.fromEntries(
      outputs
        .split("\n")
        .map((line) => [line.split("=", 1)[0]!, line.slice(line.indexOf("=") + 1)]),
    );
    assert.equal(said["proposed"], "true", outputs);
    assert.equal(answers.length, 1, "the source is fetched once");
    const body = readFileSync(said["body"]!, "utf8");
    const branch = said["branch"]!;
    for (const name of answers[0]!.split(",")) {
      for (const file of ["one.txt", "one.hosts", "one.rpz", "two.txt", "two.domains"])
        assert.ok(git("show", `${branch}:rules/${file}`).includes(name), `${name} in ${file}`);
      assert.ok(body.includes(name), `${name} in the body`);
    }
    assert.match(git("show", `${branch}:rules.lock`), /"sources"/);
    assert.equal(said["label"], "risk: low");
  },
);
