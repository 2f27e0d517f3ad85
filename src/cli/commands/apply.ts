import { BUILD, applyPlan, statusOf } from "../../library/programs.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { BuildScreen } from "../output/build-screen.ts";
import type { Command } from "./registry.ts";

/** Publishes what `plan --save` saved. */
export const applyCommand: Command = async (options, host, reporter, signal) => {
  const [operand, ...more] = options.args.operands;
  if (operand === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("wrong-usage", "apply needs a plan", {
        hint: "Such as: plan --save my.plan, and then: apply my.plan",
      }),
    ]);
  if (BUILD.test(operand))
    throw new CompilerError([
      errorOf("wrong-usage", `${operand} is a build, not a plan`, {
        hint: `To publish it again: rules-compiler rollback ${operand}`,
      }),
    ]);
  const { values, switches } = options.args;
  refuseChoice(values.has("output") || values.has("filter") || switches.has("copy-to-rules"));
  const screen = new BuildScreen(options, host, reporter);
  const context = { options, host, signal, emit: screen.show };
  const lists = await applyPlan(operand, context);
  for (const list of lists) screen.show({ kind: "list-done", outcome: list, lists: lists.length });
  const seconds = lists.reduce((sum, list) => sum + list.seconds, 0);
  const outcome = { status: statusOf(lists), lists, seconds };
  // The files are those of the plan.
  const file = lists.flatMap(({ outputs }) => outputs)[0]?.file;
  const output = lists.length === 1 || file === undefined ? file : `${host.path.dirname(file)}/`;
  return await screen.end(outcome, { ...context, options: { ...options, output } });
};

/** Throws a `CompilerError` if the user selects a list or a file, which a plan has. */
function refuseChoice(isChosen: boolean): void {
  if (!isChosen) return;
  throw new CompilerError([
    errorOf("wrong-usage", "A plan names its list and files: apply takes no -o, -r and --filter", {
      hint: "Save another plan with plan -o FILE --save my.plan",
    }),
  ]);
}
