import type { Project } from "../library/programs.ts";
import { Exit } from "../diagnostics/codes.ts";
import { CompilerError, errorsLast } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import { type Host, ReadOnce } from "../host/host.ts";
import { type CommandEntry, commands } from "./commands/registry.ts";
import { ignoredVariables } from "./flags/flags.ts";
import { type Args, type Options, optionsOf, readArgs, takes } from "./flags/options.ts";
import { INTERRUPTED, Reporter, endOnSignals, exitOf } from "./output/reporter.ts";
import { versionText } from "./version.ts";

/**
 * Runs the program and returns the exit code. Heavy modules are loaded on demand, after `began` is called with the name of the
 * command.
 */
export async function run(
  argv: readonly string[],
  host: Host,
  signal: AbortSignal,
  began?: (command: string) => void,
): Promise<Exit> {
  let reporter = new Reporter(host, {
    level: "info",
    json: argv.includes("--json"),
    hasColor: false,
  });
  try {
    const args = readArgs(argv);
    if (args.switches.has("version")) {
      host.stdout.write(`${versionText()}\n`);
      return Exit.Done;
    }
    if (args.switches.has("help")) {
      const { briefHelp, commandBrief, commandHelp, programHelp } = await import("./flags/help.ts");
      const [program, command] = args.isBrief
        ? [briefHelp, commandBrief]
        : [programHelp, commandHelp];
      host.stdout.write(args.isNamed ? command(args.command) : program());
      return Exit.Done;
    }
    const asked = optionsOf(args, host);
    reporter = new Reporter(host, asked);
    // Every run finds it, so it is not news.
    if (asked.level !== "news")
      for (const ignored of ignoredVariables(host.env)) reporter.diagnostic(ignored);
    const entry = commandOf(args);
    began?.(entry.name);
    const options = await placed(asked, entry, host, reporter);
    if (options === undefined) return Exit.Usage;
    if (entry.computes === true) endOnSignals(host, reporter);
    return await perform(entry, options, { host, reporter, signal });
  } catch (error) {
    return report(error, reporter, signal);
  }
}

/** Commands that only read what is published. */
const READS_PUBLISHED: ReadonlySet<string> = new Set(["why", "stats", "log", "export"]);

interface Setting {
  readonly host: Host;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** Commands that report the steps of a build. `serve` has a log. */
const HAS_STEPS: ReadonlySet<string> = new Set(["compile", "watch", "plan", "audit"]);

/** Runs a command. With debug output, every command tells its settings, its steps and its end. */
async function perform(
  entry: CommandEntry,
  options: Options,
  { host, reporter, signal }: Setting,
): Promise<Exit> {
  const { name } = entry;
  const command = await entry.load();
  if (!reporter.shows("debug") || name === "serve")
    return await command(options, host, reporter, signal);
  const { narrated, settingsOf } = await import("./output/narration.ts");
  const { timeText } = await import("./output/build-screen.ts");
  for (const [key, value] of Object.entries(settingsOf(options, name, host)))
    reporter.debug(`${key}: ${value}`);
  const began = performance.now();
  let end = "failed";
  try {
    const told = HAS_STEPS.has(name) ? host : narrated(host, reporter);
    // What was read to find the output is read again, and told.
    const configFile = new ReadOnce<Project>(options.configPath, told);
    const exit = await command({ ...options, configFile }, told, reporter, signal);
    end = `exit ${exit}`;
    return exit;
  } finally {
    reporter.debug(`${name}: ${end}, ${timeText(performance.now() - began)}`);
  }
}

/** The options with the configuration and output that exist. Undefined, after a message, if there is nothing to compile. */
async function placed(
  options: Options,
  entry: CommandEntry,
  host: Host,
  reporter: Reporter,
): Promise<Options | undefined> {
  let known = options;
  if (takes(entry.name, "config")) {
    const { printFirstSteps, refuseMisspelt, withFoundConfig } =
      await import("./flags/found-config.ts");
    const found = await withFoundConfig(options, host, reporter);
    if (found === undefined && entry.name === "compile") {
      printFirstSteps(options, reporter);
      return undefined;
    }
    known = found ?? options;
    // `serve` waits for it.
    if (found !== undefined && entry.name !== "serve") await refuseMisspelt(known, host);
  }
  known = { ...known, configFile: new ReadOnce<Project>(known.configPath, host) };
  if (READS_PUBLISHED.has(entry.name))
    known = {
      ...known,
      onBadDecisions: (problems) => {
        for (const one of problems) reporter.diagnostic({ ...one, severity: "warning" });
      },
    };
  if (known.isUsualPlace === true && known.inputs.length === 0 && !isBeside(known, host))
    known = { ...known, rulesDir: host.path.resolve(host.cwd, known.rulesDir) };
  if (entry.name === "compile" && known.inputs.length > 0)
    known = { ...known, output: known.output ?? "-" };
  if (known.output === undefined && known.to === undefined) return known;
  const { withPlacedOutput } = await import("./flags/output-target.ts");
  return await withPlacedOutput(known, entry.name, host);
}

/** Whether the configuration is in the working directory. Otherwise, users need the absolute paths of lists. */
function isBeside({ configPath }: Options, { cwd, path }: Host): boolean {
  return path.dirname(path.resolve(cwd, configPath)) === path.resolve(cwd);
}

/** The .NET compiler uses `--validate` for the `validate` command. */
function commandOf({ command, switches }: Args): CommandEntry {
  const isValidate = switches.has("validate");
  return isValidate ? commands.find(({ name }) => name === "validate")! : command;
}

function report(error: unknown, reporter: Reporter, signal: AbortSignal): Exit {
  if (signal.aborted) {
    reporter.diagnostic(INTERRUPTED);
    return exitOf(signal);
  }
  if (error instanceof CompilerError) {
    for (const diagnostic of errorsLast(error.diagnostics)) reporter.diagnostic(diagnostic);
    return error.exit;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  reporter.bug(printable(stack.replaceAll("\n", " | "), 4000));
  return Exit.Bug;
}
