import { nameLists } from "../engine/plan.ts";
import { SourceReader } from "../engine/source-reader.ts";
import type { Host } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { BuildOptions } from "./build-options.ts";
import { openProject } from "./project.ts";

/** Reads the popular names of a configuration, without a network. Rejects with a `CompilerError`. */
export async function readRanks(
  options: BuildOptions,
  host: Host,
): Promise<RankedNames | undefined> {
  const { project } = await openProject({ ...options, filter: [] }, host);
  const reader = new SourceReader(host, {
    configFolder: project.folder,
    cacheDir: options.cacheDir,
    offline: true,
  });
  try {
    return await reader.entries.ranks(nameLists(project.config.ranks));
  } finally {
    reader.close();
  }
}
