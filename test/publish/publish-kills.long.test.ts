import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { inParallel } from "../support/command.ts";
import { isNightly } from "../support/nightly.ts";

const KILLS = isNightly ? 1000 : 20;
const READS = KILLS * 10;
const publisher = join(import.meta.dirname, "../support/publish-forever.ts");
const LINES = 64 * 500;

/** Whether the bytes are one of the two lists, whole. */
function isWhole(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  const line = text.slice(0, text.indexOf("\n") + 1);
  if (line !== "||even.example^\n" && line !== "||odd.example^\n") return false;
  return text.length === line.length * LINES && text === line.repeat(LINES);
}

async function killOnce(folder: string, delay: number): Promise<void> {
  const list = join(folder, "l.txt");
  const child = spawn(process.execPath, [publisher, list], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((published, failed) => {
    child.stdout.once("data", () => published());
    child.once("exit", (code) => failed(new Error(`the publisher ended with ${code}`)));
  });
  await new Promise((waited) => setTimeout(waited, delay));
  const ended = new Promise((closed) => child.once("close", closed));
  child.kill("SIGKILL");
  await ended;
  assert.ok(isWhole(readFileSync(list)), `killed after ${delay} ms`);
}

test(`${KILLS} kills during publishing with ${READS} reads show no partial list and leave the lock free`, async (context) => {
  const root = mkdtempSync(join(tmpdir(), "publish-kills-"));
  const folders = [0, 1, 2].map((index) => join(root, String(index)));
  for (const folder of folders) mkdirSync(folder);
  const state = { isOver: false };
  let reads = 0;
  const versions = new Set<string>();
  try {
    const reading = (async () => {
      while (!state.isOver || reads < READS) {
        const list = join(folders[reads % folders.length]!, "l.txt");
        if (!existsSync(list)) {
          await new Promise((waited) => setTimeout(waited, 5));
          continue;
        }
        const bytes = await readFile(list);
        reads++;
        versions.add(String.fromCharCode(bytes[2]!));
        assert.ok(isWhole(bytes), `read ${reads}`);
      }
    })();
    const free = [...folders];
    await inParallel(Array(KILLS).keys(), folders.length, async (index) => {
      const folder = free.pop()!;
      // Spread over the time that two publishes take, by a step that has no common measure with it.
      await killOnce(folder, (index * 7.31) % 40);
      free.push(folder);
    });
    state.isOver = true;
    await reading;
    for (const folder of folders) {
      // The lock of the last one is of a process that is gone.
      await killOnce(folder, 0);
      const names = readdirSync(folder).filter((name) => name !== "l.txt");
      assert.ok(names.length <= 2, names.join());
    }
    assert.deepEqual([...versions].toSorted(), ["e", "o"]);
    context.diagnostic(`${KILLS} kills, ${reads} reads, 0 partial lists`);
  } finally {
    state.isOver = true;
    rmSync(root, { recursive: true, force: true });
  }
});
