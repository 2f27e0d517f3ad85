import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { PROGRAM } from "./command.ts";

interface LogLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** The real program, serving a folder. */
export class Served {
  readonly folder: string;
  readonly events: LogLine[] = [];
  port = 0;
  child!: ChildProcess;
  private readonly waiting = new Set<() => void>();

  constructor(context: TestContext, lines: readonly string[]) {
    this.folder = mkdtempSync(join(tmpdir(), "serve-"));
    this.write(lines);
    const config = { name: "My list", sources: [{ name: "a", source: "a.txt", type: "adblock" }] };
    writeFileSync(join(this.folder, "compiler-config.json"), JSON.stringify(config));
    context.after(() => {
      this.child.kill("SIGKILL");
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  write(lines: readonly string[]): void {
    writeFileSync(join(this.folder, "a.txt"), `${lines.join("\n")}\n`);
  }

  /** The command line of another runtime than this one. */
  runtime: string = process.execPath;
  env: Readonly<Record<string, string>> = {};

  async start(...words: string[]): Promise<void> {
    this.begin(...words);
    this.port = (await this.event("listening"))["port"] as number;
  }

  /** Starts a server that may not be ready yet. */
  begin(...words: string[]): void {
    const [command = "", ...before] = this.runtime.split(" ");
    const port = words.includes("--port") ? [] : ["--port", "0"];
    const args = [...before, PROGRAM, "serve", ...port, "--no-cache", ...words];
    this.events.length = 0;
    this.child = spawn(command, args, {
      cwd: this.folder,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, XDG_CACHE_HOME: join(this.folder, ".cache"), ...this.env },
    });
    createInterface({ input: this.child.stderr! }).on("line", (line) => {
      this.events.push(JSON.parse(line) as LogLine);
      for (const look of this.waiting) look();
    });
  }

  /** The n-th event of a name, waiting for it if it must. */
  async event(name: string, number = 1): Promise<LogLine> {
    for (;;) {
      const found = this.events.filter(({ event }) => event === name)[number - 1];
      if (found !== undefined) return found;
      await new Promise<void>((woken) => {
        const look = (): void => {
          this.waiting.delete(look);
          woken();
        };
        this.waiting.add(look);
      });
    }
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** The header with the token that the server wrote for its user. */
  get authorization(): Record<string, string> {
    const { header } = this.events.find(({ event }) => event === "listening")!;
    const [name = "", value = ""] = readFileSync(String(header), "utf8").trimEnd().split(": ");
    return { [name]: value };
  }

  async post(path: string): Promise<Response> {
    return await fetch(this.url(path), { method: "POST", headers: this.authorization });
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const ended = once(this.child, "close");
    this.child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }
}
