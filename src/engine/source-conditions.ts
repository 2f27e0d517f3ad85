import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { SourceState } from "../sources/source-state.ts";
import { EndedError } from "../sources/source-error.ts";
import type { NetworkWatch } from "../sources/network-watch.ts";
import type { CompileOptions } from "./compile-options.ts";
import type { PlannedSource } from "./plan.ts";
import type { SourceOptions } from "./source-options.ts";
import { type NamedState, missingError, stateWarnings } from "./state-text.ts";

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
  private readonly options: CompileOptions;
  private readonly network: NetworkWatch;
  private sources: readonly PlannedSource[] = [];

  constructor(found: Findings, options: CompileOptions, network: NetworkWatch) {
    this.found = found;
    this.options = options;
    this.network = network;
  }

  /** What the user demands stops the list; anything else is left out. */
  mayLeaveOut({ isRequired }: SourceOptions, { diagnostics }: CompilerError): boolean {
    const isLocked = diagnostics.some(({ code }) => code.startsWith("lock-"));
    const { compat, signal } = this.options;
    return !isRequired && !isLocked && compat !== true && signal?.aborted !== true;
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
    const { sources, found } = this;
    const gone = sources.flatMap(({ index, label, isRequired }): NamedState[] => {
      const state = found.states[index];
      return state?.kind === "dropped" ? [{ label: printable(label), state, isRequired }] : [];
    });
    const isEnough = hasList ? gone.length < sources.length : gone.length * 2 <= sources.length;
    if (gone.length === 0 || isEnough || this.options.anyMayFail === true) return;
    if (found.failures.length > 0) return;
    const { network } = this;
    const { diagnostics } = missingError(gone, sources.length, { hasList, network });
    throw new CompilerError([...found.diagnostics, ...diagnostics]);
  }
}

export function droppedState(error: CompilerError): SourceState {
  const until = error instanceof EndedError ? error.until : undefined;
  return { kind: "dropped", until, causes: error.diagnostics };
}
