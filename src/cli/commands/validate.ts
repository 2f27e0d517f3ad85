import { planLists } from "../../builder/plan/list-plan.ts";
import { openProject } from "../../builder/plan/project.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, type Diagnostic } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import { sendToOutput } from "../../host/files.ts";
import type { Command } from "./registry.ts";

/** Checks the configuration without reading sources. */
export const validateCommand: Command = async (options, host, reporter) => {
  const { project, lists } = await openProject(options, host);
  const unknown = project.warnings.filter(({ code }) => code === "unknown-key");
  if (options.strict && unknown.length > 0)
    throw new CompilerError(
      project.warnings.map((one) => (unknown.includes(one) ? asError(one) : one)),
    );
  for (const warning of project.warnings) reporter.diagnostic(warning);
  await planLists(lists, { ...options, output: undefined }, host);
  const { name, sources: all } = project.config;
  const sources = all.length;
  const hasSeveral = project.config.lists !== undefined;
  const several = hasSeveral ? ` and ${countText(lists.length, "list")}` : "";
  reporter.info(
    `${reporter.style.good("valid")}: "${printable(name)}" with ${countText(sources, "source")}${several}`,
  );
  const counted = hasSeveral ? { lists: lists.length } : {};
  if (options.json)
    await sendToOutput(`${JSON.stringify({ valid: true, name, sources, ...counted })}\n`, host);
  return Exit.Done;
};

function asError(warning: Diagnostic): Diagnostic {
  return { ...warning, code: "config-invalid", severity: "error" };
}
