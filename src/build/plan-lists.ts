import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { plannedFiles } from "../publish/output-plan.ts";
import type { BuildOptions } from "./build-options.ts";
import { planCombined } from "./combined-plan.ts";
import { inputPaths } from "./input-paths.ts";
import { type ListPlan, planList } from "./list-plan.ts";
import { isFolderName } from "./with-output-target.ts";
import type { ListConfig } from "./project.ts";

/** Plans lists that are built together. Throws a `CompilerError` if two of them write the same file, or one overwrites what it is made from. */
export function planLists(
  lists: readonly ListConfig[],
  options: BuildOptions,
  host: Host,
): ListPlan[] {
  const { output } = options;
  if (output !== undefined && !isFolderName(output, host) && lists.length > 1)
    throw new CompilerError([
      errorOf(
        "several-lists",
        `-o names one file, but the configuration has ${countText(lists.length, "list")}`,
      ),
    ]);
  const plans = lists.map((list) => planList(list, options, host));
  const owners = new Map<string, string>();
  for (const plan of plans) {
    const { name } = plan.list.config;
    const inputs = inputPaths(plan.list, host);
    for (const path of pathsOf(plan)) {
      if (inputs.has(path)) throw overwrites(name, path);
      const owner = owners.get(path);
      if (owner !== undefined && owner !== name)
        throw new CompilerError([
          errorOf(
            "same-file",
            `${printable(owner)} and ${printable(name)} would both be written to ${printable(path)}`,
          ),
        ]);
      owners.set(path, name);
    }
  }
  const [first] = lists;
  for (const { name, files } of first === undefined
    ? []
    : planCombined(first.project, options, host))
    for (const { path } of files) {
      if (lists.some((list) => inputPaths(list, host).has(path))) throw overwrites(name, path);
      const owner = owners.get(path);
      if (owner !== undefined)
        throw new CompilerError([
          errorOf(
            "same-file",
            `${printable(owner)} and the combined file ${printable(name)} would both be written to ${printable(path)}`,
          ),
        ]);
      owners.set(path, name);
    }
  return plans;
}

function overwrites(name: string, path: string): CompilerError {
  const message = `${printable(name)} would overwrite ${printable(path)}, which it is made from`;
  return new CompilerError([errorOf("overwrites-input", message)]);
}

function pathsOf({ files, manifest, outputs }: ListPlan): string[] {
  const further = outputs.flatMap(plannedFiles);
  return [...[...files, ...further].map(({ path }) => path), ...manifest];
}
