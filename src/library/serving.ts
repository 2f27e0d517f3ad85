import { reportFiles, stateFolder } from "../builder/inspect-lists.ts";
import type { BuildOptions } from "../builder/plan/build-options.ts";
import { planCombined, planLists, wantedFiles } from "../builder/plan/list-plan.ts";
import { hookNames, type openProject } from "../builder/plan/project.ts";
import { Conditions, type ListedCondition } from "../builder/state/conditions.ts";
import { holdFacts, readHold, readLastPublish } from "../builder/state/list-state.ts";
import { resolversOf } from "../config/resolvers.ts";
import type { HeldList } from "../documents/facts.ts";
import type { Host } from "../host/host.ts";
import { partPaths } from "../publish/split-file.ts";
import { Probe } from "../resolvers/probe.ts";

interface RulesOfFile {
  readonly path: string;
  readonly rules: number;
}

/** What a server must know of the lists of a configuration. */
export interface ServedConfig {
  /** The names of the lists. */
  readonly names: readonly string[];
  /** The files of the lists and of their further formats. */
  readonly files: readonly string[];
  /** Every file that a build writes. */
  readonly outputs: readonly string[];
  /** The folder of records and state. */
  readonly folder: string;
  /** The files of the reports, one for each list. */
  readonly reports: readonly string[];
  /** The names of the resolvers. */
  readonly resolvers: readonly string[];
  /** The titles of the hooks that are permitted. */
  readonly hooks: readonly string[];
  /** Asks the resolvers. */
  readonly probe: Probe;
  /** Whether resolvers may be asked, and there is one. */
  readonly canAsk: boolean;
  /** The parts of a file that was split, as they are now. */
  readonly partsOf: (path: string) => Promise<string[]>;
  /** The rules of each list that is published now. */
  readonly published: () => Promise<RulesOfFile[]>;
  /** The lists that are held now. */
  readonly held: () => Promise<HeldList[]>;
  /** The problems that last now. */
  readonly conditions: () => Promise<ListedCondition[]>;
}

/** What a server must know of a configuration; undefined if it writes to standard output. Rejects with a `CompilerError`. */
export async function servedConfig(
  { project, lists }: Awaited<ReturnType<typeof openProject>>,
  options: BuildOptions,
  host: Host,
): Promise<ServedConfig | undefined> {
  const plans = await planLists(lists, options, host);
  if (plans.every(({ files }) => files.length === 0)) return undefined;
  const folder = stateFolder(plans, host);
  const further = plans
    .flatMap(({ outputs }) => outputs)
    .flatMap((one) => (one.format.hasAllowFile === true ? [one.path, one.allowPath] : [one.path]));
  const mayAsk = options.permit.includes("hooks");
  const resolvers = resolversOf(project.config).map(({ name }) => name);
  const owned = plans.map(({ list, files }) => ({ name: list.config.name, path: files[0]?.path }));
  return {
    names: owned.map(({ name }) => name),
    files: [...plans.flatMap(({ files }) => files).map(({ path }) => path), ...further],
    outputs: wantedFiles(plans, planCombined(project, options, host)).map(({ path }) => path),
    folder,
    reports: reportFiles(plans, folder, host),
    resolvers,
    hooks: mayAsk ? hookNames(project) : [],
    probe: new Probe(lists, options, host),
    canAsk: mayAsk && resolvers.length > 0,
    partsOf: (path) => partPaths(path, host),
    published: async () => {
      const found: RulesOfFile[] = [];
      for (const { path } of plans.flatMap(({ files }) => files)) {
        const last = await readLastPublish(path, host);
        if (last !== undefined) found.push({ path, rules: last.rules });
      }
      return found;
    },
    held: async () => {
      const held: HeldList[] = [];
      for (const { name, path } of owned) {
        const hold = path === undefined ? undefined : await readHold(path, host);
        if (hold === undefined) continue;
        const rules = hold !== "damaged" && { rules: hold.report.rules };
        held.push({ list: name, ...holdFacts(hold), ...rules });
      }
      return held;
    },
    conditions: async () => {
      const all: ListedCondition[] = [];
      for (const { name, path } of owned)
        for (const one of (await new Conditions(path, host).read()) ?? [])
          all.push({ ...one, list: name });
      return all;
    },
  };
}
