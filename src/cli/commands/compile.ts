import { build } from "../../build/build.ts";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { buildExit } from "../build-exit.ts";
import type { Command } from "./registry.ts";

/** Builds the lists of a configuration and publishes them. */
export const compileCommand: Command = async (options, host, reporter, signal) => {
  const { inputs, output, cacheDir } = options;
  if (inputs.length > 0 && output === undefined) {
    const hint = "Add -o list.txt, or -o - for standard output";
    throw new CompilerError([errorOf("unknown-flag", "-i needs -o", { hint })]);
  }
  reporter.debug(`cache: ${cacheDir === undefined ? "off" : printable(cacheDir)}`);
  const screen = new BuildScreen(options, host, reporter);
  const outcome = await build({ options, host, signal, emit: screen.show });
  await screen.end(outcome);
  // Without hooks, a build that changed nothing ends without reading the configuration.
  if (options.hooks || outcome.lists.some(({ isCached }) => !isCached)) {
    const { afterBuild } = await import("../../hooks/after-build.ts");
    const report = (diagnostic: Diagnostic): void => reporter.diagnostic(diagnostic);
    await afterBuild(outcome, { options, isAllowed: options.hooks, host, signal, report });
  }
  return buildExit(outcome, options, signal);
};
