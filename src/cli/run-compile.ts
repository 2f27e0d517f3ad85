import type { CompiledList } from "../engine/compile.ts";
import { KnownList } from "../engine/compile-options.ts";
import { guardLimits } from "../build/guards/guard.ts";
import type { LastBuild, LastBuilds } from "../build/last-build.ts";
import type { Lockfile } from "../build/lockfile.ts";
import { artifactPlans, blocksNamesAlone } from "../publish/artifact-plan.ts";
import { lastPatch } from "../publish/patches.ts";
import { publishedExceptions } from "../build/published-exceptions.ts";
import { recordHeader } from "../build/record-header.ts";
import { type CompileReport, isFlawless } from "../engine/report.ts";
import { scratchOf } from "../engine/scratch.ts";
import type { SharedSources } from "../engine/shared-sources.ts";
import { Exit } from "../diagnostics/exit.ts";
import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { manifestPaths } from "../publish/manifest.ts";
import { NameSpool } from "../formats/name-spool.ts";
import type { Host } from "../host/host.ts";
import { needCopies } from "../sources/collect-copies.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { compileWithProgress } from "./compile-with-progress.ts";
import type { ListInPlace } from "./config-of.ts";
import type { CoveredLists } from "./covered-lists.ts";
import { INTERRUPTED_PUBLISHING, endOnSignals } from "./interruption.ts";
import { listFiles } from "./list-files.ts";
import { LockInPlace, saveLock } from "./lock-in-place.ts";
import type { Options } from "./flags/options.ts";
import { Outputs } from "./outputs.ts";
import { publishList } from "./publish-list.ts";
import { guardsSay } from "./guards-say.ts";
import { sayAgain } from "./output/say-again.ts";
import { sayRefused } from "./output/say-refused.ts";
import { sayResult } from "./output/say-result.ts";
import { timedStep } from "./output/step-time.ts";
import type { Talk } from "./output/talk.ts";
import type { Turn } from "./turns.ts";

/** What a list has to do with others that are compiled in the same run. */
export interface SharedRun {
  readonly sources: SharedSources;
  /** The moment in the headers of all lists. */
  readonly builtAt: Date;
  readonly covers: CoveredLists;
  /** What the lists were built from, for one lock when all are done. */
  readonly locks: Lockfile[];
}

