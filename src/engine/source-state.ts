import { isDecisions } from "../config/decisions.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { countText, timestampText, printable, reasonOf, someOf } from "../diagnostics/text.ts";
import type { FeedSettings } from "../feeds/feed.ts";
import type { HostError } from "../host/host.ts";
import type { FailedState, SourceState } from "../sources/acquire.ts";
import { digestOf } from "../sources/copies.ts";
import type { KeyFiles } from "../sources/fetch-text.ts";
import { EndedError, GONE_HINT, type NetworkWatch, UnpublishedError } from "../sources/limits.ts";
import type { EngineOptions, SourceOptions } from "./compile-options.ts";
import type { PlannedSource } from "./plan.ts";

/** What a reader found beside the states. */
interface Findings {
  readonly states: readonly SourceState[];
  readonly diagnostics: readonly Diagnostic[];
  readonly failures: readonly Diagnostic[];
}

/** Decides what becomes of sources and files of names that cannot be read, and what to tell about them. */
export class SourceConditions {
  /** The labels of those that the list is made without. */
  readonly leftOut: string[] = [];
  private readonly noted: NamedState[] = [];
  private readonly found: Findings;
  private readonly options: EngineOptions;
  private readonly network: NetworkWatch;
  private sources: readonly PlannedSource[] = [];

  constructor(found: Findings, options: EngineOptions, network: NetworkWatch) {
    this.found = found;
    this.options = options;
    this.network = network;
  }

  /** What the user demands stops the list; anything else is left out. */
  mayLeaveOut({ isRequired }: SourceOptions, error: CompilerError): boolean {
    if (error instanceof UnpublishedError) return true;
    const { diagnostics } = error;
    const isLocked = diagnostics.some(({ code }) => code.startsWith("lock-"));
    const { compat, signal, fromPublished } = this.options;
    return (
      !isRequired &&
      !isLocked &&
      fromPublished !== true &&
      compat !== true &&
      signal?.aborted !== true
    );
  }

  /** Call it when all sources have their states. */
  noteSources(sources: readonly PlannedSource[]): void {
    this.sources = sources;
    for (const source of sources) this.note(source, this.found.states[source.index]);
  }

  note(
    { label, isRequired }: Pick<SourceOptions, "label" | "isRequired">,
    state: SourceState | undefined,
  ): void {
    if (state === undefined) return;
    this.noted.push({ label: printable(label), state, isRequired });
    if (state.kind === "dropped") this.leftOut.push(printable(label));
  }

  /** The labels of all of them. */
  get named(): ReadonlySet<string> {
    const labels = [...this.sources, ...this.noted].map(({ label }) => printable(label));
    return new Set(labels);
  }

  /** What to tell about all of them. */
  get diagnostics(): Diagnostic[] {
    return stateWarnings(this.noted, this.network);
  }

  /** The sources that cannot be read and have no copy. A copy that ended on its day does not count. */
  get unread(): readonly { readonly label: string; readonly source: string }[] {
    return this.sources
      .filter(({ index }) => {
        const state = this.found.states[index];
        return state?.kind === "dropped" && state.until === undefined;
      })
      .map(({ label, shown }) => ({ label: printable(label), source: shown }));
  }

  /** Throws a `CompilerError` if so many sources are left out that there is no list. `hasList` if one is published already. */
  refuseMissing(hasList: boolean): void {
    const { found } = this;
    // Decisions are the user's own, and not half of a list.
    const sources = this.sources.filter((source) => !isDecisions(source));
    const gone = sources.flatMap(({ index, label, isRequired }): NamedState[] => {
      const state = found.states[index];
      return state?.kind === "dropped" ? [{ label: printable(label), state, isRequired }] : [];
    });
    const isEnough = hasList ? gone.length < sources.length : gone.length * 2 <= sources.length;
    if (gone.length === 0 || isEnough || this.options.anyMayFail === true) return;
    if (found.failures.length > 0) return;
    if (this.options.fromPublished === true)
      throw new CompilerError(gone.flatMap(({ state }) => ("causes" in state ? state.causes : [])));
    const { network } = this;
    const { diagnostics } = missingError(gone, sources.length, { hasList, network });
    throw new CompilerError([...found.diagnostics, ...diagnostics]);
  }
}

export function droppedState(error: CompilerError): FailedState {
  const until = error instanceof EndedError ? error.until : undefined;
  return { kind: "dropped", until, causes: error.diagnostics };
}

/** A source or a file of names, and how it was obtained. */
interface NamedState {
  readonly label: string;
  readonly state: SourceState;
  /** Whether nothing is published without it. */
  readonly isRequired: boolean;
}

