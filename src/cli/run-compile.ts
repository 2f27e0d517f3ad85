import { type CompiledList, compileList } from "../compile/compile.ts";
import { type CompileOptions, KnownList } from "../compile/compile-options.ts";
import type { LastBuild, LastBuilds } from "../compile/last-build.ts";
import { guardLimits } from "../compile/guards/guard.ts";
import { refusals } from "../compile/guards/registry.ts";
import { recordHeader } from "../compile/record-header.ts";
import { readLastPublish } from "../compile/last-publish.ts";
import { Exit } from "../diagnostics/codes.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import { type ConfigInPlace, configOf } from "./config-of.ts";
import { LockInPlace } from "./lock-in-place.ts";
import type { Options } from "./options.ts";
import { Outputs } from "./outputs.ts";
import { ProgressLines } from "./progress-lines.ts";
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
  const lock = await LockInPlace.open(configured, options, host);
  const outputs = new Outputs(configured.config.name, options, host);
  try {
    await outputs.open();
    const isKnown = (web: string | undefined): boolean =>
      last !== undefined && web !== undefined && web === last.web;
    const result = await compileWithProgress(
      configured,
      outputs,
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
    const written = await outputs.publish();
    const seconds = (host.now().getTime() - started) / 1000;
    await outputs.remember(result.report, recordHeader(configured.config, result, seconds));
    await lock.renew(result).catch((error: unknown) => {
      // The list is out; that it could not be noted down is worth a word, no more.
      if (!(error instanceof CompilerError)) throw error;
      for (const one of error.diagnostics) talk.diagnostic({ ...one, severity: "warning" });
    });
    const diagnostics = [...configured.warnings, ...result.diagnostics];
    if (!outputs.isToStdout)
      await builds?.remember({ ...result, diagnostics }, result, outputs.written);
    await sayResult(result, written, seconds, outputs.lastByte, options, host, talk);
    return options.isStrict && result.report.degraded ? Exit.Degraded : Exit.Done;
  } catch (error) {
    if (error instanceof KnownList && last !== undefined)
      return await sayAgain(last, started, options, host, talk);
    throw error;
  } finally {
    await outputs.close();
  }
}

/** Throws when a guard refuses the list. */
async function refuseOrAccept(
  { config }: ConfigInPlace,
  { report, findings }: CompiledList,
  outputs: Outputs,
  { accepted, isCompatible }: Options,
  host: Host,
): Promise<void> {
  if (isCompatible) return;
  const [first] = outputs.written;
  const last = first === undefined ? undefined : await readLastPublish(first.path, host);
  const limits = guardLimits(config);
  const refused = refusals(findings, { report, limits, last }, accepted);
  if (refused.length > 0) throw new CompilerError(refused);
}

async function compileWithProgress(
  { config, folder }: ConfigInPlace,
  outputs: Outputs,
  options: Options & Pick<CompileOptions, "isKnown" | "locked" | "builtAt">,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<CompiledList> {
  const progress = new ProgressLines(host, talk, config.sources.length);
  try {
    return await compileList(config, host, (bytes) => outputs.write(bytes), {
      configFolder: folder,
      signal,
      memory: options.memory,
      workers: options.workers,
      cacheFolder: options.cacheFolder,
      offline: options.isOffline,
      isKnown: options.isKnown,
      locked: options.locked,
      builtAt: options.builtAt,
      accept: options.accepted,
      compat: options.isCompatible,
      // Somebody typed these addresses just now.
      allowPrivate: options.inputs.length > 0,
      record: outputs.isToStdout ? undefined : (bytes) => outputs.writeRecord(bytes),
      onProgress: (event) => progress.show(event),
    });
  } finally {
    progress.end();
  }
}
