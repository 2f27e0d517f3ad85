import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { Host } from "../host/host.ts";
import { type Plugins, pluginsOf } from "../engine/plugins.ts";

/** Loads the modules that a configuration names, if the options allow it. Rejects with a `CompilerError`. */
export async function loadPlugins(
  files: readonly string[],
  folder: string,
  isAllowed: boolean,
  host: Host,
): Promise<Plugins> {
  if (!isAllowed || host.importModule === undefined)
    throw new CompilerError([
      errorOf("plugins-off", `The configuration has plugins: ${someOf(files)}`),
    ]);
  const modules: { file: string; module: unknown }[] = [];
  for (const file of files) {
    try {
      modules.push({ file, module: await host.importModule(host.path.resolve(folder, file)) });
    } catch (error) {
      const cause = printable(error instanceof Error ? error.message : String(error), 300);
      throw new CompilerError([
        errorOf("plugin-bad", `${printable(file)} cannot be loaded`, { cause }),
      ]);
    }
  }
  return pluginsOf(modules);
}
