import { CompilerError } from "../diagnostics/diagnostic.ts";
import { isAddress } from "../sources/location.ts";
import type { BuildContext } from "./build-context.ts";
import { buildList } from "./build-list.ts";
import { type BuildOutcome, type ListOutcome, statusOf } from "./build-outcome.ts";
import { changedPaths, stampsOf } from "./file-stamps.ts";
import { planLists } from "./plan-lists.ts";
import { openProject } from "./project.ts";
import { BuildSession } from "./session.ts";

/** Builds the same lists repeatedly, and rereads only what changed. */
export class WatchedBuild {
  private readonly context: BuildContext;
  private readonly configPath: string;
  private session: BuildSession | undefined;
  /** Stamps of all files that the lists depend on, from the time they were read. */
  private known: Record<string, string> = {};

  constructor(context: BuildContext) {
    this.context = context;
    this.configPath = context.host.path.resolve(context.host.cwd, context.options.configPath);
  }

  /** Number of watched files. */
  get watched(): number {
    return Object.keys(this.known).length;
  }

  /** The files that changed since they were read. */
  async changed(): Promise<string[]> {
    return await changedPaths(this.known, this.context.host);
  }

  close(): void {
    this.session?.close();
  }

  /** Builds all lists after these files changed. A list that fails does not stop the others. */
  async run(changed: readonly string[]): Promise<BuildOutcome> {
    const { host, signal, emit } = this.context;
    const started = host.now().getTime();
    const outcomes: ListOutcome[] = [];
    try {
      // Stamp the files before reading them, so that later changes are detected.
      await this.note(changed);
      if (changed.includes(this.configPath)) await this.open();
      this.session?.invalidate(changed);
      for (const plan of this.session?.plans ?? []) {
        const outcome = await buildList(plan, this.session!, {});
        for (const { path, stamp } of outcome.inputs) this.known[path] = stamp?.text ?? "";
        outcomes.push(outcome);
        const lists = this.session!.plans.length;
        emit({ kind: "list-done", outcome, lists });
      }
    } catch (error) {
      if (signal.aborted) return this.outcome("interrupted", outcomes, started);
      if (!(error instanceof CompilerError)) throw error;
      for (const diagnostic of error.diagnostics) emit({ kind: "diagnostic", diagnostic });
      return this.outcome("failed", outcomes, started);
    }
    return this.outcome(statusOf(outcomes), outcomes, started);
  }

  private outcome(
    status: BuildOutcome["status"],
    lists: readonly ListOutcome[],
    started: number,
  ): BuildOutcome {
    return { status, lists, seconds: (this.context.host.now().getTime() - started) / 1000 };
  }

  private async note(paths: readonly string[]): Promise<void> {
    Object.assign(this.known, await stampsOf(paths, this.context.host));
  }

  private async open(): Promise<void> {
    const { options, host, emit } = this.context;
    const { project, lists } = await openProject(options, host);
    for (const diagnostic of project.warnings) emit({ kind: "diagnostic", diagnostic });
    const plans = planLists(lists, options, host);
    this.session?.close();
    this.session = new BuildSession(plans, this.context, true);
    this.known = { [this.configPath]: this.known[this.configPath] ?? "" };
    // A source that does not exist yet may be created.
    const local = lists.flatMap(({ config }) =>
      config.sources
        .filter(({ source }) => !isAddress(source))
        .map(({ source }) => host.path.resolve(project.folder, source)),
    );
    await this.note(local);
  }
}
