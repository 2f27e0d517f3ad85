import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { type Block, blocksOf, endBackground, follow } from "../support/markdown.ts";

/** Every `sh` block of the guides is run, in a folder with the files that its page and the start page show. */
const root = join(import.meta.dirname, "../..");
/** These need more than a folder; test/package/packed.alone.test.ts, test/resolvers/prove-guide.long.test.ts and test/after/publish-recipes.nightly.test.ts follow them. */
const ELSEWHERE = new Set(["serve.md", "library.md", "prove.md", "publish-elsewhere.md"]);

function pageOf(file: string): Block[] {
  return blocksOf(readFileSync(join(root, file), "utf8"));
}

function write(folder: string, title: string, text: string): void {
  mkdirSync(dirname(join(folder, title)), { recursive: true });
  writeFileSync(join(folder, title), text);
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

/** The files of the start page, which other pages go on with. */
const START = pageOf("docs/guide/start.md").filter(
  ({ language, title }) => language !== "sh" && title !== "output",
);

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
    const reader = {
      write: (title: string, text: string) => write(folder, title, here(text)),
      run: async (script: string) => await bash(here(script), folder),
    };
    try {
      if (page !== "start.md") for (const { title, text } of START) write(folder, title!, text);
      await follow(blocks, reader);
    } finally {
      endBackground(folder);
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
}
