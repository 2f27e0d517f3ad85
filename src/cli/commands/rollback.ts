import { holdPublished, release } from "../../build/hold-list.ts";
import { type RollbackRequest, rollback } from "../../build/rollback.ts";
import { holdText } from "../../build/state/hold.ts";
import { BUILD } from "../../build/state/kept-build.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { buildExit } from "../build-exit.ts";
import { type HooksSetting, hooksAfter } from "../hooks-after.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { flagsOf } from "../flags/command-flags.ts";
import type { Command } from "./registry.ts";

/** The list as it is published: it can only be held. */
const PUBLISHED = "@published";

/** Publishes a kept build again. */
export const rollbackCommand: Command = async (options, host, reporter, signal) => {
  const [operand, ...more] = options.args.operands;
  const { hold, release: ends } = flagsOf("rollback", options.args);
  const isKnown = operand === undefined || BUILD.test(operand);
  const isHold = operand === PUBLISHED && hold && !ends;
  if (more.length === 0 && isHold) return await holdList(options, host, reporter, signal);
  if (more.length > 0 || !isKnown)
    throw new CompilerError([
      errorOf(
        "unknown-flag",
        `rollback takes one build, not ${printable(options.args.operands.join(" "), 60)}`,
        {
          hint: "Such as: rollback @1, or rollback @2026-11-14; rules-compiler log lists them. To keep the published list: rollback @published --hold",
        },
      ),
    ]);
  if (ends) return await releaseList(options, host, reporter, signal);
  return await publishKept({ build: operand, hold }, { options, host, reporter, signal });
};

/** Publishes a kept build again, shows it, and runs hooks. */
export async function publishKept(request: RollbackRequest, setting: HooksSetting): Promise<Exit> {
  const { options, host, reporter, signal } = setting;
  const screen = new BuildScreen(options, host, reporter);
  const context = { options, host, signal, emit: screen.show };
  const { of, isHeld, ...list } = await rollback(request, context);
  screen.show({ kind: "list-done", outcome: list, lists: 1 });
  const state = isHeld ? "is published again and held" : "is published again";
  reporter.info(`the build of ${momentText(of)} ${state}`);
  const outcome = { status: list.status, lists: [list], seconds: list.seconds };
  await screen.end(outcome);
  await hooksAfter(outcome, setting);
  return buildExit(outcome, options, signal);
}

/** Holds the published list. */
const holdList: Command = async (options, host, reporter, signal) => {
  const emit = new BuildScreen(options, host, reporter).show;
  const { list, hold } = await holdPublished({ options, host, signal, emit });
  reporter.info(holdText(list, hold));
  const { of, at, by } = hold;
  if (options.json) await sendDocument({ name: list, held: true, of, at, by }, host);
  return Exit.Done;
};

/** Ends the hold of a list, if it is held. */
const releaseList: Command = async (options, host, reporter, signal) => {
  if (options.args.operands.length > 0 || options.args.switches.has("hold"))
    throw new CompilerError([
      errorOf("unknown-flag", "--release takes no build and no --hold", {
        hint: "The next run of compile or serve publishes the list",
      }),
    ]);
  const { list, hold } = await release({ options, host, signal, emit: () => {} });
  const name = printable(list);
  reporter.info(
    hold === undefined
      ? `${name} is not held`
      : `${name} is released; the next run publishes it again`,
  );
  if (options.json)
    await sendDocument({ name: list, held: false, wasHeld: hold !== undefined }, host);
  return Exit.Done;
};

async function sendDocument(document: object, host: Host): Promise<void> {
  await sendToOutput(`${JSON.stringify(document)}\n`, host);
}
