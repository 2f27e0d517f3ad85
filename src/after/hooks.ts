import type { HookEvent, WrittenOutput, HookFile, ResolverState } from "../documents/facts.ts";
import { digestAt } from "../builder/apply-plan.ts";
import { type ListOutcome, isDegraded } from "../builder/build.ts";
import { listFiles } from "../builder/plan/list-plan.ts";
import { Conditions } from "../builder/state/conditions.ts";
import { type OwnedHook, ownedHooks } from "../config/hooks.ts";
import { resolversOf } from "../config/resolvers.ts";
import { Exit, codeEntry } from "../diagnostics/codes.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { durationMs, printable } from "../diagnostics/text.ts";
import { changedRules } from "../explain/list-change.ts";
import { type StateFile, isFlag, isText, mapOf, objectOf, oneOf } from "../host/files.ts";
import type { Host } from "../host/host.ts";
import { PATCH_FOLDER, patchesOf } from "../publish/patches.ts";
import { keptBuilds, listOf, stateOf } from "../record/record-file.ts";
import { lacksProof, lastProofs } from "../resolvers/prove.ts";
import { HookFailure, type ListFacts, messageOf, runHook } from "./hook-actions.ts";
import type { AfterStep, Publication } from "./registry.ts";

/** Runs the hooks that wait for published files: resolvers read their lists again. */
export const reloadStep: AfterStep = {
  name: "reload",
  run: async (publication) => await runHooks(publication, "published"),
};

/** Runs the hooks that wait for a state. */
export const notifyStep: AfterStep = {
  name: "notify",
  run: async (publication) => await runHooks(publication, "state"),
};

/** What hooks run for: files that were published, or states that changed. Resolvers are asked between the two. */
type HookPhase = "published" | "state";

interface Known {
  readonly list: FinishedList;
  readonly state: HookState;
}

const DEFAULT_MS = 60_000;

/** Runs the hooks of a configuration that are due. A hook that fails is a warning, nothing more. */
async function runHooks(publication: Publication, phase: HookPhase): Promise<Publication> {
  const { project, context, outcome } = publication;
  const { host, signal } = context;
  const all = resolversOf(project.config);
  const hooks = ownedHooks(project.config.after ?? [], all);
  if (hooks.length === 0) return publication;
  const resolvers = await lastProofs(publication.lists, context.options, host);
  const known: Known[] = [];
  const keys = await Promise.all(hooks.map(hookKey));
  for (const one of phase === "state" ? publication.states : outcome.lists) {
    // A first list that lacks sources must not replace what a resolver has.
    if (one.isIncomplete === true) continue;
    const list = await finishedList(one, resolvers, publication);
    if (list === undefined) continue;
    const state = await HookState.open(list.path, host);
    state.keepOnly(keys);
    known.push({ list: { ...list, now: await state.complete(list.now) }, state });
  }
  const hooksRun = new HooksRun(known, phase, publication);
  const entries = hooks.map((hook, index) => ({ ...hook, key: keys[index]!, index }));
  const most = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(all.length / 4)));
  await inOrder(entries, most, async (entry) => {
    if (!signal.aborted) await hooksRun.run(entry);
  });
  await hooksRun.end();
  return publication;
}

/** At most a quarter of the resolvers, and not more than these: the others answer while some load a list. */
const MOST_AT_ONCE = 16;

/** One after the other, but hooks of different resolvers at the same time: those of one resolver keep their order. */
async function inOrder(
  entries: readonly HookEntry[],
  most: number,
  run: (entry: HookEntry) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < entries.length;) {
    if (entries[at]!.resolver === undefined) {
      await run(entries[at++]!);
      continue;
    }
    const end = entries.findIndex(({ resolver }, index) => index > at && resolver === undefined);
    const block = entries.slice(at, end === -1 ? undefined : end);
    at += block.length;
    const waiting = [...Map.groupBy(block, ({ resolver }) => resolver!.name).values()];
    const work = async (): Promise<void> => {
      for (let own = waiting.shift(); own !== undefined; own = waiting.shift())
        for (const entry of own) await run(entry);
    };
    await Promise.all(Array.from({ length: most }, work));
  }
}

/** A hook with its position and what identifies it. */
interface HookEntry extends OwnedHook {
  readonly key: string;
  readonly index: number;
}

/** The hooks of one run. */
class HooksRun {
  private readonly known: readonly Known[];
  private readonly phase: HookPhase;
  private readonly publication: Publication;
  private readonly failures = new Map<FinishedList, { at: number; found: Diagnostic }[]>();

