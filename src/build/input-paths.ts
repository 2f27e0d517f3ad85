import { allEntryFiles } from "../engine/plan.ts";
import type { Host } from "../host/host.ts";
import { candidatePaths, isAddress } from "../sources/location.ts";
import { type ListConfig, configPath } from "./project.ts";

/** The local files that a list is made from: the configuration, its sources and its files of entries. */
export function inputPaths({ project, config }: ListConfig, host: Host): Set<string> {
  const { folder } = project;
  const own = configPath(project, host);
  const all = [...config.sources, ...allEntryFiles(config)].map(({ source }) => source);
  const local = all.filter((one) => !isAddress(one));
  return new Set([
    ...(own === undefined ? [] : [own]),
    ...local.flatMap((one) => candidatePaths(one, folder, host)),
  ]);
}