/** Reads the sources, compiles the list and writes it. */
export async function runCompile(
  configured: ListInPlace,
  shared:
    | (SharedRun & {
        readonly turn: Turn;
        /** Resolves when these lists of the run are done. */
        readonly settled?: (lists: readonly string[]) => Promise<void>;
        /** Told which local files the list depends on. */
        readonly onResult?: (inputs: CompiledList["inputs"]) => void;
        /** Told when the list is out; what is known of the build is kept afterwards. */
        readonly onPublished?: () => Promise<void>;
      })
    | undefined,
  options: Options,
  builds: LastBuilds | undefined,
  last: LastBuild | undefined,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<Exit> {
  const started = host.now().getTime();
  const { config } = configured;
  // Lists of one run share a lock; a problem with it is reported once.
  const lockTalk = shared === undefined ? talk : undefined;
  const lock = await LockInPlace.open(configured, options, host, lockTalk);
  const isToStdout = options.output === "-";
  const files = listFiles(configured.config.name, options, host);
  const { rulesDir } = options;
  const taken = [...files.map(({ path }) => path), ...manifestPaths(config, rulesDir, host)];
  const plans = isToStdout ? [] : artifactPlans(config, rulesDir, host, taken, configured.plugins);
  const spool =
    plans.length === 0
      ? undefined
      : new NameSpool(() => scratchOf(host), plans.some(blocksNamesAlone));
  const outputs = new Outputs(files, { ...options, isToStdout }, host);
  let report: CompileReport | undefined;
  try {
    await outputs.open();
    const isKnown = (web: string | undefined): boolean =>
      last !== undefined && web !== undefined && web === last.web;
    const text = shared?.covers.buffer();
    const sinks = {
      list: (bytes: Uint8Array): void => {
        outputs.write(bytes);
        text?.append(bytes, 0, bytes.length);
      },
      record: outputs.keepsRecord
        ? (bytes: Uint8Array): void => outputs.writeRecord(bytes)
        : undefined,
      spool,
    };
    await shared?.turn.come();
    const { builtAt, sources } = shared ?? {};
    const paths = files.map(({ path }) => path);
    const editionBefore = config.patches === undefined ? undefined : await lastPatch(paths, host);
    const wish = {
      ...options,
      builtAt,
      shared: sources,
      lastPatch: editionBefore,
      isKnown,
      published: async () => await publishedExceptions(paths[0], host),
    };
    const result = await timedStep(
      "compile",
      talk,
      () => compileWithProgress(configured, sinks, { ...wish, ...lock.wish }, host, talk, signal),
      (compiled) => countText(compiled.report.rules, "rule"),
    );
    ({ report } = result);
    // The rows have gone their way; what did not fit into memory is given back before the next list needs the room.
    result.close();
    shared?.turn.pass();
    shared?.onResult?.(result.inputs);
    // Compiling leaves no room for signals; one that came meanwhile is heard here, before anything is published.
    await new Promise((turned) => setTimeout(turned, 0));
    signal.throwIfAborted();
    for (const diagnostic of result.diagnostics) {
      // What all lists are allowed need not be blocked in each.
      if (options.isOneOfMany === true && diagnostic.code === "allow-unused") continue;
      talk.diagnostic(diagnostic);
    }
    await lock.check(result);
    const path = outputs.written[0]?.path;
    const guards = await timedStep(
      "guards",
      talk,
      () => guardsSay(configured.config, result, path, options, host),
      guardsText,
    );
    for (const warning of guards.warnings) talk.diagnostic(warning);
    if (guards.refused.length > 0) throw new CompilerError(guards.refused);
    const promised: Diagnostic[] = [];
    if (shared !== undefined && text !== undefined) {
      const { refused, warnings } = await shared.covers.refusals(configured, text.view(), options);
      for (const warning of warnings) talk.diagnostic(warning);
      promised.push(...warnings);
      if (refused.length > 0) throw new CompilerError(refused);
      shared.covers.add(configured, text.view());
    }
    const publication = {
      config,
      artifacts: plans,
      spool,
      shape: result.shape,
      accept: options.accept,
      builtAt: result.builtAt,
      timelessHead: result.timelessHead,
      sources: result.report.sources.map(({ label }) => label),
      configFolder: configured.folder,
      rulesDir: options.rulesDir,
    };
    endOnSignals(host, talk, INTERRUPTED_PUBLISHING);
    const {
      written,
      files: published,
      names,
    } = await timedStep(
      "publish",
      talk,
      () => publishList(outputs, publication, host),
      ({ files: all }) => countText(all.length, "file"),
    );
    for (const { file, outcome } of written) talk.debug(`output ${printable(file)}: ${outcome}`);
    const seconds = (host.now().getTime() - started) / 1000;
    await shared?.onPublished?.();
    const header = recordHeader(configured.config, result, seconds);
    await timedStep(
      "record",
      talk,
      () => outputs.remember(result.report, guardLimits(configured.config), header),
      () => (outputs.keepsRecord ? "kept" : "none"),
    );
    await needFiles(result, outputs, options, host);
    const renewed = await lock.renewed(result);
    if (shared === undefined) await saveLock(configured.folder, renewed, host, talk);
    else if (renewed !== undefined) shared.locks.push(renewed);
    const diagnostics = [...configured.warnings, ...result.diagnostics, ...promised];
    // A manifest expires, and modules change without being asked: such lists are made anew every time.
    const isOwnWork = config.plugins !== undefined;
    // A promise that was not looked at is looked at the next time.
    const isPromised = configured.covers.length > 0 && options.accept.includes("not-covered");
    if (!outputs.isToStdout && config.manifest === undefined && !isOwnWork && !isPromised) {
      await shared?.settled?.(configured.covers);
      const others = shared?.covers.paths(configured, options);
      const answer = { report: result.report, diagnostics, written };
      await builds?.remember(answer, result, published, others);
    }
    await sayResult(
      { ...result, files: names },
      written,
      seconds,
      outputs.lastByte,
      options,
      host,
      talk,
    );
    return options.strict && !isFlawless(result.report) ? Exit.Degraded : Exit.Done;
  } catch (error) {
    if (error instanceof KnownList && last !== undefined)
      return await sayAgain(last, started, options, host, talk);
    if (report !== undefined && error instanceof CompilerError && error.exit === Exit.Guard)
      await sayRefused(report, error.diagnostics, options, host, talk);
    throw error;
  } finally {
    spool?.close();
    await outputs.close();
  }
}

function guardsText({ refused, warnings }: Awaited<ReturnType<typeof guardsSay>>): string {
  const codes = [...new Set(refused.map(({ code }) => code))];
  if (codes.length > 0) return `refused by ${codes.join(", ")}`;
  return warnings.length === 0 ? "passed" : `passed with ${countText(warnings.length, "warning")}`;
}

/** What is asked about a list later is answered from the very files that it was made from. */
async function needFiles(
  { files }: CompiledList,
  outputs: Outputs,
  { cacheDir }: Options,
  host: Host,
): Promise<void> {
  const path = outputs.written[0]?.path;
  const objects = [...files.values()].flat().map(({ sha256 }) => sha256);
  if (cacheDir === undefined || path === undefined || objects.length === 0) return;
  await needCopies(cacheDir, { path, objects }, host);
}
