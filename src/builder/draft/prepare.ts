import type { CompileReport } from "../../documents/facts.ts";
import { HASH_SEED } from "../../bytes/hash.ts";
import { ByteBuffer, BytesEnd } from "../../bytes/text.ts";
import type { Config } from "../../config/lists.ts";
import { Exit, codeEntry } from "../../diagnostics/codes.ts";
import { type Diagnostic, errorOf, warningOf } from "../../diagnostics/render.ts";
import { countText, timestampText, printable, someOf } from "../../diagnostics/text.ts";
import { VERSION } from "../../diagnostics/version.ts";
import type { EngineOptions } from "../../engine/compile-options.ts";
import { Compilation } from "../../engine/compile.ts";
import type { CompiledList } from "../../engine/report.ts";
import { feedOf } from "../../engine/plan.ts";
import { isFlawless } from "../../engine/report.ts";
import { storeKeyOf } from "../../engine/source-state.ts";
import { foreignFormats } from "../../formats/readers/registry.ts";
import { canaryOf, publishedCanary } from "../../publish/list-file.ts";
import { lastPatch, patchLines } from "../../publish/patches.ts";
import {
  FATE_NAMES,
  RECORD_VERSION,
  type RecordHeader,
  type RecordedFile,
} from "../../record/build-record.ts";
import { buildOf } from "../../syntax/host-name.ts";
import { type BuildContext, type ListOutcome, phase } from "../build.ts";
import { askedNames } from "../guards/breaks-traffic.ts";
import { type UnreadSource, mostLost, namesLost } from "../guards/names-lost.ts";
import { type GuardVerdict, checkGuards } from "../guards/registry.ts";
import { type ListPlan, outsideNote } from "../plan/list-plan.ts";
import type { BuildSession, QueueSlot } from "../session.ts";
import {
  type CachedBuild,
  type FoundHold,
  exhaustedBuild,
  heldWarning,
  readLastPublish,
} from "../state/list-state.ts";
import { LockSession } from "./lockfile.ts";
import { exceptionsIn, publishedRules } from "./recorded-names.ts";

/** Receives a list while it is compiled. */
export interface DraftSink {
  write(bytes: Uint8Array): void;
  /** Receives the frames of the build record, if one is written. */
  writeRecord?: ((bytes: Uint8Array) => void) | undefined;
  /** Receives the rules for other formats, if there are any. */
  readonly names?: EngineOptions["names"];
}

/** A compiled list with the verdict of the guards. It can be published or discarded. */
export interface Draft extends GuardVerdict {
  readonly plan: ListPlan;
  readonly compiled: CompiledList;
  readonly lock: LockSession;
  /** Warnings about lists that it must cover. They are part of the build result. */
  readonly coverWarnings: readonly Diagnostic[];
  readonly canary: string | undefined;
  /** Whether it would be the first list, and lacks something that cannot be read. */
  readonly isIncomplete: boolean;
}

export interface PrepareOptions {
  /** The last build. If the list would be the same, it is not compiled. */
  readonly cached?: CachedBuild | undefined;
  readonly slot?: QueueSlot | undefined;
  /** Called with warnings as soon as they are known, because the draft may fail later. */
  readonly onFound?: (diagnostics: readonly Diagnostic[]) => void;
  /** Whether sources may be on private networks, because the user entered their URLs directly. */
  readonly allowPrivate?: boolean;
  /** Whether a list may be made however many sources are left out. */
  readonly anyMayFail?: boolean;
  /** Called when there is something to compile. */
  readonly onFetched?: () => Promise<void>;
}

