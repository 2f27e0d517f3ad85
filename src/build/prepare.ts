import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { countText } from "../diagnostics/number-text.ts";
import { Compilation } from "../engine/compile.ts";
import type { CompiledList } from "../engine/compiled-list.ts";
import type { CompileOptions } from "../engine/compile-options.ts";
import { lastPatch, patchLines } from "../publish/patches.ts";
import { phase } from "./build-context.ts";
import { askedNames } from "./guards/breaks-traffic.ts";
import { type Verdict, checkGuards } from "./guards/check-guards.ts";
import { type UnreadSource, mostLost, namesLost } from "./guards/names-lost.ts";
import { unprovedBuild } from "./guards/unproved-build.ts";
import { ListEnd } from "./list-canary.ts";
import type { ListPlan } from "./list-plan.ts";
import { LockSession } from "./lock-session.ts";
import type { QueueSlot } from "./ordered-queue.ts";
import { outsideNote } from "./outside-files.ts";
import { exceptionsIn, publishedRules } from "./published-rules.ts";
import type { BuildSession } from "./session.ts";
import type { CachedBuild } from "./state/build-cache.ts";
import { readLastPublish } from "./state/last-publish.ts";

/** Receives a list while it is compiled. */
export interface DraftSink {
  write(bytes: Uint8Array): void;
  /** Receives the frames of the build record, if one is written. */
  writeRecord?: ((bytes: Uint8Array) => void) | undefined;
  /** Receives the rules for other formats, if there are any. */
  readonly names?: CompileOptions["names"];
}

/** A compiled list with the verdict of the guards. It can be published or discarded. */
export interface Draft extends Verdict {
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
  /** Whether sources may be on private networks, because the user entered their addresses directly. */
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
  const end = new ListEnd();
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
  const unproved = await unprovedBuild(plan, end.canary, session);
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
  const { canary } = end;
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
      exceptions: compilation.limitsExceptions ? await exceptionsIn(path, host) : undefined,
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

function verdictText({ violations, warnings }: Verdict): string {
  const codes = [...new Set(violations.map(({ code }) => code))];
  if (codes.length > 0) return `refused by ${codes.join(", ")}`;
  return warnings.length === 0 ? "passed" : `passed with ${countText(warnings.length, "warning")}`;
}
