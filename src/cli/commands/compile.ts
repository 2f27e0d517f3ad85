import { withQuestion } from "../../after/registry.ts";
import { build } from "../../builder/build.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { proofWait } from "../flags/options.ts";
import { BuildScreen } from "../output/build-screen.ts";
import type { Command } from "./registry.ts";

/** Builds the lists of a configuration and publishes them. With `--permit hooks`, runs the hooks and asks the resolvers. */
export const compileCommand: Command = async (options, host, reporter, signal) => {
  const { inputs, output } = options;
  if (inputs.length > 0 && output === undefined) {
    const hint = "Add -o list.txt, or -o - for standard output";
    throw new CompilerError([errorOf("unknown-flag", "-i needs -o", { hint })]);
  }
  const waitMs = proofWait(options.args);
  const screen = new BuildScreen(options, host, reporter);
  const context = { options, host, signal, emit: screen.show, waitMs };
  return await screen.end(await build(withQuestion(context)), context);
};