/** Fetches and compiles a list, then checks the guards. Undefined if the cached build has the same result. */
export async function prepare(
  plan: ListPlan,
  session: BuildSession,
  sink: DraftSink,
  more: PrepareOptions = {},
): Promise<Draft | undefined> {
  const { signal, covers, options } = session;
  const isAccepted = options.accept.includes("names-lost") || options.compat;
  const lock = await LockSession.open(plan.list, session);
  await more.slot?.acquire();
  const covered = covers.buffer();
  let text = covered ?? (plan.guards.breaksTraffic && new ByteBuffer());
  const path = plan.files[0]?.path;
  const last = path === undefined ? undefined : await readLastPublish(path, session.host);
  const hasList = path !== undefined && (await session.host.exists(path));
  let unread: readonly UnreadSource[] = [];
  let most: number | undefined;
  const end = new BytesEnd();
  const withText: DraftSink = {
    ...sink,
    write: (bytes) => {
      sink.write(bytes);
      end.push(bytes);
      text?.append(bytes, 0, bytes.length);
    },
  };
  const compiled = await phase(
    "compile",
    session,
    async () =>
      await compile(plan, session, withText, {
        ...more,
        lock,
        onFetched: async (compilation) => {
          ({ unread } = compilation.reader.conditions);
          most = isAccepted || !hasList ? undefined : mostLost(unread, last);
          if (most !== undefined) text ??= new ByteBuffer();
          await more.onFetched?.();
        },
      }),
    (result) => result && countText(result.report.rules, "rule"),
  );
  more.slot?.release();
  if (compiled === undefined) return undefined;
  // Compiling blocks the event loop. This handles signals that arrived meanwhile, before anything is published.
  await new Promise((turned) => setTimeout(turned, 0));
  signal.throwIfAborted();
  const hasOthers = session.plans.length > 1;
  // A shared allow entry need not match a rule in every list.
  more.onFound?.([
    ...compiled.diagnostics.filter(({ code }) => !hasOthers || code !== "allow-unused"),
    ...outsideNote(plan, session.host),
  ]);
  await lock.check(compiled);
  const guards = await phase(
    "guards",
    session,
    () => checkGuards(plan, compiled, session, { last, text: text?.view() }),
    verdictText,
  );
  const cover =
    covered === undefined
      ? { violations: [], warnings: [] }
      : await covers.check(plan, covered.view());
  const canary = canaryOf(end.bytes);
  const unproved = await unprovedBuild(plan, canary, session);
  const lost =
    most === undefined || path === undefined || text === undefined
      ? []
      : await namesLost(unread, most, await session.host.readFile(path), text.view());
  const violations = [...guards.violations, ...lost, ...cover.violations, ...unproved];
  const isIncomplete = !hasList && compiled.leftOut.length > 0;
  const warnings = [
    ...guards.warnings,
    ...(isIncomplete && violations.length === 0 ? [incompleteWarning(compiled.leftOut)] : []),
  ];
  more.onFound?.([...warnings, ...cover.warnings]);
  if (violations.length === 0 && covered !== undefined) covers.add(plan, covered.view());
  const coverWarnings = cover.warnings;
  return { plan, compiled, lock, violations, warnings, coverWarnings, canary, isIncomplete };
}

interface CompileWork extends Omit<PrepareOptions, "onFetched"> {
  readonly lock: LockSession;
  /** Called before the first byte. */
  readonly onFetched: (compilation: Compilation) => Promise<void>;
}

async function compile(
  plan: ListPlan,
  session: BuildSession,
  sink: DraftSink,
  { lock, cached, allowPrivate, anyMayFail, onFetched }: CompileWork,
): Promise<CompiledList | undefined> {
  const { options, host, signal, emit } = session;
  const { config, project } = plan.list;
  const paths = plan.files.map(({ path }) => path);
  const builtAt = lock.builtAt ?? session.builtAt;
  const last = config.patches === undefined ? undefined : await lastPatch(paths, host);
  emit({ kind: "reading", sources: config.sources.length, lists: session.plans.length });
  const compilation = new Compilation(plan.compile, host, (bytes) => sink.write(bytes), {
    configFolder: project.folder,
    signal,
    memory: options.memory,
    cacheDir: options.cacheDir,
    ledger: await session.ledger(),
    listsWith: (file) => session.listsWith(file),
    offline: options.offline,
    fromPublished: options.decided !== undefined,
    lock: lock.sources,
    builtAt,
    headerLines: patchLines(config, builtAt, last),
    shared: session.sources,
    accept: options.accept,
    compat: options.compat,
    allowPrivate: allowPrivate === true || options.inputs.length > 0,
    anyMayFail,
    record: sink.writeRecord,
    names: sink.names,
    logs: (all) => session.logs(all),
    onProgress: (event) => emit({ kind: "progress", event }),
  });
  try {
    await compilation.fetch();
    if (cached !== undefined && cached.web === compilation.web) {
      compilation.close();
      return undefined;
    }
    const published = await publishedRules(plan, session);
    const { path } = published;
    compilation.reader.conditions.refuseMissing(path !== undefined);
    await onFetched(compilation);
    if (path === undefined) return await compilation.compile();
    return await compilation.compile({
      ...published,
      exceptions: () => exceptionsIn(path, host),
      asked: await askedNames(plan, session),
    });
  } catch (error) {
    compilation.close();
    throw error;
  } finally {
    emit({ kind: "read" });
  }
}

/** What was written, and the remedy, once for all that is missing. */
function incompleteWarning(leftOut: readonly string[]): Diagnostic {
  const message = `The first list is written without ${someOf(leftOut)}; no hook runs`;
  const { hint } = codeEntry("list-incomplete");
  return warningOf("list-incomplete", message, { hint });
}

function verdictText({ violations, warnings }: GuardVerdict): string {
  const codes = [...new Set(violations.map(({ code }) => code))];
  if (codes.length > 0) return `refused by ${codes.join(", ")}`;
  return warnings.length === 0 ? "passed" : `passed with ${countText(warnings.length, "warning")}`;
}

/**
 * Holds a build that was rolled back three times in a day because resolvers did not answer from it. Until then, every run tries it
 * again. A list with other rules is published.
 */
