import { buildTime } from "../engine/build-time.ts";
import type { LastBuilds } from "../build/last-build.ts";
import type { Lockfile } from "../build/lockfile.ts";
import { type PlannedSource, planOf } from "../engine/plan.ts";
import type { ProgressEvent } from "../engine/progress-event.ts";
import { SharedSources } from "../engine/shared-sources.ts";
import { SourceReader } from "../engine/source-reader.ts";
import { Exit } from "../diagnostics/exit.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import type { ListInPlace } from "./config-of.ts";
import { CoveredLists } from "./covered-lists.ts";
import { LockInPlace, saveLock } from "./lock-in-place.ts";
import type { Options } from "./flags/options.ts";
import { ProgressLines } from "./output/progress-lines.ts";
import { runCompile } from "./run-compile.ts";
import { refuseSameFiles } from "./same-files.ts";
import { sayAgain } from "./output/say-again.ts";
import { sendToOutput } from "./output/send-to-output.ts";
import { isAddress } from "../sources/location.ts";
import type { Talk } from "./output/talk.ts";
import { type Turn, inTurns } from "./turns.ts";

/** Compiles the lists of a configuration, one after the other. One that fails or is refused does not keep the others back. */
export async function runLists(
  lists: readonly ListInPlace[],
  buildsOf: (list: string) => Promise<LastBuilds | undefined>,
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<Exit> {
  const started = host.now().getTime();
  refuseSameFiles(lists, options, host);
  const plans = lists.map(({ config, plugins }) => planOf(config, plugins).sources);
  const sources = new SharedSources(plans, options.memory, host);
  const locks: Lockfile[] = [];
  const covers = new CoveredLists(lists, host);
  const shared = { sources, builtAt: buildTime(host), covers, locks };
  const isOneOfMany = lists.length > 1;
  const reports = new Map<ListInPlace, object>();
  const optionsFor = (list: ListInPlace): Options =>
    isOneOfMany
      ? { ...options, isOneOfMany, onReport: (report) => void reports.set(list, report) }
      : options;
  const ends = new Map<string, Promise<unknown>>();
  const settled = async (names: readonly string[]): Promise<void> =>
    void (await Promise.allSettled(names.flatMap((name) => ends.get(name) ?? [])));
  const runOne = async (list: ListInPlace, turn: Turn): Promise<Exit> => {
    const began = host.now().getTime();
    const own = optionsFor(list);
    const builds = await buildsOf(list.config.name);
    let last = await builds?.recall();
    if (last !== undefined && list.covers.length > 0) {
      // What a list must cover may change in this run although the list does not.
      await settled(list.covers);
      last = await builds?.recall();
    }
    try {
      if (last !== undefined && last.web === webOf(list, sources)) {
        covers.unchanged.add(list.config.name);
        return await sayAgain(last, began, own, host, talk);
      }
      const one = { ...shared, turn, settled };
      return await runCompile(list, one, own, builds, last, host, talk, signal);
    } catch (error) {
      if (!(error instanceof CompilerError) || signal.aborted) throw error;
      for (const diagnostic of error.diagnostics) {
        const message = `${printable(list.config.name)}: ${diagnostic.message}`;
        talk.diagnostic({ ...diagnostic, message });
      }
      const { exit, diagnostics } = error;
      reports.set(list, { ...reports.get(list), name: list.config.name, exit, diagnostics });
      return exit;
    }
  };
  const exits: Exit[] = [];
  try {
    await fetchAhead(lists, plans.flat(), sources, options, host, talk, signal);
    const begin = (list: ListInPlace, turn: Turn): Promise<Exit> => {
      const end = runOne(list, turn);
      ends.set(list.config.name, end);
      return end;
    };
    exits.push(...(await inTurns(lists, begin)));
    const lock = await LockInPlace.open(lists[0]!, options, host, talk);
    await saveLock(lists[0]!.folder, lock.joined(locks), host, talk);
  } finally {
    sources.close();
  }
  if (isOneOfMany && options.json)
    await sendToOutput(
      `${JSON.stringify({ lists: lists.map((one) => reports.get(one)) })}\n`,
      host,
    );
  const seconds = (host.now().getTime() - started) / 1000;
  const failed = exits.filter((exit) => exit !== Exit.Done && exit !== Exit.Degraded).length;
  if (lists.length > 1)
    talk.info(
      `${countText(lists.length, "list")} in ${seconds.toFixed(1)} s${failed === 0 ? "" : `, ${failed} of them not published`}`,
    );
  return (
    exits.find((exit) => exit !== Exit.Done && exit !== Exit.Degraded) ??
    exits.find((exit) => exit !== Exit.Done) ??
    Exit.Done
  );
}

/** What tells everything that a list has from the web from any other state, where that is known before it is compiled. */
function webOf({ config, plugins }: ListInPlace, sources: SharedSources): string | undefined {
  const entries = [config, ...config.sources].flatMap((level) => [
    ...(level.exclusions_sources ?? []),
    ...(level.inclusions_sources ?? []),
  ]);
  const others = [...(config.allow_sources ?? []), ...(config.guards?.protect ?? [])];
  if ([...entries, ...others].some(isAddress)) return undefined;
  return sources.webOf(planOf(config, plugins).sources);
}

/** Fetches what comes from the web, all at a time; lists then find copies. Without a place for those, each fetches its own. */
async function fetchAhead(
  lists: readonly ListInPlace[],
  sources: readonly PlannedSource[],
  shared: SharedSources,
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
): Promise<void> {
  const { cacheDir, offline, accept, compat } = options;
  const remote = [...new Map(sources.map((one) => [one.source, one])).values()].filter(
    ({ source }) => isAddress(source),
  );
  // What is locked is not fetched but looked up, by each list.
  const isLocked = options.frozen || options.update !== undefined;
  if (cacheDir === undefined || remote.length === 0 || isLocked) return;
  const { folder: configFolder } = lists[0]!;
  const progress = new ProgressLines(host, talk, remote.length, true);
  const wish = { cacheDir, offline, accept, compat, configFolder, signal, shared };
  const onProgress = (event: ProgressEvent): void => progress.show(event);
  const reader = new SourceReader(host, { ...wish, onProgress });
  try {
    await reader.fetch(remote.map((source, index) => ({ ...source, index })));
  } finally {
    progress.end();
    reader.close();
  }
}
