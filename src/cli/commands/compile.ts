import type { ProvedBuild } from "../../after/prove-after-build.ts";
import { type BuildContext, build } from "../../builder/build.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { buildExit, hooksAfter, runHooks } from "../after-build.ts";
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
  const context = { options, host, signal, emit: screen.show };
  const mayAsk = options.permit.includes("hooks");
  const built = await build({ ...context, ...(mayAsk && { beforePublish: askedBefore(context) }) });
  screen.showTotal(built);
  const setting = { options, host, reporter, signal };
  let proved: ProvedBuild = { outcome: built, state: built, proofs: [], isProved: true };
  if (mayAsk) {
    const { proveAfterBuild } = await import("../../after/prove-after-build.ts");
    proved = await proveAfterBuild(built, {
      ...context,
      waitMs,
      reload: async (outcome, unproved) => await runHooks(outcome, "published", setting, unproved),
    });
    screen.showProofs(proved.proofs);
    await runHooks(proved.state, "state", setting);
  } else await hooksAfter(built, setting);
  await screen.sendJson(proved.outcome, proved.proofs);
  const exit = buildExit(proved.outcome, options, signal);
  return exit === Exit.Done && !proved.isProved ? Exit.Unproved : exit;
};

function askedBefore(context: BuildContext): NonNullable<BuildContext["beforePublish"]> {
  return async (plan, canary) => {
    const { askBefore } = await import("../../after/prove-after-build.ts");
    await askBefore(plan, canary, context);
  };
}
