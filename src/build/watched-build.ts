import { CompilerError } from "../diagnostics/diagnostic.ts";
import { isAddress } from "../sources/location.ts";
import type { BuildContext } from "./build-context.ts";
import { buildList } from "./build-list.ts";
import { type BuildOutcome, type ListOutcome, statusOf } from "./build-outcome.ts";
import { writeCombined } from "./combined-outputs.ts";
import { planCombined } from "./combined-plan.ts";
import { noteListAlone, planLists } from "./plan-lists.ts";
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
    const now = await this.stampsOf(Object.keys(this.known));
    return Object.keys(this.known).filter((path) => now[path] !== this.known[path]);
  }

  close(): void {
    this.session?.close();
  }

  /** Builds all lists after these files changed. A list that fails does not stop the others. */
  async run(changed: readonly string[]): Promise<BuildOutcome> {
    const { host, signal, emit } = this.context;
    const started = host.now().getTime();
    const lists: ListOutcome[] = [];
    let status: BuildOutcome["status"] = "interrupted";
    try {
      // Stamp the files before reading them, so that later changes are detected.
      await this.note(changed);
      if (changed.includes(this.configPath)) await this.open();
      this.session?.invalidate(changed);
      for (const plan of this.session?.plans ?? []) {
        const outcome = await buildList(plan, this.session!, {});
        for (const { path, stamp } of outcome.inputs) this.known[path] = stamp?.text ?? "";
        lists.push(outcome);
        emit({ kind: "list-done", outcome, lists: this.session!.plans.length });
      }
      const project = this.session?.plans[0]?.list.project;
      if (project !== undefined)
        await writeCombined(planCombined(project, this.context.options, host), this.context);
      status = statusOf(lists);
    } catch (error) {
      if (!signal.aborted && !(error instanceof CompilerError)) throw error;
      if (error instanceof CompilerError && !signal.aborted) {
        for (const diagnostic of error.diagnostics) emit({ kind: "diagnostic", diagnostic });
        status = "failed";
      }
    }
    return { status, lists, seconds: (host.now().getTime() - started) / 1000 };
  }

  private async note(paths: readonly string[]): Promise<void> {
    Object.assign(this.known, await this.stampsOf(paths));
  }

  /** The stamp of each file, by path; "" for a missing file. */
  private async stampsOf(paths: readonly string[]): Promise<Record<string, string>> {
    const { host } = this.context;
    const stamps = paths.map(async (path) => [path, (await host.stampOf(path))?.text ?? ""]);
    return Object.fromEntries(await Promise.all(stamps)) as Record<string, string>;
  }

  private async open(): Promise<void> {
    const { options, host } = this.context;
    const { project, lists } = await openProject(options, host);
    noteListAlone(lists, this.context);
    const plans = await planLists(lists, options, host);
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
