import { sizeBytes } from "../../config/size.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host, TextSink } from "../../host/host.ts";
import { GUARD_NAMES } from "../../build/guards/names.ts";
import type { Args } from "./args.ts";
import { type Level, levelOf } from "./log-level.ts";
import { hasTerminalLinks } from "../output/terminal-links.ts";

/** What the command line and the environment mean together. */
export interface Options {
  /** What was typed, for commands with options of their own. */
  readonly args: Args;
  readonly configPath: string;
  /** Quick mode: sources given on the command line instead of a configuration. */
  readonly inputs: readonly string[];
  readonly inputType: string | undefined;
  readonly output: string | undefined;
  readonly writesToRules: boolean;
  readonly rulesDir: string;
  /** Bytes of memory to stay below; undefined leaves it to the machine. */
  readonly memory: number | undefined;
  /** Threads to use; undefined leaves it to the machine. */
  readonly workers: number | undefined;
  /** Where builds and copies of sources are kept, if they are. */
  readonly cacheDir: string | undefined;
  readonly keepsRecord: boolean;
  readonly offline: boolean;
  readonly strict: boolean;
  readonly frozen: boolean;
  /** The source to lock anew, `*` for all; undefined when the lock is only kept up. */
  readonly update: string | undefined;
  readonly compat: boolean;
  /** Guards to be passed this time. */
  readonly accept: readonly string[];
  readonly level: Level;
  /** Set where a run compiles several lists. */
  readonly isOneOfMany?: boolean;
  /** Takes the report of a list that would be printed as JSON, where several make one document. */
  readonly onReport?: (report: object) => void;
  readonly json: boolean;
  /** For what is said. */
  readonly hasColor: boolean;
  /** For what is printed on standard output. */
  readonly hasDataColor: boolean;
  readonly hasLinks: boolean;
}

export function optionsOf(args: Args, host: Host): Options {
  const { env } = host;
  const output = args.values.get("output")?.[0];
  return {
    args,
    configPath:
      args.values.get("config")?.[0] ?? nonEmpty(env["CONFIG_PATH"]) ?? "compiler-config.json",
    inputs: args.values.get("input") ?? [],
    inputType: args.values.get("input-type")?.[0],
    output,
    writesToRules: output === undefined || args.switches.has("copy-to-rules"),
    rulesDir: nonEmpty(env["RULES_DIR"]) ?? "./rules",
    memory: sizeOf(args.values.get("memory")?.[0]),
    workers: countOf(args.values.get("workers")?.[0]),
    cacheDir: args.switches.has("no-cache")
      ? undefined
      : cacheFolderOf(args.values.get("cache-dir")?.[0], host),
    keepsRecord: !args.switches.has("no-record"),
    offline: args.switches.has("offline"),
    strict: args.switches.has("strict"),
    frozen: args.switches.has("frozen"),
    update: args.values.get("update")?.[0],
    compat: args.switches.has("compat"),
    accept: acceptedOf(args.values.get("accept") ?? []),
    level: levelOf(args.switches, env),
    json: args.switches.has("json"),
    hasColor: hasColor(args.values.get("color")?.[0], host.stderr, env),
    hasDataColor: hasColor(args.values.get("color")?.[0], host.stdout, env),
    hasLinks: host.stdout.isTerminal && hasTerminalLinks(env),
  };
}

function cacheFolderOf(wanted: string | undefined, host: Host): string | undefined {
  return wanted === undefined ? host.cacheDir() : host.path.resolve(host.cwd, wanted);
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function acceptedOf(names: readonly string[]): readonly string[] {
  for (const name of names) {
    if ((GUARD_NAMES as readonly string[]).includes(name)) continue;
    const message = `--accept must be one of ${GUARD_NAMES.join(", ")}, not ${printable(name, 40)}`;
    throw new CompilerError([errorOf("unknown-flag", message)]);
  }
  return names;
}

function countOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new CompilerError([
      errorOf("unknown-flag", `--workers must be a number from 1 on, not ${printable(text, 40)}`),
    ]);
  return Number(text);
}

/** `256M`, `2G`, `500000k` or bytes. */
function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = sizeBytes(text);
  if (bytes === undefined)
    throw new CompilerError([
      errorOf("unknown-flag", `--memory must be a size such as 256M, not ${printable(text, 40)}`),
    ]);
  return bytes;
}

function hasColor(when: string | undefined, sink: TextSink, env: Host["env"]): boolean {
  if (when === "always") return true;
  if (when === "never") return false;
  if (when !== undefined && when !== "auto")
    throw new CompilerError([
      errorOf("unknown-flag", `--color must be auto, always or never, not ${printable(when, 40)}`),
    ]);
  return (
    sink.isTerminal && !nonEmpty(env["NO_COLOR"]) && !nonEmpty(env["CI"]) && env["TERM"] !== "dumb"
  );
}