  constructor(known: readonly Known[], phase: HookPhase, publication: Publication) {
    this.known = known;
    this.phase = phase;
    this.publication = publication;
  }

  /** Reports failures that earlier runs did not report, and that hooks run again. */
  async end(): Promise<void> {
    const { host, emit } = this.publication.context;
    const finder = this.phase === "published" ? "hooks" : "state-hooks";
    for (const { list } of this.known) {
      const failures = this.failures.get(list) ?? [];
      const diagnostics = failures.toSorted((a, b) => a.at - b.at).map(({ found }) => found);
      for (const diagnostic of await new Conditions(list.path, host).settle({
        finder,
        diagnostics,
      }))
        emit({ kind: "diagnostic", diagnostic });
    }
  }

  /** Runs a hook for every list and event that it does not know yet; a reload once for all of them. */
  async run(entry: HookEntry): Promise<void> {
    const { hook, key, resolver } = entry;
    const due = this.known
      .filter(({ list }) => resolver === undefined || resolver.list === list.outcome.list)
      .map(({ list, state }) => ({ list: ownList(list, entry), state }))
      .map((one) => ({ ...one, events: this.eventsOf(entry, one) }));
    let hasReloaded: boolean | undefined;
    for (const { list, state, events } of due) {
      let isDone = true;
      for (const event of events) {
        if (this.publication.context.signal.aborted) return;
        if (hook.reload === undefined) isDone = (await this.once(entry, event, list)) && isDone;
        else isDone = hasReloaded ??= await this.once(entry, event, list);
      }
      // A hook that failed still does not know, so the next run tries again.
      if (isDone) await state.set(key, this.learned(state.get(key), list.now));
    }
  }

  /** What a hook knows after this phase. */
  private learned(told: Told | undefined, { files, ...states }: Told): Told {
    const { files: known, ...before } = told ?? { health: "good" };
    if (this.phase === "published") return { ...before, ...(files !== undefined && { files }) };
    return { ...states, ...(known !== undefined && { files: known }) };
  }

  private eventsOf({ hook, key, resolver }: HookEntry, { list, state }: Known): HookEvent[] {
    const { phase } = this;
    const { on = ["published"], as, reload } = hook;
    const told = state.get(key);
    const { health } = list.now;
    if (as === "healthchecks")
      return phase === "state" ? [health === "good" ? "published" : health] : [];
    if (phase === "state") return dueStates(told, list.now).filter((event) => on.includes(event));
    const again = this.publication.reloadAgain.get(list.outcome.list);
    const isAgain =
      resolver === undefined
        ? reload !== undefined && again !== undefined
        : again?.has(resolver.name) === true;
    const isDue = isPublishDue(told, list.now) || isAgain;
    return isDue && on.includes("published") ? ["published"] : [];
  }

  private async once(entry: HookEntry, event: HookEvent, list: FinishedList): Promise<boolean> {
    const { project, context } = this.publication;
    const { host, signal, emit } = context;
    const { hook, resolver } = entry;
    const timeoutMs = durationMs(hook.timeout ?? "") ?? DEFAULT_MS;
    const title = `${entry.title}, ${event}, ${printable(list.outcome.list, 80)}`;
    const began = host.now().getTime();
    try {
      const setting = { host, signal, timeoutMs, folder: project.folder };
      const facts = await factsOf(list, host);
      const of = resolver && { resolver: resolver.name, address: resolver.address };
      const printed = await runHook(hook, messageOf(event, { ...facts, ...of }), setting);
      const seconds = ((host.now().getTime() - began) / 1000).toFixed(1);
      const output = printed === "" ? "" : `; it printed: ${printed}`;
      const message = `Hook ran: ${title}, ${seconds} s${output}`;
      emit({ kind: "diagnostic", diagnostic: { code: "hook-ran", severity: "note", message } });
      return true;
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      const { hint } = codeEntry("hook-failed");
      const cause = error.message;
      const found = warningOf("hook-failed", `Hook failed: ${title}`, {
        cause,
        hint,
        subject: entry.title,
      });
      const whole = this.known.find(({ list: { outcome } }) => outcome === list.outcome)!.list;
      this.failures.set(whole, [...(this.failures.get(whole) ?? []), { at: entry.index, found }]);
      return false;
    }
  }
}

/** The list as a hook sees it: one of a resolver hears only of that resolver. */
function ownList(list: FinishedList, { resolver }: HookEntry): FinishedList {
  if (resolver === undefined) return list;
  const unproved = list.unproved.filter((one) => one.resolver === resolver.name);
  const { files } = list.now;
  const now = {
    health: "good",
    ...(unproved.length > 0 && { isUnproved: true }),
    ...(files !== undefined && { files }),
  } as const;
  return { ...list, unproved, now };
}

