import { applyPlan } from "../../build/apply-plan.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { buildExit } from "../build-exit.ts";
import { BuildScreen } from "../output/build-screen.ts";
import type { Command } from "./registry.ts";

/** Publishes what `plan --save` saved. */
export const applyCommand: Command = async (options, host, reporter, signal) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("unknown-flag", "apply needs a plan", {
        hint: "Such as: plan --save my.plan, and then: apply my.plan",
      }),
    ]);
  const screen = new BuildScreen(options, host, reporter);
  const list = await applyPlan(path, { options, host, signal, emit: screen.show });
  screen.show({ kind: "list-done", outcome: list, lists: 1 });
  const outcome = { status: list.status, lists: [list], seconds: list.seconds };
  await screen.end(outcome);
  return buildExit(outcome, options, signal);
};
