import type { Config } from "../config/lists.ts";
import { withoutCredentials } from "../diagnostics/text.ts";
import type { Host } from "../host/host.ts";
import type { SourceState } from "../sources/acquire.ts";
import { type CompileOptions, FETCH_DEFAULTS, type SourceOptions } from "./compile-options.ts";
import { Compilation } from "./compile.ts";
import type { CompiledList } from "./list-judges.ts";
import type { ByteSink } from "./output-stage.ts";
import { planOf } from "./plan.ts";
import type { SourceReader } from "./source-reader.ts";

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

/** Shows the text of a source without compiling it. Rejects with a `CompilerError` if neither it nor a copy is readable. */
export async function lookAtSource(
  reader: SourceReader,
  wish: Pick<SourceOptions, "source"> & Partial<SourceOptions>,
  see: (text: Uint8Array) => void,
): Promise<SourceState> {
  const shown = withoutCredentials(wish.source);
  const { list, state } = await reader.open({ ...FETCH_DEFAULTS, shown, label: shown, ...wish });
  try {
    await list.check();
    await list.peek(see);
    return state;
  } finally {
    list.close();
  }
}