/** What the last run made of a list. */
export type ListHealth = "good" | "degraded" | "refused" | "failed";

/** What a hook knows about a list: what its last successful run reported. */
export interface Told {
  readonly health: ListHealth;
  /** Whether a resolver does not answer from the list. */
  readonly isUnproved?: boolean;
  /** Identifies the published files; absent if none were published yet. */
  readonly files?: string;
}

/** Whether a hook does not know the published files yet. */
export function isPublishDue(told: Told | undefined, now: Told): boolean {
  return now.files !== undefined && now.files !== told?.files;
}

/** The states that a hook does not know yet. A state is an event when it begins, not in every run. */
export function dueStates(told: Told | undefined, now: Told): HookEvent[] {
  const events = new Set<HookEvent>();
  if (now.health !== "good" && now.health !== told?.health) events.add(now.health);
  if (now.isUnproved === true && told?.isUnproved !== true) events.add("degraded");
  if (told !== undefined && isTrouble(told) && !isTrouble(now)) events.add("recovered");
  return [...events];
}

function isTrouble({ health, isUnproved }: Told): boolean {
  return health !== "good" || isUnproved === true;
}

interface StoredState {
  readonly version: 1;
  /** Identifies the files of the last publish. */
  readonly files?: string;
  /** By the digest of the hook's settings. */
  readonly told: Readonly<Record<string, Told>>;
}

const HEALTHS = new Set<ListHealth>(["good", "degraded", "refused", "failed"]);

/** What each hook knows about one list, stored beside the list. A list on standard output has no such file. */
export class HookState {
  private readonly file: StateFile<StoredState> | undefined;
  private told: Record<string, Told>;
  private files: string | undefined;
  private stored: Promise<void> = Promise.resolve();

  private constructor(file: StateFile<StoredState> | undefined, stored: StoredState | undefined) {
    this.file = file;
    this.told = { ...stored?.told };
    this.files = stored?.files;
  }

  static async open(list: string | undefined, host: Host): Promise<HookState> {
    if (list === undefined) return new HookState(undefined, undefined);
    const file = stateOf(list, "hooks.json", isState, host);
    return new HookState(file, await file.read());
  }

  get(key: string): Told | undefined {
    return Object.hasOwn(this.told, key) ? this.told[key] : undefined;
  }

  /** Completes what a run found. One that published nothing leaves the files of an earlier one, which a hook may not know yet. */
  async complete(now: Told): Promise<Told> {
    const { files = this.files } = now;
    if (files === undefined) return now;
    if (files !== this.files) {
      this.files = files;
      await this.store();
    }
    return { ...now, files };
  }

  /** Stores at once, so that a run that is killed repeats as little as possible. */
  async set(key: string, told: Told): Promise<void> {
    const known = this.get(key);
    if (known !== undefined && isSame(known, told)) return;
    this.told[key] = told;
    await this.store();
  }

  /** Forgets hooks that the configuration no longer has. */
  keepOnly(keys: readonly string[]): void {
    this.told = Object.fromEntries(Object.entries(this.told).filter(([key]) => keys.includes(key)));
  }

  /** One after the other: hooks end at the same time, and an older state must not replace a newer one. */
  private async store(): Promise<void> {
    this.stored = this.stored.then(async () => {
      const { told, files } = this;
      await this.file?.tryReplace({ version: 1, ...(files !== undefined && { files }), told }, 1);
    });
    await this.stored;
  }
}

/** Identifies a hook by its settings and its resolver. Secrets are in files, and not part of it. */
async function hookKey({ hook, resolver }: OwnedHook): Promise<string> {
  const of = resolver === undefined ? "" : JSON.stringify([resolver.list, resolver.name]);
  return await shortDigest(JSON.stringify(hook) + of);
}

