import { exportDataset, listNames } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import { bytesText } from "../output/build-screen.ts";
import { sendDocument } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Writes the last build of the selected lists as CSV. */
export const exportCommand: Command = async (options, host, reporter) => {
  const [file, ...others] = options.args.operands;
  if (others.length > 0)
    throw new CompilerError([errorOf("wrong-usage", "export writes one file")]);
  if (file === undefined && options.json)
    throw new CompilerError([
      errorOf("wrong-usage", "--json needs a file: standard output has the lines", {
        hint: "Write export --json FILE.csv",
      }),
    ]);
  const lists = await listNames(options, host);
  const { rows, bytes, unseen } = await exportDataset(lists, file, options, host);
  if (options.json && file !== undefined) await sendDocument({ file, rows, bytes, unseen }, host);
  const { style } = reporter;
  if (file !== undefined)
    reporter.info(
      `${style.good("written")} ${style.strong(printable(file))}: ${countText(rows, "row")}, ${bytesText(bytes)}`,
    );
  for (const one of unseen)
    reporter.info(`${printable(one)} has changed since the build, or is not cached`);
  return Exit.Done;
};
