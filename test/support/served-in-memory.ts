import type { TestContext } from "node:test";
import { run as program } from "../../src/cli/main.ts";
import type { Answerer, Host, WebReply, WebRequest } from "../../src/host/host.ts";
import { type MemoryHost, memoryHost } from "./host/in-memory.ts";
import { packingHost } from "./packing-host.ts";

const TOKEN = "correct-horse-battery-staple";

/** The program, serving a configuration in memory. Its runs and actions are the real ones. */
export class ServedInMemory {
  readonly memory: MemoryHost;
  private readonly context: TestContext;
  private clock = Date.parse("2026-11-15T12:00:00Z");
  private answer: Answerer | undefined;
  private stop = new AbortController();
  private ended: Promise<number> = Promise.resolve(0);

  constructor(context: TestContext, config: object, lines: readonly string[]) {
    this.context = context;
    this.memory = memoryHost({
      files: { "compiler-config.json": JSON.stringify(config), token: `${TOKEN}\n` },
    });
    this.write(lines);
  }

  /** Writes the source `a.txt`. */
  write(lines: readonly string[]): void {
    this.memory.files.set("/project/a.txt", new TextEncoder().encode(`${lines.join("\n")}\n`));
  }

  /** Why no process can be started, if none can. */
  childError: Error | undefined;

  /** Starts the server, and resolves when its first runs have ended. */
  async start(...words: string[]): Promise<void> {
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.context.after(() => this.end());
    const host: Host = {
      ...packingHost(this.memory),
      now: () => new Date(this.clock),
      wait: (_ms, until = signal) =>
        new Promise((resolve) => {
          if (until.aborted) resolve();
          until.addEventListener("abort", () => resolve(), { once: true });
        }),
      listen: async ({ address, port }, answer) => {
        this.answer = answer;
        return { address, port, close: async () => {} };
      },
      runSelf: async (child) =>
        await this.child(child.words, child.signal, (line) => child.onLine(line)),
    };
    const given = ["serve", "--schedule=0 0 1 1 *", "--token-file=token", "--no-cache", ...words];
    this.ended = program(given, host, signal);
    const before = this.events("next-run").length;
    const ended = this.ended.then((exit) => {
      if (signal.aborted) return;
      this.stop.abort();
      throw new Error(`${exit}: ${this.memory.output.stderr}`);
    });
    await Promise.race([this.logged("next-run", before + 1), ended]);
  }

  async end(): Promise<void> {
    this.stop.abort("SIGTERM");
    await this.ended;
  }

  /** Runs a command in another process, a minute later. */
  async command(
    ...words: string[]
  ): Promise<{ readonly exit: number | undefined; readonly stdout: string }> {
    const lines: string[] = [];
    const end = await this.child(words, new AbortController().signal, (line) => lines.push(line));
    return { ...end, stdout: `${end.stdout}${lines.join("\n")}` };
  }

  private async child(
    words: readonly string[],
    signal: AbortSignal,
    onLine: (line: string) => void,
  ): Promise<{ readonly exit: number | undefined; readonly stdout: string }> {
    if (this.childError !== undefined) throw this.childError;
    this.clock += 60_000;
    let stdout = "";
    let stderr = "";
    const sink = (take: (text: string) => void): Host["stdout"] => ({
      ...this.memory.stdout,
      write: take,
      send: async (data) => take(typeof data === "string" ? data : new TextDecoder().decode(data)),
    });
    const host = {
      ...packingHost(this.memory),
      now: () => new Date(this.clock),
      stdout: sink((text) => (stdout += text)),
      stderr: sink((text) => (stderr += text)),
    };
    const exit = await program([...words], host, signal);
    for (const line of stderr.split("\n").filter((text) => text !== "")) onLine(line);
    return { exit, stdout };
  }

  /** Resolves when the log has a number of lines with an event. */
  async logged(event: string, count = 1): Promise<void> {
    while (this.events(event).length < count && !this.stop.signal.aborted)
      await new Promise((resolve) => void setImmediate(resolve));
  }

  /** The lines of the log with an event. */
  events(event: string): readonly Readonly<Record<string, unknown>>[] {
    return this.memory.output.stderr
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((one) => one["event"] === event);
  }

  /** Asks two seconds later, when everything that the server keeps for a second is old. */
  async ask(
    target: string,
    method = "GET",
  ): Promise<{ readonly status: number; readonly text: string }> {
    const headers = { host: "127.0.0.1:5000", authorization: `Bearer ${TOKEN}` };
    const { status, body } = await this.request({ method, target, headers, address: "127.0.0.1" });
    const text = typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array);
    return { status, text };
  }

  async request(request: WebRequest): Promise<WebReply> {
    this.clock += 2000;
    const reply = await this.answer!(request);
    // What the request began in the background ends.
    await new Promise((resolve) => void setImmediate(resolve));
    return reply;
  }
}
