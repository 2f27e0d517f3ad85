import type { CompileReport } from "../../engine/report.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import { sendToOutput } from "./send-to-output.ts";
import { summaryTable } from "./summary.ts";
import type { Talk } from "./talk.ts";
import { columnsOf } from "./text-width.ts";

/** Prints the sources of a refused list: as a table, or as JSON with the reasons. */
export async function sayRefused(
  report: CompileReport,
  refused: readonly Diagnostic[],
  options: Options,
  host: Host,
  talk: Talk,
): Promise<void> {
  if (options.json) {
    const refusal = { ...report, outputs: [], refused };
    const text = `${JSON.stringify(refusal)}\n`;
    if (options.onReport !== undefined) options.onReport(refusal);
    else if (options.output === "-") host.stderr.write(text);
    else await sendToOutput(text, host);
  } else if (talk.says("info")) {
    if (options.isOneOfMany === true) talk.info(talk.style.strong(printable(report.name)));
    talk.info(summaryTable(report, columnsOf(host.stderr), talk.style));
  }
}