/** What to tell about sources that are replaced by a copy or left out: one line for all if no server answered. */
function stateWarnings(
  states: readonly NamedState[],
  { isDown }: Pick<NetworkWatch, "isDown">,
): Diagnostic[] {
  const asked = states.filter(({ state }) => state.kind === "offline");
  const failed = states.filter(({ state }) => isUnread(state));
  const others = states.filter(({ state }) => state.kind === "held");
  const note: Diagnostic[] = asked.length === 0 ? [] : [offlineNote(asked)];
  const none = isDown && failed.length > 1 ? [unansweredWarning(failed)] : [];
  const kept = [...others.flatMap(heldWarning), ...states.flatMap(mirrorWarning)];
  return [...note, ...none, ...failed.map(unreadWarning), ...kept];
}

type Unread = Extract<SourceState, { readonly kind: "stale" | "dropped" }>;

function isUnread(state: SourceState): state is Unread {
  return state.kind === "stale" || (state.kind === "dropped" && !isUnpublished(state));
}

/** Whether the build from the published texts lacks it as the published list does, so that there is nothing to tell. */
function isUnpublished({ causes }: Pick<Unread, "causes">): boolean {
  return causes.every(({ code }) => code === "published-text-lost");
}

function offlineNote(states: readonly NamedState[]): Diagnostic {
  const message = `offline: ${countText(states.length, "cached copy", "cached copies")}, ${oldestText(states)}`;
  return { code: "offline-copies", severity: "note", message, subject: "offline" };
}

/** The age of the oldest copy. */
function oldestText(states: readonly NamedState[]): string {
  const timestamps = states.flatMap(({ state }) => ("goodAt" in state ? [state.goodAt] : []));
  const from = timestampText(Math.min(...timestamps));
  return timestamps.length === 1 ? `from ${from}` : `oldest from ${from}`;
}

/** One line instead of one for each source: the network is down. */
function unansweredWarning(states: readonly NamedState[]): Diagnostic {
  const copies = states.filter(({ state }) => state.kind === "stale");
  const gone = states.filter(({ state }) => state.kind === "dropped").map(({ label }) => label);
  const ends = copies.flatMap(({ state }) => (state.kind === "stale" ? [state.until] : []));
  const parts = [
    ...(copies.length === 0
      ? []
      : [
          `using ${countText(copies.length, "cached copy", "cached copies")}, ${oldestText(copies)}, until ${dayText(Math.min(...ends))} at least`,
        ]),
    ...(gone.length === 0 ? [] : [`left out: ${someOf(gone)}`]),
  ];
  const { hint } = codeEntry("no-answer");
  const message = `No server answered; ${parts.join("; ")}`;
  return warningOf("no-answer", message, { hint, subject: "network" });
}

function mirrorWarning({ label, state }: NamedState): Diagnostic[] {
  if (state.kind !== "fetched" || state.mirrorSince === undefined) return [];
  const message = `${label} has come from a mirror since ${dayText(state.mirrorSince)}`;
  return [warningOf("mirror-only", message, { subject: label })];
}

function unreadWarning({ label, state, isRequired }: NamedState): Diagnostic {
  const { causes, until } = state as Unread;
  const hint = causes.find(hasOwnRemedy)?.hint;
  if (causes.every(({ code }) => code === "offline-copies")) {
    const message = `${label} is left out: it has no cached copy, and --offline is set`;
    return warningOf("source-dropped", message, {
      subject: label,
      hint: codeEntry("offline-copies").hint,
    });
  }
  const why = { cause: causeText(causes), subject: label, ...(hint !== undefined && { hint }) };
  if (state.kind === "stale") {
    const used = `using cached copy from ${timestampText(state.goodAt)} until ${dayText(until!)}, then ${isRequired ? "nothing is published" : "it is left out"}`;
    const end = new Date(until!).toISOString();
    return warningOf("source-stale", `${label} failed; ${used}`, { ...why, until: end });
  }
  if (differs(causes)) {
    const message = `${label} differs too much and is left out: its published text is not in the cache`;
    return warningOf("source-dropped", message, { ...why, hint: acceptHint(causes) });
  }
  const copy =
    until === undefined ? "there is no copy" : `its copy was used until ${dayText(until)}`;
  return warningOf("source-dropped", `${label} failed and is left out; ${copy}`, why);
}

/** Whether its hint says more than that of its code. A private address is refused by every run, unless the user allows it. */
function hasOwnRemedy({ code, hint }: Diagnostic): boolean {
  return hint !== undefined && (code === "private-address" || hint !== codeEntry(code).hint);
}

function isFetch({ code }: Diagnostic): boolean {
  return code === "fetch-failed" || code === "fetch-timeout";
}

function heldWarning({ label, state }: NamedState): Diagnostic[] {
  if (state.kind !== "held") return [];
  const message = `${label} differs too much; its text of ${timestampText(state.goodAt)} stays until ${timestampText(state.until)} if the change lasts`;
  const hint = acceptHint(state.causes);
  const cause = causeText(state.causes);
  const until = new Date(state.until).toISOString();
  return [warningOf("source-held", message, { cause, subject: label, until, hint })];
}

