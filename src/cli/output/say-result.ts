import { LF } from "../../bytes/ascii.ts";
import type { BuildAnswer } from "../../build/last-build.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import type { Written } from "../outputs.ts";
import { sendToOutput } from "./send-to-output.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { artifactText, lossLines } from "./artifact-text.ts";
import { bytesText, summaryTable } from "./summary.ts";
import type { Talk } from "./talk.ts";
import { columnsOf } from "./text-width.ts";

/** How a compile went: as a table for people, or as JSON. */
export async function sayResult(
  answer: BuildAnswer,
  written: readonly Written[],
  seconds: number,
  lastByte: number | undefined,
  options: Options,
  host: Host,
  talk: Talk,
): Promise<void> {
  if (options.json) await printReport(answer, written, seconds, options, host);
  else if (talk.says("info"))
    sayTable(answer, written, seconds, lastByte, options.isOneOfMany === true, host, talk);
}

/** With `-o -` standard output is the list; the report goes where people look. */
async function printReport(
  result: BuildAnswer,
  outputs: readonly Written[],
  seconds: number,
  options: Options,
  host: Host,
): Promise<void> {
  const { files, diagnostics } = result;
  const report = { ...result.report, outputs, ...(files && { files }), seconds, diagnostics };
  if (options.onReport !== undefined) {
    options.onReport(report);
    return;
  }
  const text = `${JSON.stringify(report)}\n`;
  if (options.output === "-") host.stderr.write(text);
  else await sendToOutput(text, host);
}

function sayTable(
  { report }: BuildAnswer,
  written: readonly Written[],
  seconds: number,
  lastByte: number | undefined,
  isOneOfMany: boolean,
  host: Host,
  talk: Talk,
): void {
  const { style } = talk;
  // The list on the screen may end without a line feed.
  if (host.stdout.isTerminal && written.length === 0 && lastByte !== LF) talk.info("");
  // A table of sources for each of many lists is too long to read; `stats` has it.
  if (!isOneOfMany)
    talk.info(summaryTable(report, columnsOf(host.stderr), style, talk.says("debug")));
  for (const one of written) {
    const { file, outcome, format } = one;
    const size =
      format === undefined
        ? `${countText(report.rules, "rule")}, ${bytesText(report.bytes)}, ${seconds.toFixed(1)} s`
        : artifactText(one);
    talk.info(`${style.good(outcome)} ${style.strong(printable(file))}: ${size}`);
    for (const line of lossLines(one)) talk.info(`  ${style.warning(line)}`);
  }
}
