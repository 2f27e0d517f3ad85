import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { releasePaths } from "../publish/manifest.ts";
import { plannedFiles } from "../publish/output-plan.ts";
import type { BuildContext } from "./build-context.ts";
import type { BuildOptions } from "./build-options.ts";
import { planCombined } from "./combined-plan.ts";
import { inputPaths } from "./input-paths.ts";
import { type ListPlan, planList } from "./list-plan.ts";
import { refuseForeignList } from "./foreign-list.ts";
import { refusePlaces, wantedFiles } from "./refuse-places.ts";
import { isFolderName, isListAlone } from "./with-output-target.ts";
import type { ListConfig } from "./project.ts";

/**
 * Plans lists that are built together. Rejects with a `CompilerError` if two of them write the same file, one overwrites what it is
 * made from or the list of another configuration, or one writes where it must not.
 */
export async function planLists(
  lists: readonly ListConfig[],
  options: BuildOptions,
  host: Host,
): Promise<ListPlan[]> {
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
  const combined = first === undefined ? [] : planCombined(first.project, options, host);
  for (const { name, files } of combined)
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
  await refusePlaces(wantedFiles(plans, combined), options, host, first?.project.locate);
  for (const plan of plans) await refuseForeignList(plan, options, host);
  return plans;
}

/** Says how many files of the release are not written, if the list is written alone. */
export function noteListAlone(
  lists: readonly ListConfig[],
  { options, host, emit }: Pick<BuildContext, "options" | "host" | "emit">,
): void {
  const [first] = lists;
  if (first === undefined || !isListAlone(options, host)) return;
  const all = { ...options, output: undefined };
  const others = [
    ...lists.flatMap((list) => planList(list, all, host).outputs.flatMap(plannedFiles)),
    ...lists.flatMap(({ config }) => releasePaths(config, options.rulesDir, host)),
    ...planCombined(first.project, all, host).flatMap(({ files }) => files),
  ];
  const count = others.length;
  if (count === 0) return;
  const message = `${countText(count, "other file")} of the configuration ${count === 1 ? "is" : "are"} not written: -o ${printable(options.output!, 80)} is for the list alone`;
  emit({ kind: "diagnostic", diagnostic: { ...errorOf("list-alone", message), severity: "note" } });
}

function overwrites(name: string, path: string): CompilerError {
  const message = `${printable(name)} would overwrite ${printable(path)}, which it is made from`;
  return new CompilerError([errorOf("overwrites-input", message)]);
}

function pathsOf({ files, manifest, outputs }: ListPlan): string[] {
  const further = outputs.flatMap(plannedFiles);
  return [...[...files, ...further].map(({ path }) => path), ...manifest];
}
