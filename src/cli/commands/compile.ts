import { join, resolve } from "node:path";
import { LF } from "../../bytes/ascii.ts";
import { type CompileResult, compileList } from "../../compile/compile.ts";
import { type WriteOutcome, slugOf, writeList } from "../../compile/write.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import { sendToOutput } from "../send-to-output.ts";
import { type ConfigInPlace, configOf } from "../config-of.ts";
import type { Options } from "../options.ts";
import { ProgressLines } from "../progress-lines.ts";
import { bytesText, countText, summaryTable } from "../summary.ts";
import type { Talk } from "../talk.ts";
import type { Command } from "./registry.ts";

interface Written {
  readonly file: string;
  readonly outcome: WriteOutcome;
}

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
  const result = await compileWithProgress(configured, host, talk, signal);
  // Compiling leaves no room for signals; one that came meanwhile is heard here, before anything is written.
  await new Promise((turned) => setTimeout(turned, 0));
  signal.throwIfAborted();
  for (const diagnostic of result.diagnostics) talk.diagnostic(diagnostic);
  const written = await writeOutputs(configured.config.name, options, result.bytes, host);
  const seconds = (host.now().getTime() - started) / 1000;
  if (options.isJson) await printReport(result, written, seconds, options, host);
  else sayResult(result, written, seconds, host, talk);
  return Exit.Done;
};

async function compileWithProgress(
  { config, folder }: ConfigInPlace,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompileResult> {
  const progress = new ProgressLines(host, talk, config.sources.length);
  try {
    return await compileList(config, host, {
      configFolder: folder,
      signal,
      onProgress: (event) => progress.show(event),
    });
  } finally {
    progress.end();
  }
}

async function writeOutputs(
  name: string,
  options: Options,
  bytes: Uint8Array,
  host: Host,
): Promise<Written[]> {
  const { output } = options;
  const files: string[] = [];
  if (output === "-") await sendToOutput(bytes, host);
  else if (output !== undefined) files.push(output);
  if (options.writesToRules) files.push(join(options.rulesFolder, `${slugOf(name)}.txt`));
  const written: Written[] = [];
  for (const file of files)
    written.push({ file, outcome: await writeList(resolve(host.cwd, file), bytes, host) });
  return written;
}

/** With `-o -` standard output is the list; the report goes where people look. */
async function printReport(
  result: CompileResult,
  outputs: Written[],
  seconds: number,
  options: Options,
  host: Host,
): Promise<void> {
  const text = `${JSON.stringify({ ...result.report, outputs, seconds, diagnostics: result.diagnostics })}\n`;
  if (options.output === "-") host.stderr.write(text);
  else await sendToOutput(text, host);
}

function sayResult(
  { report, bytes }: CompileResult,
  written: Written[],
  seconds: number,
  host: Host,
  talk: Talk,
): void {
  const { style } = talk;
  // The list on the screen may end without a line feed.
  if (host.stdout.isTerminal && written.length === 0 && bytes.at(-1) !== LF) talk.info("");
  talk.info(summaryTable(report, host.stderr.isTerminal ? host.stderr.columns : Infinity, style));
  for (const { file, outcome } of written) {
    const size = `${countText(report.rules, "rule")}, ${bytesText(bytes.length)}, ${seconds.toFixed(1)} s`;
    talk.info(`${style.good(outcome)} ${style.strong(printable(file))}: ${size}`);
  }
}
