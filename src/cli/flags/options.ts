import { sizeBytes } from "../../config/size.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host, TextSink } from "../../host/host.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import { nearest } from "../../diagnostics/suggest.ts";
import { type BuildOptions, PERMITS, type Permit } from "../../build/build-options.ts";
import { GUARD_NAMES } from "../../build/guards/names.ts";
import type { Args } from "./args.ts";
import { type Level, levelOf } from "./log-level.ts";
import { hasTerminalLinks } from "../output/terminal-links.ts";

/** The options from the command line and the environment. */
export interface Options extends BuildOptions {
  /** The parsed command line, for command-specific options. */
  readonly args: Args;
  readonly strict: boolean;
  readonly level: Level;
  readonly json: boolean;
  /** Whether standard error has colors. */
  readonly hasColor: boolean;
  /** Whether standard output has colors. */
  readonly hasDataColor: boolean;
  readonly hasLinks: boolean;
}

export function optionsOf(args: Args, host: Host): Options {
  const { env } = host;
  return {
    args,
    configPath:
      args.values.get("config")?.[0] ?? nonEmpty(env["CONFIG_PATH"]) ?? "compiler-config.json",
    inputs: args.values.get("input") ?? [],
    inputType: args.values.get("input-type")?.[0],
    filter: args.values.get("filter") ?? [],
    permit: permitsOf(args.values.get("permit") ?? []),
    output: args.values.get("output")?.[0],
    copyToRules: args.switches.has("copy-to-rules"),
    rulesDir: nonEmpty(env["RULES_DIR"]) ?? "./rules",
    memory: sizeOf(args.values.get("memory")?.[0]),
    cacheDir: args.switches.has("no-cache")
      ? undefined
      : cacheFolderOf(args.values.get("cache-dir")?.[0], host),
    record: !args.switches.has("no-record"),
    offline: args.switches.has("offline"),
    strict: args.switches.has("strict"),
    frozen: args.switches.has("frozen"),
    update: args.values.get("update")?.[0],
    compat: args.switches.has("compat"),
    accept: acceptedOf(args.values.get("accept") ?? []),
    by: nonEmpty(args.values.get("by")?.[0]),
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

function permitsOf(values: readonly string[]): readonly Permit[] {
  const words = values.flatMap((value) => value.split(",").map((word) => word.trim()));
  return words.map((word) => {
    const permit = PERMITS.find((one) => one === word);
    if (permit !== undefined) return permit;
    const meant = nearest(word, PERMITS);
    const message = `--permit must be one of ${someOf(PERMITS)}, not ${printable(word, 40)}`;
    const hint = meant === undefined ? {} : { hint: `Did you mean --permit ${meant}?` };
    throw new CompilerError([errorOf("unknown-flag", message, hint)]);
  });
}

function acceptedOf(names: readonly string[]): readonly string[] {
  for (const name of names) {
    if ((GUARD_NAMES as readonly string[]).includes(name)) continue;
    const message = `--accept must be one of ${GUARD_NAMES.join(", ")}, not ${printable(name, 40)}`;
    throw new CompilerError([errorOf("unknown-flag", message)]);
  }
  return names;
}

/** Parses `256M`, `2G`, `500000k` or a number of bytes. */
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
