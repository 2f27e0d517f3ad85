import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { run } from "../../src/cli/main.ts";
import type { Page } from "./browser.ts";
import { nodeHost } from "./internals.ts";

const SCRIPT = join(import.meta.dirname, "../../scripts/playground.ts");

/** The page has finished what it was asked for. It is busy from the moment of the click. */
export const IDLE = "main[aria-busy=false]";

type Files = Readonly<Record<string, Uint8Array>>;

/** What a compile ends with: the list, or the codes of its errors. */
export interface ListOrErrors {
  readonly list?: Uint8Array;
  readonly errors: readonly string[];
}

/** The playground as the site has it, from a real server that notes what it is asked for. */
export async function servedPlayground(
  context: TestContext,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "playground-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const built = spawnSync(process.execPath, [SCRIPT, folder], { encoding: "utf8" });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  const page = readFileSync(join(folder, "index.html"));
  context.diagnostic(`the page has ${page.length} bytes`);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(page);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/playground/`, asked };
}

/** Writes files into a folder of their own. */
export function folderOf(files: Files, context: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lists-")));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

/** Gives the files of a folder to the page, waits until it has compiled them, and saves the list as a user does. */
export async function compileInPage(
  page: Page,
  names: readonly string[],
  folder: string,
): Promise<ListOrErrors> {
  if (await page.evaluate<boolean>("!document.querySelector('#actions').hidden")) {
    await page.click("#clear");
    await page.waitForSelector(IDLE);
  }
  // A path gives a file the last part of its name.
  const isFlat = names.every((name) => !name.includes("/"));
  const given = names.map((name) => {
    const path = join(folder, name);
    return isFlat ? path : { name, mimeType: "text/plain", buffer: readFileSync(path) };
  });
  await page.setInputFiles("#files", given);
  return await pageResult(page);
}

/** What the page shows once it has compiled. */
async function pageResult(page: Page): Promise<ListOrErrors> {
  await page.waitForSelector(IDLE);
  const errors = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.problem.error b')].flatMap((one) => one.textContent.match(/(?<=^error\\[).*(?=\\])/) ?? [])",
  );
  if (await page.evaluate<boolean>("document.querySelector('#results').hidden")) return { errors };
  await page.click("#tab-text");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save-list")]);
  return { errors, list: readFileSync(await saved.path()) };
}

/** The command line over the same files, at the time that the other list was made. */
export async function compileByCommand(
  folder: string,
  config: string,
  { list, errors }: ListOrErrors,
): Promise<ListOrErrors> {
  const words = ["compile", "-c", config, "--no-cache"];
  // The page shows a list that guards refuse.
  const accepted = list === undefined ? [] : errors.flatMap((guard) => ["--accept", guard]);
  let said = "";
  const sink = {
    write: (text: string) => void (said += text),
    send: async (data: string | Uint8Array) => void (said += String(data)),
    isTerminal: false,
    columns: 80,
  };
  const host = {
    ...nodeHost(),
    cwd: folder,
    env: {},
    now: () => timestampOf(list),
    stdout: sink,
    stderr: sink,
  };
  await run([...words, ...accepted], host, new AbortController().signal);
  const found = [...said.matchAll(/^error\[([\w-]+)\]/gm)].map(([, code]) => code!);
  const written = /^(?:written|unchanged) (\S+)/m.exec(said)?.[1];
  if (written === undefined) return { errors: found };
  return { errors: found, list: readFileSync(join(folder, written.replace(/:$/, ""))) };
}

/** The time in the header of a list. */
function timestampOf(list: Uint8Array | undefined): Date {
  const head = new TextDecoder().decode(list?.subarray(0, 4096));
  return new Date(/^! Last modified: (.*)$/m.exec(head)?.[1] ?? 0);
}
