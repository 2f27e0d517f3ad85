import { VERSION } from "../compile/version.ts";
import { Exit } from "../diagnostics/exit.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { type Args, readArgs } from "./args.ts";
import { type CommandEntry, commands } from "./commands/registry.ts";
import { INTERRUPTED, endOnSignals, exitOf } from "./interruption.ts";
import { type Options, optionsOf } from "./options.ts";
import { Talk } from "./talk.ts";

/** The whole program: words in, exit code out. Everything heavy is loaded only when it is needed. */
export async function run(argv: readonly string[], host: Host, signal: AbortSignal): Promise<Exit> {
  let talk = new Talk(host, { level: "info", isJson: argv.includes("--json"), hasColor: false });
  try {
    const args = readArgs(argv);
    if (args.switches.has("version")) {
      host.stdout.write(`${VERSION}\n`);
      return Exit.Done;
    }
    if (args.switches.has("help")) {
      host.stdout.write(
        (await import("./help.ts")).helpText(args.isNamed ? args.command : undefined),
      );
      return Exit.Done;
    }
    const asked = optionsOf(args, host);
    talk = new Talk(host, asked);
    const options = asked.output === undefined ? asked : await placed(asked, host);
    const entry = commandOf(args);
    if (entry.computes === true) endOnSignals(host, talk);
    const command = await entry.load();
    return await command(options, host, talk, signal);
  } catch (error) {
    return report(error, talk, signal);
  }
}

async function placed(options: Options, host: Host): Promise<Options> {
  const { withOutputPlace } = await import("./output-place.ts");
  return await withOutputPlace(options, host);
}

/** `--validate` is the .NET compiler's way to ask for the command of that name. */
function commandOf({ command, switches }: Args): CommandEntry {
  const isValidate = switches.has("validate");
  return isValidate ? commands.find(({ name }) => name === "validate")! : command;
}

function report(error: unknown, talk: Talk, signal: AbortSignal): Exit {
  if (signal.aborted) {
    talk.diagnostic(INTERRUPTED);
    return exitOf(signal);
  }
  if (error instanceof CompilerError) {
    for (const diagnostic of error.diagnostics) talk.diagnostic(diagnostic);
    return error.exit;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  talk.bug(printable(stack.replaceAll("\n", " | "), 4000));
  return Exit.Bug;
}
