import type { CompiledList } from "../compile/compile.ts";
import { KnownList } from "../compile/compile-options.ts";
import type { LastBuild, LastBuilds } from "../compile/last-build.ts";
import { artifactPlans } from "../compile/artifact-plan.ts";
import { recordHeader } from "../compile/record-header.ts";
import { scratchOf } from "../compile/scratch.ts";
import { Exit } from "../diagnostics/codes.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { manifestPaths } from "../compile/manifest.ts";
import { NameSpool } from "../formats/name-spool.ts";
import type { Host } from "../host/host.ts";
import { compileWithProgress } from "./compile-with-progress.ts";
import { type ConfigInPlace, configOf } from "./config-of.ts";
import { listFiles } from "./list-files.ts";
import { LockInPlace, saveLock } from "./lock-in-place.ts";
import type { Options } from "./options.ts";
import { Outputs } from "./outputs.ts";
import { publishList } from "./publish-list.ts";
import { refusalsOf } from "./refusals-of.ts";
import { sayAgain } from "./say-again.ts";
import { sayResult } from "./say-result.ts";
import type { Talk } from "./talk.ts";

/** Reads the sources, compiles the list and writes it. */
export async function runCompile(
  options: Options,
  builds: LastBuilds | undefined,
  last: LastBuild | undefined,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<Exit> {
  const started = host.now().getTime();
  const configured = await configOf(options, host, talk);
  const { config } = configured;
  const lock = await LockInPlace.open(configured, options, host);
  const isToStdout = options.output === "-";
  const files = listFiles(configured.config.name, options, host);
  const { rulesFolder } = options;
  const taken = [...files.map(({ path }) => path), ...manifestPaths(config, rulesFolder, host.cwd)];
  const plans = isToStdout ? [] : artifactPlans(config, rulesFolder, host.cwd, taken);
  const spool = plans.length === 0 ? undefined : new NameSpool(() => scratchOf(host));
  const outputs = new Outputs(files, { ...options, isToStdout }, host);
  try {
    await outputs.open();
    const isKnown = (web: string | undefined): boolean =>
      last !== undefined && web !== undefined && web === last.web;
    const sinks = {
      list: (bytes: Uint8Array): void => outputs.write(bytes),
      record: outputs.keepsRecord
        ? (bytes: Uint8Array): void => outputs.writeRecord(bytes)
        : undefined,
      spool,
    };
    const result = await compileWithProgress(
      configured,
      sinks,
      { ...options, ...lock.wish, isKnown },
      host,
      talk,
      signal,
    );
    // Compiling leaves no room for signals; one that came meanwhile is heard here, before anything is published.
    await new Promise((turned) => setTimeout(turned, 0));
    signal.throwIfAborted();
    for (const diagnostic of result.diagnostics) talk.diagnostic(diagnostic);
    await lock.check(result);
    await refuseOrAccept(configured, result, outputs, options, host);
    const publication = {
      config,
      artifacts: plans,
      spool,
      isMinimal: result.isMinimal,
      builtAt: result.builtAt,
      sources: result.report.sources.map(({ label }) => label),
      configFolder: configured.folder,
      rulesFolder: options.rulesFolder,
    };
    const { written, files: published } = await publishList(outputs, publication, host);
    const seconds = (host.now().getTime() - started) / 1000;
    await outputs.remember(result.report, recordHeader(configured.config, result, seconds));
    await saveLock(configured.folder, await lock.renewed(result), host, talk);
    const diagnostics = [...configured.warnings, ...result.diagnostics];
    // A manifest expires: it is made anew every time.
    if (!outputs.isToStdout && config.manifest === undefined)
      await builds?.remember({ ...result, diagnostics }, result, published);
    await sayResult(result, written, seconds, outputs.lastByte, options, host, talk);
    return options.isStrict && result.report.degraded ? Exit.Degraded : Exit.Done;
  } catch (error) {
    if (error instanceof KnownList && last !== undefined)
      return await sayAgain(last, started, options, host, talk);
    throw error;
  } finally {
    spool?.close();
    await outputs.close();
  }
}

/** Throws when a guard refuses the list. */
async function refuseOrAccept(
  { config }: ConfigInPlace,
  list: CompiledList,
  outputs: Outputs,
  options: Options,
  host: Host,
): Promise<void> {
  const refused = await refusalsOf(config, list, outputs.written[0]?.path, options, host);
  if (refused.length > 0) throw new CompilerError(refused);
}
