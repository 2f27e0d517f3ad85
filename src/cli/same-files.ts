import { artifactPlans, plannedFiles } from "../publish/artifact-plan.ts";
import { manifestPaths } from "../publish/manifest.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import type { ListInPlace } from "./config-of.ts";
import { listFiles } from "./list-files.ts";
import type { Options } from "./flags/options.ts";
import { isFolderName } from "./output-place.ts";

/** Lists are written to files of their own. Throws a `CompilerError` where they are not. */
export function refuseSameFiles(lists: readonly ListInPlace[], options: Options, host: Host): void {
  const { output } = options;
  if (output !== undefined && !isFolderName(output, host) && lists.length > 1)
    throw new CompilerError([
      errorOf(
        "several-lists",
        `-o names one file, and the configuration makes ${countText(lists.length, "list")}`,
      ),
    ]);
  const owners = new Map<string, string>();
  for (const { config, plugins } of lists) {
    const paths = [
      ...listFiles(config.name, options, host).map(({ path }) => path),
      ...manifestPaths(config, options.rulesDir, host),
      ...artifactPlans(config, options.rulesDir, host, [], plugins)
        .flatMap(plannedFiles)
        .map(({ path }) => path),
    ];
    for (const path of paths) {
      const owner = owners.get(path);
      if (owner !== undefined && owner !== config.name)
        throw new CompilerError([
          errorOf(
            "same-file",
            `${printable(owner)} and ${printable(config.name)} would both be written to ${printable(path)}`,
          ),
        ]);
      owners.set(path, config.name);
    }
  }
}
