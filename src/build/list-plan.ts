import type { Config } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import { type Plan, planOf } from "../engine/plan.ts";
import { type OutputPlan, planOutputs } from "../publish/output-plan.ts";
import { manifestPaths } from "../publish/manifest.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { ProjectOptions } from "./build-options.ts";
import { type GuardLimits, guardLimits } from "./guards/guard.ts";
import { listFiles } from "./list-files.ts";
import type { ListConfig } from "./project.ts";
import { isAddress } from "../sources/location.ts";
import { sourcesPath } from "../sources/published-sources.ts";
import { isListAlone } from "./with-output-target.ts";

/**
 * Everything that the build of one list will do, decided before it reads any source: a pure function of the configuration, the
 * options and the working directory. `build-cache` hashes those three, so an unchanged build needs no plan.
 */
export interface ListPlan {
  /** With `-o FILE`, its configuration has no other outputs. */
  readonly list: ListConfig;
  /** The sources and stages of the list. */
  readonly compile: Plan;
  /** The files of the list; empty for standard output. */
  readonly files: readonly OutputFile[];
  readonly isToStdout: boolean;
  /** Additional formats. */
  readonly outputs: readonly OutputPlan[];
  /** Paths of the manifest and its signature, and of the file of sources. */
  readonly manifest: readonly string[];
  /** The file that says what is published of each remote source; undefined if it is not written. */
  readonly sourcesFile: string | undefined;
  readonly guards: GuardLimits;
  /** Paths of the lists that this one must cover, by name. */
  readonly covers: ReadonlyMap<string, string | undefined>;
}

export function planList(
  list: ListConfig,
  options: ProjectOptions & { readonly compat?: boolean },
  host: Pick<Host, "cwd" | "path">,
): ListPlan {
  const { plugins } = list;
  const config = isListAlone(options, host) ? withoutRelease(list.config) : list.config;
  const isToStdout = options.output === "-";
  const files = listFiles(config.name, options, host);
  const isAlone = isToStdout || isListAlone(options, host) || options.compat === true;
  const hasRemote = config.sources.some(({ source }) => isAddress(source));
  const sourcesFile = isAlone || !hasRemote ? undefined : files[0] && sourcesPath(files[0].path);
  const release = manifestPaths(config, options.rulesDir, host);
  const manifest = sourcesFile === undefined ? release : [...release, sourcesFile];
  const taken = [...files.map(({ path }) => path), ...manifest];
  const compile = planOf(config, plugins, options.compat);
  return {
    list: { ...list, config },
    compile,
    files,
    isToStdout,
    outputs: planOutputs(config, { folder: options.rulesDir, host, taken, plugins }),
    manifest,
    sourcesFile,
    guards: guardLimits(config),
    covers: new Map(list.covers.map((name) => [name, listFiles(name, options, host)[0]?.path])),
  };
}

/** The settings of a list that is written alone: without other files, and without a header that announces patches. */
function withoutRelease({
  outputs: _outputs,
  manifest: _manifest,
  patches: _patches,
  ...config
}: Config): Config {
  return config;
}
