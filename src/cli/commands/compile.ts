import { build } from "../../build/build.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { buildExit } from "../build-exit.ts";
import { hooksAfter } from "../hooks-after.ts";
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
  await hooksAfter(outcome, { options, host, reporter, signal });
  return buildExit(outcome, options, signal);
};
