import type { Exit } from "../../diagnostics/codes.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../options.ts";
import type { Talk } from "../talk.ts";

/** A command does its work through the host, says what a person should know, and returns the exit code. */
export type Command = (
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
) => Promise<Exit>;

export interface CommandEntry {
  readonly name: string;
  /** One line, shown by `--help` and in docs/reference/command-line.md. */
  readonly description: string;
  /** Loaded only when it is asked for: `--version` must not wait for the compiler. */
  load(): Promise<Command>;
}

/** Every command; the first is the default. */
export const commands: readonly CommandEntry[] = [
  {
    name: "compile",
    description: "Compile the list (the default)",
    load: async () => (await import("./compile.ts")).compileCommand,
  },
  {
    name: "validate",
    description: "Check the configuration and stop",
    load: async () => (await import("./validate.ts")).validateCommand,
  },
  {
    name: "serve",
    description: "Compile on a schedule and serve the lists, their health and their figures",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "health",
    description: "Ask a server on this machine whether it is well",
    load: async () => (await import("./health.ts")).healthCommand,
  },
  {
    name: "limits",
    description: "Show what an account of the DNS API may use and has used",
    load: async () => (await import("./limits.ts")).limitsCommand,
  },
];
