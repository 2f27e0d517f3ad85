import type { CompiledList } from "../compile/compile.ts";
import { guardLimits } from "../compile/guards/guard.ts";
import { refusals } from "../compile/guards/registry.ts";
import { readLastPublish } from "../compile/last-publish.ts";
import type { Config } from "../config/fields.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./options.ts";

/** Why a list may not be published in place of the one that is at a path; nothing when it may. */
export async function refusalsOf(
  config: Config,
  { report, findings }: CompiledList,
  path: string | undefined,
  { accepted, isCompatible }: Options,
  host: Host,
): Promise<Diagnostic[]> {
  if (isCompatible) return [];
  const last = path === undefined ? undefined : await readLastPublish(path, host);
  return refusals(findings, { report, limits: guardLimits(config), last }, accepted);
}
