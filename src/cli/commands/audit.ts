import { dirname, resolve } from "node:path";
import { USUAL_TRANSFORMATIONS } from "../../adopt/config-text.ts";
import type { ForeignSetup } from "../../adopt/foreign-setup.ts";
import { readSetup } from "../../adopt/read-setup.ts";
import { NO_PLUGINS } from "../../compile/plugins.ts";
import { VALIDATION_CONTEXT } from "../../compile/validation-context.ts";
import { nodeOfValue } from "../../config/config-node.ts";
import type { Config } from "../../config/fields.ts";
import { validateConfig } from "../../config/validate.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { statsOf } from "../../explain/stats.ts";
import { auditJson, auditText } from "../audit-text.ts";
import { compileAside } from "../compile-aside.ts";
import { sendToOutput } from "../send-to-output.ts";
import { guardsSay } from "../guards-say.ts";
import { columnsOf } from "../text-width.ts";
import type { Command } from "./registry.ts";

/** What the lists that somebody runs come to. They are fetched and compiled; nothing is written. */
export const auditCommand: Command = async (options, host, talk, signal) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("unknown-flag", "audit needs one file", {
        hint: "Such as: audit /opt/AdGuardHome/AdGuardHome.yaml, or audit /etc/pihole/gravity.db",
      }),
    ]);
  const setup = await readSetup(path, host);
  const config = auditedConfig(setup);
  const configured = {
    plugins: NO_PLUGINS,
    config,
    whole: config,
    folder: dirname(resolve(host.cwd, path)),
    name: "",
    warnings: [],
  };
  // Whoever runs these lists fetches them from there already.
  const wish = { ...options, allowPrivate: true };
  const { fresh, compiled } = await compileAside(configured, wish, host, talk, signal);
  const stats = statsOf(fresh.record!);
  const guards = await guardsSay(config, compiled, undefined, options, host);
  const findings = [
    ...guards.refused,
    ...guards.warnings,
    ...compiled.diagnostics.filter(({ code }) => code === "protected-names"),
  ];
  const audit = { path, setup, report: compiled.report, stats, findings };
  const text = options.isJson
    ? `${JSON.stringify(auditJson(audit))}\n`
    : auditText(audit, talk.dataStyle, columnsOf(host.stdout));
  await sendToOutput(text, host);
  return Exit.Done;
};

/** The list that `init --from` would make of it, except that any source may fail. */
function auditedConfig({ software, lists, allow }: ForeignSetup): Config {
  const value = {
    name: software,
    sources: lists
      .filter(({ isOn }) => isOn)
      .map(({ name, source, type }) => ({ name, source, type, optional: true })),
    transformations: USUAL_TRANSFORMATIONS.map(([name]) => name),
    ...(allow.length === 0 ? {} : { allow }),
  };
  const { config, diagnostics } = validateConfig(nodeOfValue(value), VALIDATION_CONTEXT);
  if (config === undefined) throw new CompilerError(diagnostics);
  return config;
}
