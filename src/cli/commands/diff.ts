import { resolve } from "node:path";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { reasonOf } from "../../diagnostics/reason.ts";
import { type ListState, listChange } from "../../explain/list-change.ts";
import { type Host, HostError } from "../../host/host.ts";
import { BUILD, buildNamed } from "../build-named.ts";
import { changeExit } from "../change-exit.ts";
import { changeJson, changeLines } from "../change-text.ts";
import { lastBuild } from "../last-build.ts";
import type { Options } from "../options.ts";
import { sendToOutput } from "../send-to-output.ts";
import { showText } from "../show-text.ts";
import type { Talk } from "../talk.ts";
import type { Command } from "./registry.ts";

/** Two lists, builds, or the published lists of two configurations: what the second has that the first has not, and what that does. */
export const diffCommand: Command = async (options, host, talk) => {
  const [before, after, ...more] = options.args.operands;
  if (before === undefined || after === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("unknown-flag", "diff needs two lists", { hint: "Such as: diff old.txt new.txt" }),
    ]);
  const change = await listChange(
    await stateOf(before, options, host, talk),
    await stateOf(after, options, host, talk),
  );
  if (options.isJson) await sendToOutput(`${JSON.stringify(changeJson(change))}\n`, host);
  else {
    const heading = `${printable(before)} → ${printable(after)}`;
    await showText(`${[heading, ...changeLines(change, talk.dataStyle)].join("\n")}\n`, host);
  }
  return changeExit(change, options);
};

const CONFIG = /\.(?:json|jsonc|ya?ml)$/i;

async function stateOf(
  operand: string,
  options: Options,
  host: Host,
  talk: Talk,
): Promise<ListState> {
  if (BUILD.test(operand)) {
    const { path } = await lastBuild(options, host, talk);
    return await buildNamed(operand, path, host);
  }
  if (CONFIG.test(operand)) {
    const published = { ...options, configPath: operand, output: undefined, writesToRules: true };
    const { list, record } = await lastBuild(published, host, talk);
    return { bytes: list, record };
  }
  try {
    return { bytes: await host.readFile(resolve(host.cwd, operand)) };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("source-unreadable", `Cannot read ${printable(operand)}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
