import { buildTime } from "../engine/build-time.ts";
import { type CompiledList, compileList } from "../engine/compile.ts";
import type { CompileOptions } from "../engine/compile-options.ts";
import type { Host } from "../host/host.ts";
import { patchLines } from "../publish/patches.ts";
import type { ConfigInPlace } from "./config-of.ts";
import type { Options } from "./flags/options.ts";
import { ProgressLines } from "./output/progress-lines.ts";
import type { Talk } from "./output/talk.ts";

/** Where the bytes of a compile go. */
export interface Sinks {
  list(bytes: Uint8Array): void;
  /** Frames of the build record, if there is to be one. */
  readonly record?: ((bytes: Uint8Array) => void) | undefined;
  /** Rules for other formats, if there are to be any. */
  readonly spool?: CompileOptions["spool"];
}

/** Compiles as the options say, and shows how far it is. */
export async function compileWithProgress(
  { config, folder, plugins }: ConfigInPlace,
  sinks: Sinks,
  options: Options &
    Pick<
      CompileOptions,
      "isKnown" | "locked" | "builtAt" | "shared" | "allowPrivate" | "published"
    > & { readonly lastPatch?: number | undefined },
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompiledList> {
  const progress = new ProgressLines(
    host,
    talk,
    config.sources.length,
    options.isOneOfMany === true,
  );
  const builtAt = options.builtAt ?? buildTime(host);
  try {
    return await compileList(config, host, (bytes) => sinks.list(bytes), {
      configFolder: folder,
      signal,
      memory: options.memory,
      cacheDir: options.cacheDir,
      offline: options.offline,
      isKnown: options.isKnown,
      locked: options.locked,
      builtAt,
      headerLines: patchLines(config, builtAt, options.lastPatch),
      shared: options.shared,
      published: options.published,
      plugins,
      accept: options.accept,
      compat: options.compat,
      // Somebody typed these addresses just now.
      allowPrivate: options.allowPrivate === true || options.inputs.length > 0,
      record: sinks.record,
      spool: sinks.spool,
      onProgress: (event) => progress.show(event),
    });
  } finally {
    progress.end();
  }
}
