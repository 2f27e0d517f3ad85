import { dirname, join, resolve } from "node:path";
import { OWN_RULES, OWN_RULES_NAME, USUAL_TRANSFORMATIONS } from "../../import/config-text.ts";
import type { ForeignList, ForeignSetup } from "../../import/foreign-setup.ts";
import { readSetup } from "../../import/read-setup.ts";
import { encodeUtf8 } from "../../bytes/utf8.ts";
import { dryRun } from "../../build/dry-run.ts";
import { planList } from "../../build/list-plan.ts";
import { BuildSession } from "../../build/session.ts";
import { NO_PLUGINS } from "../../engine/plugins.ts";
import { SourceReader } from "../../engine/source-reader.ts";
import { VALIDATION_CONTEXT } from "../../engine/validation-context.ts";
import { nodeOfValue } from "../../config/config-node.ts";
import type { Config } from "../../config/fields.ts";
import { validateConfig } from "../../config/validate.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { statsOf } from "../../explain/stats.ts";
import type { Host } from "../../host/host.ts";
import { withFile } from "../../host/with-file.ts";
import { auditJson, auditText } from "../output/audit-text.ts";
import { BuildScreen } from "../output/build-screen.ts";
import type { Options } from "../flags/options.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import type { Reporter } from "../output/reporter.ts";
import { showText } from "../output/show-text.ts";
import { columnsOf } from "../output/text-width.ts";
import type { Command } from "./registry.ts";

/** Analyses the lists of another program: fetches and compiles them, and writes nothing. */
export const auditCommand: Command = async (options, host, reporter, signal) => {
  const [path, ...more] = options.args.operands;
  if (path === undefined || more.length > 0)
    throw new CompilerError([
      errorOf("unknown-flag", "audit needs one file", {
        hint: "Such as: audit /opt/AdGuardHome/AdGuardHome.yaml, or audit /etc/pihole/gravity.db",
      }),
    ]);
  const setup = await readSetup(path, host);
  const folder = dirname(resolve(host.cwd, path));
  const allowLists = await reachable(setup.allowLists, folder, options, host, reporter);
  const config = auditedConfig(setup, allowLists);
  const project = { config, folder, file: "", plugins: NO_PLUGINS, warnings: [] };
  const list = { project, config, plugins: NO_PLUGINS, covers: [] };
  const own = encodeUtf8(`${setup.ownRules.join("\n")}\n`);
  const world = withFile(host, join(folder, OWN_RULES), own);
  const { show } = new BuildScreen(options, world, reporter);
  // Nothing is published, so the list is compared with none.
  const settings = { ...options, output: "-" };
  const plan = planList(list, settings, host.cwd);
  const context = { options: settings, host: world, signal, emit: show };
  const session = new BuildSession([plan], context);
  const { state, compiled, ...verdict } = await dryRun(plan, session, { allowPrivate: true });
  const stats = statsOf(state.record!);
  const findings = [
    ...verdict.violations,
    ...verdict.warnings,
    ...compiled.diagnostics.filter(({ code }) => code === "protected-names"),
  ];
  const audit = { path, setup, report: compiled.report, stats, findings };
  if (options.json) await sendToOutput(`${JSON.stringify(auditJson(audit))}\n`, host);
  else await showText(auditText(audit, reporter.dataStyle, columnsOf(host.stdout)), host);
  return Exit.Done;
};

/** The list that `init --from` would make of it, except that any source may fail. */
function auditedConfig(setup: ForeignSetup, allowSources: readonly string[]): Config {
  const { software, lists, ownRules, allow } = setup;
  const own = { name: OWN_RULES_NAME, source: OWN_RULES, type: "adblock" };
  const value = {
    name: software,
    sources: [
      ...lists
        .filter(({ isOn }) => isOn)
        .map(({ name, source, type }) => ({ name, source, type, optional: true })),
      ...(ownRules.length === 0 ? [] : [own]),
    ],
    transformations: USUAL_TRANSFORMATIONS.map(([name]) => name),
    ...(allow.length === 0 ? {} : { allow }),
    ...(allowSources.length === 0 ? {} : { allow_sources: allowSources }),
  };
  const { config, diagnostics } = validateConfig(nodeOfValue(value), VALIDATION_CONTEXT);
  if (config === undefined) throw new CompilerError(diagnostics);
  return config;
}

/** The enabled allowlists that can be read. Others are reported and skipped. */
async function reachable(
  lists: readonly ForeignList[],
  configFolder: string,
  { cacheDir, offline }: Options,
  host: Host,
  reporter: Reporter,
): Promise<string[]> {
  const found: string[] = [];
  for (const { source } of lists.filter(({ isOn }) => isOn)) {
    const wish = { cacheDir, offline, configFolder, allowPrivate: true };
    const reader = new SourceReader(host, wish);
    try {
      await reader.names([source]);
      found.push(source);
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      for (const one of error.diagnostics) reporter.diagnostic({ ...one, severity: "warning" });
    } finally {
      reader.close();
    }
  }
  return found;
}