const LIMITS = new Set(["source-shrunk", "source-grown", "source-replaced", "names-freed"]);

/** Whether a source could be read, but exceeds its limits. */
function differs(causes: readonly Diagnostic[]): boolean {
  return causes.every(({ code }) => LIMITS.has(code));
}

function acceptHint(causes: readonly Diagnostic[]): string {
  const codes = causes.map(({ code }) => `--accept ${code}`).join(" ");
  return `Check the source; if the change is intended, run once with ${codes}`;
}

function causeText(causes: readonly Diagnostic[]): string {
  return causes
    .filter(({ code }) => code !== "copy-too-old")
    .map((one) => [one.message, one.cause].filter(Boolean).join(": "))
    .join("; ");
}

/** A day as people read it. */
function dayText(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 10);
}

/** The error for a list that would miss too many sources. It names each of them, and the remedy once. */
function missingError(
  states: readonly NamedState[],
  sources: number,
  {
    hasList,
    network,
  }: { readonly hasList: boolean; readonly network: Pick<NetworkWatch, "isDown"> },
): CompilerError {
  const names = states.map(({ label }) => label);
  const written = hasList ? "The published list stays" : "Nothing was written";
  const message = `${written}: ${states.length} of ${countText(sources, "source")} cannot be read`;
  if (network.isDown && states.length > 1) {
    const cause = `no server answered: ${someOf(names)}`;
    const hint = "Check the network and the proxy settings, then run again";
    const first = errorOf("no-answer", `Failed to fetch ${countText(states.length, "source")}`, {
      cause,
      hint,
    });
    return new CompilerError([{ ...first, message: `${message}: ${first.message}` }]);
  }
  const causesOf = ({ state }: NamedState): readonly Diagnostic[] =>
    "causes" in state ? state.causes : [];
  // The message of the only source says it all.
  if (sources === 1) return new CompilerError(states.flatMap(causesOf));
  const causes = states.flatMap((named) =>
    causesOf(named).map((one) => {
      const { hint, ...rest } = one;
      // The last error has the remedy for all of them.
      const isOwn = hint !== GONE_HINT && (hasOwnRemedy(one) || !isFetch(one));
      const text = withLabel(one.message, named.label);
      return { ...rest, message: text, ...(isOwn && hint !== undefined && { hint }) };
    }),
  );
  return new CompilerError([...causes, errorOf("sources-missing", `${message}: ${someOf(names)}`)]);
}

/** A message that names the source as the configuration does. */
function withLabel(message: string, label: string): string {
  return message.includes(label) ? message : `${message} (${label})`;
}

/** The note about it in the list's header. */
export function stateNote(state: SourceState | undefined): string | undefined {
  if (state?.kind === "stale" || state?.kind === "offline")
    return `Using cached copy from ${timestampText(state.goodAt)}: source unavailable`;
  if (state?.kind === "held")
    return `Using its text of ${timestampText(state.goodAt)}: source differs too much`;
  if (state?.kind !== "dropped") return undefined;
  return `Left out: source ${differs(state.causes) ? "differs too much" : "unavailable"}`;
}

/** The warning about a cache folder that cannot be written to. */
export function storeWarning({ code, message }: HostError, folder: string): Diagnostic {
  return warningOf("cache-unusable", `Cannot write to the cache folder ${printable(folder)}`, {
    cause: reasonOf(code, message),
    subject: printable(folder),
  });
}

/** What a file of names is for. */
export type FileRole = "allow" | "exclusions" | "inclusions" | "protect" | "ranks" | "known";

/** What decides which lines a URL gives. */
interface SourceSettings {
  readonly feed?: FeedSettings | undefined;
  readonly member?: string | undefined;
  readonly keyFiles?: KeyFiles | undefined;
  /** Public keys, one of which must have signed it. A copy that was stored without them is not a copy of it. */
  readonly signers?: readonly string[] | undefined;
}

/** The name of a source in the store, the lock and the record: one URL may give several texts. */
export function storeKeyOf(address: string, wish: SourceSettings): string {
  const { feed, member, keyFiles, signers } = wish;
  const hasKeys = Object.values(keyFiles ?? {}).some((file) => file !== undefined);
  const signed = signers && { signers: signers.toSorted() };
  const all = [feed, member, hasKeys ? keyFiles : undefined, signed];
  const reading = all.filter((one) => one !== undefined);
  return reading.length === 0 ? address : `${address} ${JSON.stringify(reading)}`;
}

/** The name of a source or of a file of names in the ledger: a digest, because URLs may contain secrets. */
export async function ledgerKeyOf(
  source: SourceSettings & { readonly source: string; readonly role?: FileRole | undefined },
): Promise<string> {
  const { role } = source;
  const key = storeKeyOf(source.source, source);
  return (await digestOf(role === undefined ? key : `${role} ${key}`)).slice(0, 32);
}