async function shortDigest(text: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function isSame(one: Told, other: Told): boolean {
  const { isUnproved = false } = one;
  const isKnown = one.health === other.health && one.files === other.files;
  return isKnown && isUnproved === (other.isUnproved ?? false);
}

const isState = objectOf<StoredState>(
  {
    version: oneOf([1]),
    told: mapOf(
      objectOf<Told>(
        { health: (value) => HEALTHS.has(value as Told["health"]) },
        { files: isText, isUnproved: isFlag },
      ),
    ),
  },
  { files: isText },
);

/** A list after a build, as hooks see it. */
interface FinishedList {
  readonly outcome: ListOutcome;
  /** The list file; undefined if the list goes to standard output. */
  readonly path: string | undefined;
  /** Its files and those over several lists, as absolute paths; patches are a folder. */
  readonly files: readonly string[];
  readonly now: Told;
  /** The resolvers that do not answer from it. */
  readonly unproved: readonly ResolverState[];
}

/** Comparing larger lists would take too much memory. */
const MOST_COMPARED = 64 * 1024 * 1024;

/** Undefined if another run builds the list: that run has its own hooks. */
async function finishedList(
  outcome: ListOutcome,
  resolvers: readonly ResolverState[],
  { context: { options, host }, outcome: { combined = [] } }: Publication,
): Promise<FinishedList | undefined> {
  if (outcome.exit === Exit.Locked) return undefined;
  const [list] = listFiles(outcome.list, options, host);
  const pathsOf = (outputs: readonly WrittenOutput[]): string[] =>
    outputs.flatMap(({ file, files }) => files ?? [file]).map(absolute);
  const absolute = (name: string): string => host.path.resolve(host.cwd, name);
  const written = pathsOf(outcome.outputs);
  const files = new Set([...written, ...pathsOf(combined), ...outcome.files.map(absolute)]);
  const stamps: string[] = [];
  // A manifest is new in every run.
  for (const file of written) stamps.push(`${file} ${(await host.stampOf(file))?.text}`);
  const health = healthOf(outcome);
  const isPublished = health === "good" || health === "degraded";
  const isNew = list === undefined && outcome.status === "published";
  const known = stamps.length > 0 || isNew;
  const unproved = resolvers.filter((one) => one.list === outcome.list && lacksProof(one));
  const now = {
    health,
    ...(unproved.length > 0 && { isUnproved: true }),
    ...(isPublished && known && { files: await shortDigest(stamps.join("\n")) }),
  };
  return { outcome, path: list?.path, files: [...files], now, unproved };
}

function healthOf({ status, report }: ListOutcome): ListHealth {
  if (status === "refused" || status === "failed") return status;
  return report?.degraded === true ? "degraded" : "good";
}

/** What a message contains about a list. It reads the list, so it is made only for a hook that runs. */
async function factsOf(list: FinishedList, host: Host): Promise<ListFacts> {
  const { outcome, path, unproved } = list;
  const { report, diagnostics, status } = outcome;
  const isPublished = status === "published" || status === "unchanged";
  const build = path === undefined ? undefined : await digestAt(path, host);
  const sources = report?.sources.filter(({ state }) => isDegraded(state)) ?? [];
  return {
    list: outcome.list,
    at: host.now().toISOString(),
    ...(path !== undefined && { output: path }),
    files: await publishedFiles(list, host),
    ...(build && { build: build.slice(0, 16) }),
    ...(isPublished && report && { rules: report.rules }),
    ...(isPublished && path !== undefined && (await changeOf(path, host))),
    degraded: sources.map(({ label }) => label),
    unproved: unproved.map(({ resolver, outcome: state }) => ({ resolver, outcome: state! })),
    news: diagnostics
      .filter(({ news, severity }) => news === true && severity !== "error")
      .map(({ code, message }) => ({ code, message })),
    problems: isPublished ? [] : diagnostics.map(({ code, message }) => ({ code, message })),
  };
}

/** The files that exist, with those of the folder of patches. */
async function publishedFiles(list: FinishedList, host: Host): Promise<HookFile[]> {
  const files: HookFile[] = [];
  for (const path of list.files) {
    const isFolder = host.path.basename(path) === PATCH_FOLDER;
    const names = isFolder ? await patchesOf(list.outcome.list, path, host) : [""];
    for (const name of names) {
      const one = host.path.join(path, name);
      const sha256 = await digestAt(one, host);
      if (sha256 !== null) files.push({ path: one, bytes: await host.sizeOf(one), sha256 });
    }
  }
  return files;
}

/** How many rules the last two builds differ by; empty if they are not both kept. */
async function changeOf(
  path: string,
  host: Host,
): Promise<{ readonly added?: number; readonly removed?: number }> {
  const [last, before] = (await keptBuilds(path, host)).toReversed();
  if (last === undefined || before === undefined) return {};
  if ((await host.sizeOf(path)) > MOST_COMPARED) return {};
  const old = await listOf(before, host);
  const fresh = await listOf(last, host);
  if (old === undefined || fresh === undefined) return {};
  const { added, removed } = changedRules(old, fresh);
  return { added: added.length, removed: removed.length };
}
