import type { Config } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import { Compilation } from "./compile.ts";
import type { CompileOptions } from "./compile-options.ts";
import type { CompiledList } from "./compiled-list.ts";
import type { ByteSink } from "./output-stage.ts";
import { planOf } from "./plan.ts";

/**
 * Reads every source, compiles the list and passes its bytes to `sink`. Each piece is valid until the next call. Rejects with
 * a `CompilerError` if a source fails; the sink's output is then incomplete.
 */
export async function compileList(
  config: Config,
  host: Host,
  sink: ByteSink,
  options: CompileOptions = {},
): Promise<CompiledList> {
  const plan = planOf(config, options.plugins, options.compat);
  const compilation = new Compilation(plan, host, sink, options);
  try {
    await compilation.fetch();
    compilation.reader.conditions.refuseMissing(false);
    return await compilation.compile();
  } catch (error) {
    compilation.close();
    throw error;
  }
}
