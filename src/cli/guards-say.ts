import type { CompiledList } from "../engine/compile.ts";
import { guardLimits } from "../build/guards/guard.ts";
import { guardList } from "../build/guards/registry.ts";
import { readLastPublish } from "../build/last-publish.ts";
import type { Config } from "../config/fields.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./flags/options.ts";

/** What the guards say of a list that is to take the place of the one at a path: errors refuse it, warnings do not. */
export async function guardsSay(
  config: Config,
  { report, findings }: CompiledList,
  path: string | undefined,
  { accept, compat }: Pick<Options, "accept" | "compat">,
  host: Host,
): Promise<{ refused: Diagnostic[]; warnings: Diagnostic[] }> {
  if (compat) return { refused: [], warnings: [] };
  const last = path === undefined ? undefined : await readLastPublish(path, host);
  const said = guardList({ report, findings, limits: guardLimits(config), last }, accept);
  return {
    refused: said.filter(({ severity }) => severity === "error"),
    warnings: said.filter(({ severity }) => severity !== "error"),
  };
}
