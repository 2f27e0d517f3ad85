import {
  BUILD,
  type KeptBuildChoice,
  lastList,
  publishKept as rollback,
  waitingDecisions,
} from "../../library/programs.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { listCommandLine, printable, timestampText } from "../../diagnostics/text.ts";
import type { Decision } from "../../documents/facts.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { waitingText } from "../output/explanation-text.ts";
import type { Command } from "./registry.ts";

/** Publishes a kept build again. */
export const rollbackCommand: Command = async (options, host, reporter, signal) => {
  const build = buildOperand("rollback", options.args.operands);
  return await publishKept({ build })(options, host, reporter, signal);
};

/** The build that the operands name. Throws a `CompilerError`. */
export function buildOperand(command: string, operands: readonly string[]): string | undefined {
  const [operand, ...more] = operands;
  if (more.length === 0 && (operand === undefined || BUILD.test(operand))) return operand;
  throw new CompilerError([
    errorOf("wrong-usage", `${command} takes one build, not ${printable(operands.join(" "), 60)}`, {
      hint: `Such as: ${command} @1, or ${command} @2026-11-14; rules-compiler log lists them`,
    }),
  ]);
}

/** Publishes a kept build again, shows it, and does what follows. */
export function publishKept(request: KeptBuildChoice): Command {
  return async (options, host, reporter, signal) => {
    const screen = new BuildScreen(options, host, reporter);
    const context = { options, host, signal, emit: screen.show };
    const { of, isHeld, ...list } = await rollback(request, context);
    screen.show({ kind: "list-done", outcome: list, lists: 1 });
    const filter = options.filter.length === 0 ? undefined : list.list;
    const state = isHeld
      ? "and held"
      : `until the next run; to stay there: ${listCommandLine("hold", filter, options)}`;
    reporter.info(`the build of ${timestampText(of)} is published again ${state}`);
    for (const one of await waitingFor(list.list, options, host))
      reporter.info(waitingText(one, reporter.style));
    const outcome = { status: list.status, lists: [list], seconds: list.seconds };
    return await screen.end(outcome, context);
  };
}

/** The decisions that the published build lacks; none if its record could not be written, which was reported. */
async function waitingFor(list: string, options: Options, host: Host): Promise<Decision[]> {
  try {
    const { build } = await lastList(list, options, host);
    return await waitingDecisions(list, build.decisions, { options, host });
  } catch (error) {
    if (error instanceof CompilerError) return [];
    throw error;
  }
}
