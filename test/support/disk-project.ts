import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Host, nodeHost } from "./internals.ts";
import type { Said } from "./memory-project.ts";

/** A folder on disk in which commands are run in this process: with the real network, and a cache of its own. */
export class DiskProject {
  readonly folder: string = mkdtempSync(join(tmpdir(), "project-"));
  private readonly changes: Partial<Host>;

  constructor(context: TestContext, changes: Partial<Host> = {}) {
    this.changes = changes;
    try {
      context.after(() => rmSync(this.folder, { recursive: true, force: true }));
    } catch {
      // Deno 2.0 has no `after`: the folder goes with the other temporary files.
    }
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  text(file: string): string {
    return readFileSync(join(this.folder, file), "utf8");
  }

  async run(...words: string[]): Promise<Said> {
    return await this.runUntil(new AbortController().signal, ...words);
  }

  async runUntil(signal: AbortSignal, ...words: string[]): Promise<Said> {
    const output = { stdout: "", stderr: "" };
    const sink = (name: keyof typeof output): Host["stderr"] => ({
      isTerminal: false,
      columns: 80,
      write: (text) => void (output[name] += text),
      send: async (data) =>
        void (output[name] += typeof data === "string" ? data : new TextDecoder().decode(data)),
    });
    const host: Host = {
      ...nodeHost(),
      cwd: this.folder,
      env: {},
      stdout: sink("stdout"),
      stderr: sink("stderr"),
      cacheDir: () => join(this.folder, "cache"),
      ...this.changes,
    };
    const exit = await run(words, host, signal);
    return { exit, ...output };
  }
}
