import { LF } from "../../bytes/ascii.ts";
import { type CompiledList, compileList } from "../../compile/compile.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import { type ConfigInPlace, configOf } from "../config-of.ts";
import type { Options } from "../options.ts";
import { Outputs, type Written } from "../outputs.ts";
import { ProgressLines } from "../progress-lines.ts";
import { sendToOutput } from "../send-to-output.ts";
import { bytesText, countText, summaryTable } from "../summary.ts";
import type { Talk } from "../talk.ts";
import type { Command } from "./registry.ts";

/** Reads the sources, compiles the list and writes it. */
export const compileCommand: Command = async (options, host, talk, signal) => {
  const started = host.now().getTime();
  const configured = await configOf(options, host, talk);
  if (options.inputs.length > 0 && options.output === undefined) {
    const hint = "Add -o list.txt, or -o - for standard output";
    throw new CompilerError([
      errorOf("unknown-flag", "-i needs -o: where the list is to be written", { hint }),
    ]);
  }
  const outputs = new Outputs(configured.config.name, options, host);
  try {
    await outputs.open();
    const result = await compileWithProgress(configured, outputs, options, host, talk, signal);
    // Compiling leaves no room for signals; one that came meanwhile is heard here, before anything is published.
    await new Promise((turned) => setTimeout(turned, 0));
    signal.throwIfAborted();
    for (const diagnostic of result.diagnostics) talk.diagnostic(diagnostic);
    const written = await outputs.publish();
    const seconds = (host.now().getTime() - started) / 1000;
    if (options.isJson) await printReport(result, written, seconds, options, host);
    else sayResult(result, written, seconds, outputs.lastByte, host, talk);
    return Exit.Done;
  } catch (error) {
    await outputs.discard();
    throw error;
  }
};

async function compileWithProgress(
  { config, folder }: ConfigInPlace,
  outputs: Outputs,
  { memory }: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompiledList> {
  const progress = new ProgressLines(host, talk, config.sources.length);
  try {
    return await compileList(config, host, (bytes) => outputs.write(bytes), {
      configFolder: folder,
      signal,
      memory,
      onProgress: (event) => progress.show(event),
    });
  } finally {
    progress.end();
  }
}

/** With `-o -` standard output is the list; the report goes where people look. */
async function printReport(
  result: CompiledList,
  outputs: readonly Written[],
  seconds: number,
  options: Options,
  host: Host,
): Promise<void> {
  const text = `${JSON.stringify({ ...result.report, outputs, seconds, diagnostics: result.diagnostics })}\n`;
  if (options.output === "-") host.stderr.write(text);
  else await sendToOutput(text, host);
}

function sayResult(
  { report }: CompiledList,
  written: readonly Written[],
  seconds: number,
  lastByte: number | undefined,
  host: Host,
  talk: Talk,
): void {
  const { style } = talk;
  // The list on the screen may end without a line feed.
  if (host.stdout.isTerminal && written.length === 0 && lastByte !== LF) talk.info("");
  talk.info(summaryTable(report, host.stderr.isTerminal ? host.stderr.columns : Infinity, style));
  for (const { file, outcome } of written) {
    const size = `${countText(report.rules, "rule")}, ${bytesText(report.bytes)}, ${seconds.toFixed(1)} s`;
    talk.info(`${style.good(outcome)} ${style.strong(printable(file))}: ${size}`);
  }
}
