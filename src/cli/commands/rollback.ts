import { rollback } from "../../build/rollback.ts";
import { BUILD } from "../../build/state/kept-build.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { buildExit } from "../build-exit.ts";
import { BuildScreen } from "../output/build-screen.ts";
import type { Command } from "./registry.ts";

/** Publishes a kept build again. */
export const rollbackCommand: Command = async (options, host, reporter, signal) => {
  const [operand, ...more] = options.args.operands;
  if (more.length > 0 || (operand !== undefined && !BUILD.test(operand)))
    throw new CompilerError([
      errorOf(
        "unknown-flag",
        `rollback takes one build, not ${printable(options.args.operands.join(" "), 60)}`,
        {
          hint: "Such as: rollback @1, or rollback @2026-11-14; rules-compiler builds lists them",
        },
      ),
    ]);
  const screen = new BuildScreen(options, host, reporter);
  const { of, ...list } = await rollback(operand, { options, host, signal, emit: screen.show });
  screen.show({ kind: "list-done", outcome: list, lists: 1 });
  reporter.info(`the build of ${momentText(of)} is published again`);
  const outcome = { status: list.status, lists: [list], seconds: list.seconds };
  await screen.end(outcome);
  return buildExit(outcome, options, signal);
};
