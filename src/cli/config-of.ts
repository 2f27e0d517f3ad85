import { dirname, resolve } from "node:path";
import { VALIDATION_CONTEXT } from "../compile/validation-context.ts";
import { nodeOfValue } from "../config/config-node.ts";
import type { Config } from "../config/fields.ts";
import { FORMAT_NAMES } from "../config/output-fields.ts";
import { loadConfigFile } from "../config/load.ts";
import { validateConfig } from "../config/validate.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./options.ts";
import type { Talk } from "./talk.ts";

export interface ConfigInPlace {
  readonly config: Config;
  /** Where its relative paths start. */
  readonly folder: string;
  /** What was said about it. */
  readonly warnings: readonly Diagnostic[];
}

/** The configuration that was asked for: a file, or the one that `-i` stands for. Warnings are said on the way. */
export async function configOf(options: Options, host: Host, talk: Talk): Promise<ConfigInPlace> {
  if (options.inputs.length > 0) return quickConfig(options, host);
  talk.debug(`configuration: ${printable(resolve(host.cwd, options.configPath))}`);
  const { config, path, warnings } = await loadConfigFile(
    options.configPath,
    host,
    VALIDATION_CONTEXT,
  );
  for (const warning of warnings) talk.diagnostic(warning);
  return { config, folder: dirname(path), warnings };
}

function quickConfig({ inputs, inputType }: Options, host: Host): ConfigInPlace {
  const value = {
    name: "Blocklist",
    sources: inputs.map((source) => ({ source, type: inputType ?? FORMAT_NAMES[0] })),
    transformations: [
      "RemoveComments",
      "Deduplicate",
      "Compress",
      "Validate",
      "TrimLines",
      "InsertFinalNewLine",
    ],
  };
  const { config, diagnostics } = validateConfig(nodeOfValue(value), VALIDATION_CONTEXT);
  if (config === undefined) throw new CompilerError(diagnostics);
  return { config, folder: host.cwd, warnings: [] };
}
