import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { type Block, blocksOf } from "../support/markdown.ts";

/** Every `sh` block of the guides is run, in a folder with the files that its page and the start page show. */
const root = join(import.meta.dirname, "../..");
/** These need more than a folder; test/package/packed.alone.test.ts, test/resolvers/prove-guide.long.test.ts and test/after/publish-recipes.nightly.test.ts follow them. */
const ELSEWHERE = new Set([
  "start.md",
  "serve.md",
  "dns-api.md",
  "library.md",
  "prove.md",
  "publish-elsewhere.md",
]);

function pageOf(file: string): Block[] {
  return blocksOf(readFileSync(join(root, file), "utf8"));
}

function writeFiles(
  blocks: readonly Block[],
  folder: string,
  change: (text: string) => string,
): void {
  for (const { language, title, text } of blocks)
    if (title !== undefined && title !== "output" && language !== "sh") {
      mkdirSync(dirname(join(folder, title)), { recursive: true });
      writeFileSync(join(folder, title), change(text));
    }
}

async function bash(
  script: string,
  folder: string,
): Promise<{ code: number | null; said: string }> {
  // A program, not a function: a server in the background gets the signals that a page sends.
  const bin = join(folder, ".bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, "rules-compiler"),
    `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`,
    { mode: 0o755 },
  );
  const PATH = `${bin}:${process.env["PATH"]}`;
  const child = spawn("bash", ["-c", script], {
    cwd: folder,
    env: { ...process.env, PATH, CI: "true", XDG_CACHE_HOME: join(folder, ".cache") },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Uint8Array) => (said += new TextDecoder().decode(piece)));
  return { code: await new Promise((ended) => child.on("close", ended)), said };
}

const pages = readdirSync(join(root, "docs/guide")).filter((file) => !ELSEWHERE.has(file));
for (const page of pages) {
  const blocks = pageOf(join("docs/guide", page));
  if (!blocks.some(({ language }) => language === "sh")) continue;
  test(`guide: ${page}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "guide-"));
    const lists: Record<string, string> = {
      "/ads.txt": "||ads.example^\n||banner.example^\n||both.example^\n",
      "/more.txt": "||both.example^\n",
    };
    const server = createServer((request, response) => {
      const text = lists[request.url ?? ""];
      response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain" });
      response.end(text);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const port = String((server.address() as AddressInfo).port);
    const here = (text: string): string => text.replaceAll("8765", port);
    try {
      writeFiles(pageOf("docs/guide/start.md"), folder, here);
      writeFiles(blocks, folder, here);
      let said = "";
      for (const { language, title, text } of blocks) {
        if (language === "sh") {
          const ended = await bash(here(text), folder);
          assert.equal(ended.code, 0, `${text}\n${ended.said}`);
          said = ended.said;
        } else if (title === "output")
          for (const line of text.trimEnd().split("\n"))
            assert.ok(said.includes(line), `${page}: ${line}\nis not in:\n${said}`);
      }
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
}
