import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Config } from "../config/config.ts";
import { listsOf } from "../config/lists.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { buildTime } from "../engine/build-time.ts";
import { compileList } from "../engine/compile-list.ts";
import type { CompiledList } from "../engine/compiled-list.ts";
import type { CompileOptions } from "../engine/compile-options.ts";
import { NO_PLUGINS } from "../engine/plugins.ts";
import type { Host } from "../host/host.ts";
import { patchLines } from "../publish/patches.ts";
import { collectCopies } from "../sources/collect-copies.ts";
import { projectOf } from "./project.ts";

export interface CompiledInMemory extends CompiledList {
  /** The bytes of the list file. */
  readonly bytes: Uint8Array;
}

export interface InMemoryOptions extends CompileOptions {
  /** The name of the list to compile, for a configuration with `lists`. Its cover is not checked. */
  readonly list?: string | undefined;
}

/** Compiles one list of a configuration without writing files. Rejects with a `CompilerError`. */
export async function compileInMemory(
  config: Config,
  { list: wanted, ...options }: InMemoryOptions,
  host: Host,
): Promise<CompiledInMemory> {
  const { plugins: modules = [] } = config;
  if (modules.length > 0 && options.plugins === undefined)
    throw new CompilerError([
      errorOf("plugins-off", `The configuration has plugins: ${someOf(modules)}`, {
        hint: "Plugins are programs; if you trust them, pass them: compile(config, { plugins })",
      }),
    ]);
  const project = projectOf(config, options.plugins ?? NO_PLUGINS, host);
  const list = wantedList(project.config, wanted);
  const bytes = new ByteBuffer();
  const builtAt = options.builtAt ?? buildTime(host);
  const result = await compileList(
    list,
    host,
    (chunk) => void bytes.append(chunk, 0, chunk.length),
    { ...options, builtAt, headerLines: patchLines(list, builtAt) },
  );
  if (options.cacheDir !== undefined) await collectCopies(options.cacheDir, host);
  const diagnostics = [...project.warnings, ...result.diagnostics];
  return { ...result, bytes: bytes.view(), diagnostics };
}

function wantedList(config: Config, wanted: string | undefined): Config {
  if (wanted === undefined && config.lists === undefined) return config;
  const lists = listsOf(config).map((one) => one.config);
  const found = lists.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const names = someOf(lists.map(({ name }) => name));
  throw new CompilerError([
    wanted === undefined
      ? errorOf("several-lists", `The configuration has ${lists.length} lists: ${names}`, {
          hint: "Name one of them: compile(config, { list })",
        })
      : errorOf("unknown-list", `The configuration has no list ${printable(wanted, 60)}`, {
          hint: `Lists: ${names}`,
        }),
  ]);
}
