import type { Host } from "../host/host.ts";
import { candidatePaths, isAddress } from "../sources/location.ts";
import type { ListConfig } from "./project.ts";

/** The local files that a list is made from: the configuration, its sources and its files of entries. */
export function inputPaths({ project, config }: ListConfig, host: Host): Set<string> {
  const { folder, file } = project;
  const named = [config, ...config.sources].flatMap((one) => [
    ...(one.exclusions_sources ?? []),
    ...(one.inclusions_sources ?? []),
  ]);
  const sources = config.sources.map(({ source }) => source);
  const local = [...sources, ...named, ...(config.allow_sources ?? [])].filter(
    (one) => !isAddress(one),
  );
  return new Set([
    ...(file === "" ? [] : [host.path.resolve(host.cwd, folder, file)]),
    ...local.flatMap((one) => candidatePaths(one, folder, host)),
  ]);
}