export async function unprovedBuild(
  plan: ListPlan,
  canary: string | undefined,
  { options, host }: Pick<BuildContext, "options" | "host">,
): Promise<Diagnostic[]> {
  const path = plan.files[0]?.path;
  if (canary === undefined || path === undefined || options.accept.includes("unproved-build"))
    return [];
  const build = buildOf(canary);
  const undone = await exhaustedBuild(path, build, host);
  // It was accepted, and is published.
  if (undone === undefined || (await publishedCanary(path, host)) === canary) return [];
  const name = printable(plan.list.config.name);
  const [first] = undone.times;
  const times = `${undone.times.length} times since ${timestampText(Date.parse(first!))}`;
  const message = `The build ${build} of ${name} was rolled back ${times}; it is tried again a day later`;
  return [errorOf("unproved-build", message, { cause: undone.reason })];
}

/** The header of a build record: the list, its sources, and the files that were read. */
export function recordHeader(config: Config, list: CompiledList, seconds: number): RecordHeader {
  const { report, builtAt } = list;
  const { min_sources: minSources = 1 } = config;
  const ledgers = list.sources.map(
    (one) =>
      list.files.get(storeKeyOf(one.source, one))?.find(({ role }) => role === "ledger")?.sha256,
  );
  return {
    version: RECORD_VERSION,
    tool: VERSION,
    name: report.name,
    builtAt: builtAt.toISOString(),
    seconds,
    rules: report.rules,
    lines: report.lines,
    ...(minSources > 1 && { minSources }),
    bytes: report.bytes,
    hashSeed: HASH_SEED,
    sources: report.sources.map(
      ({ label, source, state, goodAt, lines, kept, dropped, household, licence }, index) => ({
        label,
        source,
        type: config.sources[index]!.type ?? "adblock",
        state,
        ...(goodAt === undefined ? {} : { goodAt }),
        ...(ledgers[index] !== undefined && { ledger: ledgers[index] }),
        lines,
        kept,
        dropped,
        ...(licence !== undefined && { licence }),
        ...(household !== undefined && { household }),
      }),
    ),
    ...(report.decisions && { decisions: report.decisions }),
    files: recordedFiles(config, list),
    fates: FATE_NAMES,
  };
}

function recordedFiles(
  config: Config,
  { rules, inputs, files, sources }: CompiledList,
): RecordedFile[] {
  const stamps = new Map(inputs.map(({ path, stamp }) => [path, stamp?.text]));
  // Two sources may read the same URL in different ways.
  const copies = sources.map((one) => files.get(storeKeyOf(one.source, one)) ?? []);
  return rules.pool.origins.map(({ source, file, place }): RecordedFile => {
    const own = config.sources[source];
    const format = own?.type ?? "adblock";
    const feed = own && feedOf(own);
    const known = {
      source,
      file,
      ...(feed !== undefined ? { feed } : foreignFormats.has(format) ? { format } : {}),
    };
    if (place === undefined) return { ...known, isOwn: true };
    const stamp = stamps.get(place);
    const { member } = own ?? {};
    if (stamp !== undefined)
      return { ...known, path: place, stamp, ...(member !== undefined && { member }) };
    const { sha256, role } = copies[source]?.find(({ key }) => key === place) ?? {};
    if (sha256 === undefined) return known;
    return role === "kept" ? { source, file, sha256, isKept: true } : { ...known, sha256 };
  });
}

/** The result of the cached build, as the outcome of this one. */
export function cachedOutcome(
  cached: CachedBuild & Pick<ListOutcome, "diagnostics">,
  list: string,
  seconds: number,
): ListOutcome {
  const { report, diagnostics, written, names } = cached;
  return {
    list,
    status: "unchanged",
    exit: exitOf(report),
    report,
    diagnostics,
    outputs: written.map((one) => ({ ...one, outcome: "unchanged" as const })),
    files: names,
    seconds,
    isCached: true,
    inputs: [],
  };
}

/** The outcome of a list that stays at an earlier build. */
export function heldOutcome(
  hold: FoundHold,
  held: { readonly list: string; readonly end: string },
  seconds: number,
): ListOutcome {
  const isKnown = hold !== "damaged";
  const written = isKnown ? hold.written : [];
  return {
    list: held.list,
    status: "held",
    exit: Exit.Done,
    ...(isKnown && { report: hold.report }),
    diagnostics: [heldWarning(held, hold)],
    outputs: written.map((one) => ({ ...one, outcome: "unchanged" as const })),
    files: isKnown ? hold.files : [],
    seconds,
    isCached: false,
    inputs: [],
  };
}

/** `Degraded` lets strict callers fail if a list was built without a source or from an old copy. */
export function exitOf(report: CompileReport): Exit {
  return isFlawless(report) ? Exit.Done : Exit.Degraded;
}
