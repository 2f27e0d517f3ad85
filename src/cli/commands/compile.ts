import { decodeUtf8 } from "../../bytes/utf8.ts";
import { LastBuilds } from "../../build/last-build.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { type Host, HostError } from "../../host/host.ts";
import { endOnSignals } from "../interruption.ts";
import type { Options } from "../flags/options.ts";
import { sayAgain } from "../output/say-again.ts";
import type { Command } from "./registry.ts";

/** Compiles the list, unless the last build is known and would come out the same. */
export const compileCommand: Command = async (options, host, talk, signal) => {
  const started = host.now().getTime();
  if (options.inputs.length > 0 && options.output === undefined) {
    const hint = "Add -o list.txt, or -o - for standard output";
    throw new CompilerError([
      errorOf("unknown-flag", "-i needs -o: where the list is to be written", { hint }),
    ]);
  }
  const { cacheDir, configPath } = options;
  talk.debug(`cache: ${cacheDir === undefined ? "off" : printable(cacheDir)}`);
  // A lock is written from a build, and a frozen build is one.
  const isLocking = options.frozen || options.update !== undefined;
  const buildsOf = async (list?: string): Promise<LastBuilds | undefined> =>
    isLocking ? undefined : await lastBuilds(list, options, host);
  const builds = await buildsOf();
  // Whether there is a list of that name is for the configuration to say.
  const last = options.args.values.has("filter") ? undefined : await builds?.recall();
  // Nothing is from the web, and all files are as they were.
  if (last?.web === "") {
    talk.debug(`configuration: ${printable(host.path.resolve(host.cwd, configPath))}, as it was`);
    return await sayAgain(last, started, options, host, talk);
  }
  // The compiler, and the thread that hears signals while it computes, are loaded only when there is something to compile.
  endOnSignals(host, talk);
  const { listsInPlace } = await import("../config-of.ts");
  const lists = await listsInPlace(options, host, talk);
  try {
    if (lists[0]!.whole.lists !== undefined) {
      const { runLists } = await import("../run-lists.ts");
      return await runLists(lists, buildsOf, options, host, talk, signal);
    }
    const { runCompile } = await import("../run-compile.ts");
    return await runCompile(lists[0]!, undefined, options, builds, last, host, talk, signal);
  } finally {
    if (cacheDir !== undefined && !signal.aborted) {
      const { collectCopies } = await import("../../sources/collect-copies.ts");
      await collectCopies(cacheDir, host);
    }
  }
};

/** What is known of earlier builds of the same thing. Without a folder, or a configuration to read, nothing is. */
async function lastBuilds(
  list: string | undefined,
  options: Options,
  host: Host,
): Promise<LastBuilds | undefined> {
  const { cacheDir, configPath, inputs, inputType, output, writesToRules, rulesDir } = options;
  if (cacheDir === undefined) return undefined;
  try {
    const isQuick = inputs.length > 0;
    const path = host.path.resolve(host.cwd, configPath);
    const config = isQuick ? { inputs, inputType } : decodeUtf8(await host.readFile(path));
    const epoch = host.env["SOURCE_DATE_EPOCH"];
    const { cwd } = host;
    // What is accepted is asked for once more, although nothing else has changed.
    const { compat, accept } = options;
    const parts = {
      cwd,
      path,
      config,
      list,
      output,
      writesToRules,
      rulesDir,
      epoch,
      compat,
      accept,
    };
    return await LastBuilds.of(host.path.resolve(host.cwd, cacheDir), JSON.stringify(parts), host);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
