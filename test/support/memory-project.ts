import { run } from "../../src/cli/main.ts";
import { type Host, type MemoryHost, memoryHost } from "./internals.ts";
import { packingHost } from "./packing-host.ts";

export interface Said {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder in memory with a configuration and its sources, in which commands are run at moments that a test sets. */
export class MemoryProject {
  readonly memory: MemoryHost;
  now = "2026-11-10T00:00:00Z";
  /** Stops the commands. */
  signal: AbortSignal = new AbortController().signal;
  private readonly changes: Partial<Host>;

  constructor(files: Readonly<Record<string, string>>, changes: Partial<Host> = {}) {
    this.memory = memoryHost({ files });
    this.changes = changes;
  }

  write(file: string, text: string): void {
    this.memory.files.set(`/project/${file}`, new TextEncoder().encode(text));
  }

  text(file: string): string {
    return new TextDecoder().decode(this.memory.files.get(`/project/${file}`));
  }

  get host(): Host {
    return { ...packingHost(this.memory), now: () => new Date(this.now), ...this.changes };
  }

  async run(...words: string[]): Promise<Said> {
    const { memory } = this;
    memory.output.stdout = memory.output.stderr = "";
    const exit = await run(words, this.host, this.signal);
    return { exit, stdout: memory.output.stdout, stderr: memory.output.stderr };
  }
}
