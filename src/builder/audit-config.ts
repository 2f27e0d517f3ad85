import type { CompileReport, ListStats, TrafficStats } from "../documents/facts.ts";
import { encodeUtf8 } from "../bytes/text.ts";
import { RECOMMENDED } from "../config/fields.ts";
import type { Config } from "../config/lists.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/render.ts";
import { entryFiles } from "../engine/plan.ts";
import { NO_PLUGINS } from "../engine/plugins.ts";
import { SourceReader } from "../engine/source-reader.ts";
import { statsOf } from "../explain/glossary.ts";
import { trafficLogs, trafficStats } from "../explain/traffic.ts";
import type { Host } from "../host/host.ts";
import { withMemoryFiles } from "../host/memory-files.ts";
import { USER_RULES, USER_RULES_NAME } from "../import/config-text.ts";
import {
  type ImportedConfig,
  type ImportedList,
  type ImportedSettings,
  withFiles,
} from "../import/hostlist-compiler.ts";
import { dryRun } from "./apply-plan.ts";
import type { BuildContext } from "./build.ts";
import { planList } from "./plan/list-plan.ts";
import { projectOf } from "./plan/project.ts";
import { BuildSession } from "./session.ts";

interface Audit {
  readonly report: CompileReport;
  readonly stats: ListStats;
  /** Findings of the guards, and protected names that the lists block. */
  readonly findings: readonly Diagnostic[];
  /** What the lists do for the queries of logs. */
  readonly traffic?: TrafficStats;
}

/** Fetches and compiles the lists in the settings of another program. Writes nothing. */
export async function auditConfig(
  setup: ImportedConfig,
  path: string,
  context: BuildContext,
  files: readonly string[] = [],
): Promise<Audit> {
  const { host } = context;
  const folder = host.path.dirname(host.path.resolve(host.cwd, path));
  const readable = await withFiles(setup, (lists) => reachable(lists, folder, context));
  const config = auditedConfig(readable, host);
  const project = { config, folder, file: "", plugins: NO_PLUGINS, warnings: [] };
  const list = { project, config, plugins: NO_PLUGINS, covers: [] };
  // Without rules of the user, the folder may have a file with this name, which is a source.
  const world =
    setup.userRules.length === 0
      ? host
      : withMemoryFiles(
          host,
          new Map([
            [host.path.join(folder, USER_RULES), encodeUtf8(`${setup.userRules.join("\n")}\n`)],
          ]),
        );
  // With this output, nothing is published, so there is no earlier list to compare with.
  const options = { ...context.options, output: "-" };
  const plan = planList(list, options, world);
  const session = new BuildSession([plan], { ...context, options, host: world });
  const run = await dryRun(plan, session, { allowPrivate: true, anyMayFail: true });
  const { report, diagnostics } = run.compiled;
  const kept = diagnostics.filter(({ code }) => code === "protected-names");
  // Nothing is written, and the table shows which lists are missing.
  const warnings = run.warnings.filter(({ code }) => code !== "list-incomplete");
  const findings = [...run.violations, ...warnings, ...kept].map(withoutAccept);
  const record = run.state.record!;
  const audit = { report, stats: statsOf(record), findings };
  const logs = trafficLogs(files, world);
  if (logs === undefined) return audit;
  const built = { list: run.state.bytes, record };
  return { ...audit, traffic: await trafficStats(built, logs, options.cacheDir, world) };
}

/** An audit publishes nothing, so it has no `--accept` for a hint to name. */
function withoutAccept(finding: Diagnostic): Diagnostic {
  if (finding.hint?.includes("--accept") !== true) return finding;
  const { hint: _, ...rest } = finding;
  return rest;
}

/** The configuration that `init --from` would create, except that any source may fail and that own rules are last. */
function auditedConfig(setup: ImportedConfig, host: Host): Config {
  const { software, lists, userRules, allow, allowLists } = setup;
  const settings = setup.settings ?? { transformations: RECOMMENDED };
  const own = { name: USER_RULES_NAME, source: USER_RULES, type: "adblock" };
  const value = {
    name: software,
    sources: [
      ...lists
        .filter(({ isOn }) => isOn)
        .map(({ name, source, type, settings: more = {} }) => ({
          name,
          source,
          type,
          required: false,
          ...valuesOf(more),
        })),
      ...(userRules.length === 0 ? [] : [own]),
    ],
    ...valuesOf(settings),
    ...(allow.length === 0 ? {} : { allow }),
    ...(allowLists.length === 0 ? {} : { allow_sources: sourcesOf(allowLists) }),
  };
  return projectOf(value, NO_PLUGINS, host).config;
}

/** The settings as a configuration has them. */
function valuesOf(settings: ImportedSettings): object {
  const { inclusions_sources: inclusions, exclusions_sources: exclusions } = settings;
  return {
    ...settings,
    ...(inclusions && { inclusions_sources: sourcesOf(inclusions) }),
    ...(exclusions && { exclusions_sources: sourcesOf(exclusions) }),
  };
}

function sourcesOf(lists: readonly ImportedList[]): string[] {
  return lists.map(({ source }) => source);
}

/** The enabled files of names that can be read. The others are reported and skipped. */
async function reachable(
  lists: readonly ImportedList[],
  configFolder: string,
  { options, host, emit }: BuildContext,
): Promise<ImportedList[]> {
  const found: ImportedList[] = [];
  for (const list of lists.filter(({ isOn }) => isOn)) {
    const { cacheDir, offline } = options;
    const reader = new SourceReader(host, { cacheDir, offline, configFolder, allowPrivate: true });
    try {
      await reader.entries.names(entryFiles([list.source], "protect"));
      found.push(list);
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      for (const one of error.diagnostics)
        emit({ kind: "diagnostic", diagnostic: { ...one, severity: "warning" } });
    } finally {
      reader.close();
    }
  }
  return found;
}
