import { endHold, holdFacts, holdPublished, holdText } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import { flagsOf } from "../flags/help.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { sendDocument } from "../output/table.ts";
import type { Command } from "./registry.ts";
import { buildOperand, publishKept } from "./rollback.ts";

/** Keeps the list at a build, which it publishes again if another is published. */
export const holdCommand: Command = async (options, host, reporter, signal) => {
  const build = buildOperand("hold", options.args.operands);
  if (flagsOf("hold", options.args).end) {
    if (build === undefined) return await end(options, host, reporter, signal);
    throw new CompilerError([errorOf("wrong-usage", "--end takes no build")]);
  }
  const emit = new BuildScreen(options, host, reporter).show;
  const held = await holdPublished({ options, host, signal, emit }, build);
  if (held === undefined)
    return await publishKept({ build, hold: true })(options, host, reporter, signal);
  const { list, hold } = held;
  reporter.info(holdText(list, hold));
  if (options.json) await sendDocument({ lists: [{ list, held: holdFacts(hold) }] }, host);
  return Exit.Done;
};

const end: Command = async (options, host, reporter, signal) => {
  const { list, hold } = await endHold({ options, host, signal, emit: () => {} });
  const wasHeld = hold !== undefined;
  const now = wasHeld ? "is no longer held; the next run publishes it" : "is not held";
  reporter.info(`${printable(list)} ${now}`);
  if (options.json) await sendDocument({ lists: [{ list, held: null, wasHeld }] }, host);
  return Exit.Done;
};
