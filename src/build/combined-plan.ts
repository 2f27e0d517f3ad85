import type { CombinedConfig } from "../config/config.ts";
import { listsOf } from "../config/lists.ts";
import { listShape } from "../engine/list-shape.ts";
import type { CombinedFile } from "../formats/combined/combined-format.ts";
import { combinedFormats } from "../formats/combined/registry.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { Host } from "../host/host.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { ProjectOptions } from "./build-options.ts";
import { planList } from "./list-plan.ts";
import type { Project } from "./project.ts";
import { isListAlone } from "./with-output-target.ts";

/** A list of a combined file: where it is published, and what its rules are like. */
export interface CombinedList {
  readonly name: string;
  readonly path: string;
  readonly shape: ListShape;
}

/** A file over several lists, decided before anything is read. Saved plans contain it, so it is plain data. */
export interface CombinedPlan {
  readonly config: CombinedConfig;
  /** The configured file, for users. */
  readonly name: string;
  /** The files of the format, in the order in which they are published. */
  readonly files: readonly (OutputFile & Omit<CombinedFile, "ending">)[];
  /** In the order of the configuration. */
  readonly lists: readonly CombinedList[];
}

/** Plans the `combined` files of a configuration. With `-o FILE`, the lists are elsewhere, and nothing is combined. */
export function planCombined(
  { config, plugins, ...project }: Project,
  options: ProjectOptions & { readonly compat?: boolean },
  host: Pick<Host, "cwd" | "path">,
): CombinedPlan[] {
  const { combined = [], lists: listed = [] } = config;
  const { rulesDir } = options;
  if (combined.length === 0 || isListAlone(options, host)) return [];
  const lists = new Map(listsOf(config).map((one) => [one.config.name, one]));
  const planOf = (name: string): CombinedList => {
    const list = { ...lists.get(name)!, project: { config, plugins, ...project }, plugins };
    const { files, compile } = planList(list, options, host);
    return { name, path: files[0]!.path, shape: listShape(compile, []) };
  };
  return combined.map((entry) => {
    const { file: written } = entry;
    const name = host.path.isAbsolute(written) ? written : host.path.join(rulesDir, written);
    const files = combinedFormats.get(entry.format)!.files;
    return {
      config: entry,
      name,
      files: files.map(({ ending, ...own }) => ({
        name: `${name}${ending}`,
        path: host.path.resolve(host.cwd, `${name}${ending}`),
        ...own,
      })),
      lists: (entry.lists ?? listed.map((list) => list.name)).map(planOf),
    };
  });
}
