import { openProject, planLists, presetOf } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, type Diagnostic } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import { sendDocument } from "../output/table.ts";
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
  const preset = presetOf(project);
  if (preset !== undefined) reporter.info(`  transformations: ${preset.join(", ")}`);
  const documents = lists.map(({ config }) => ({
    list: config.name,
    sources: config.sources.length,
  }));
  if (options.json) await sendDocument({ ok: true, lists: documents }, host);
  return Exit.Done;
};

function asError(warning: Diagnostic): Diagnostic {
  return { ...warning, code: "config-invalid", severity: "error" };
}
