import { runBuild as build, withQuestion } from "../../library/programs.ts";
import { proofWait } from "../flags/options.ts";
import { BuildScreen } from "../output/build-screen.ts";
import type { Command } from "./registry.ts";

/** Builds the lists of a configuration and publishes them. With `--permit hooks`, runs the hooks and asks the resolvers. */
export const compileCommand: Command = async (options, host, reporter, signal) => {
  const waitMs = proofWait(options.args);
  const screen = new BuildScreen(options, host, reporter);
  const context = { options, host, signal, emit: screen.show, waitMs };
  return await screen.end(await build(withQuestion(context)), context);
};
