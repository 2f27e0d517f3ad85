import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import type { LintedFile } from "../../documents/facts.ts";
import { sendToOutput, writeText } from "../../host/files.ts";
import { FORMAT_NAMES, lintList } from "../../index.ts";
import { flagsOf } from "../flags/help.ts";
import { formatOption } from "../flags/options.ts";
import { LINT_REPORTS } from "../output/explanation-text.ts";
import type { Command } from "./registry.ts";

/** Reports problems in list files, for list authors. */
export const lintCommand: Command = async (options, host, reporter) => {
  const { args, inputType = "adblock" } = options;
  const {
    fix,
    format: [wanted = "text"],
  } = flagsOf("lint", args);
  if (args.operands.length === 0)
    throw new CompilerError([
      errorOf("wrong-usage", "lint needs a file", { hint: "Such as: lint my-rules.txt" }),
    ]);
  const type = formatOption("-t", inputType, FORMAT_NAMES);
  const form = options.json ? "json" : wanted;
  const report = LINT_REPORTS[formatOption("--format", form, Object.keys(LINT_REPORTS))]!;
  const files: LintedFile[] = [];
  for (const file of args.operands) {
    const path = host.path.resolve(host.cwd, file);
    const { problems, fixed } = await lintList(path, type, host);
    const isFixed = fix && problems.some(({ isFixable }) => isFixable);
    if (isFixed) await writeText(path, fixed, host);
    // The fixes changed the line numbers.
    const left = isFixed ? (await lintList(path, type, host)).problems : problems;
    files.push({ file, problems: left, isFixed });
  }
  await sendToOutput(report(files, reporter.dataStyle), host);
  const worst = files.flatMap(({ problems }) => problems.map(({ severity }) => severity));
  const isBad = worst.includes("error") || (options.strict && worst.length > 0);
  return isBad ? Exit.Problems : Exit.Done;
};
