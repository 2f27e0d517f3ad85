import { exportDataset, type DatasetFile } from "../../build/export-dataset.ts";
import { listNames } from "../../build/state/published-build.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { bytesText } from "../output/summary.ts";
import type { Command } from "./registry.ts";

/** Writes the last build of the selected lists as Parquet files. */
export const exportCommand: Command = async (options, host, reporter) => {
  const [folder = "dataset", ...others] = options.args.operands;
  if (others.length > 0)
    throw new CompilerError([errorOf("unknown-flag", "export writes into one folder")]);
  const lists = await listNames(options, host);
  const { lines, names, unseen } = await exportDataset(lists, folder, options, host);
  if (options.json) await sendToOutput(`${JSON.stringify({ lines, names, unseen })}\n`, host);
  const { style } = reporter;
  const report = ({ file, rows, bytes }: DatasetFile, word: string): void =>
    reporter.info(
      `${style.good("written")} ${style.strong(printable(file))}: ${countText(rows, word)}, ${bytesText(bytes)}`,
    );
  report(lines, "line");
  report(names, "name");
  for (const file of unseen)
    reporter.info(`${printable(file)} has changed since the build, or is not cached`);
  return Exit.Done;
};
