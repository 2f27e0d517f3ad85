import { buildTime } from "../../engine/build-time.ts";
import { planOf } from "../../engine/plan.ts";
import { SharedSources } from "../../engine/shared-sources.ts";
import { workersOf } from "../../engine/workbench.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import type { Host } from "../../host/host.ts";
import type { InputFile } from "../../sources/source-list.ts";
import { isAddress } from "../../sources/location.ts";
import { type ListInPlace, listsInPlace } from "../config-of.ts";
import { CoveredLists } from "../covered-lists.ts";
import { changedPaths, stampsOf } from "../file-stamps.ts";
import { changedRules, changedRulesText } from "../changed-rules.ts";
import { listFiles } from "../list-files.ts";
import type { Options } from "../flags/options.ts";
import { runCompile } from "../run-compile.ts";
import { refuseSameFiles } from "../same-files.ts";
import type { Talk } from "../output/talk.ts";
import type { Command } from "./registry.ts";

/** How often files are looked at. By their stamps, because not every file system tells when something changes. */
const LOOK_MS = 100;
/** An editor may write a file in several steps. */
const SETTLE_MS = 30;

/** Compiles, and compiles again whenever the configuration or a local file changes, until it is stopped. */
export const watchCommand: Command = async (options, host, talk, signal) => {
  if (options.output === "-")
    throw new CompilerError([errorOf("unknown-flag", "watch writes to a file; leave -o - out")]);
  const watch = new Watch(options, host, talk, signal);
  try {
    await watch.run();
  } finally {
    watch.close();
  }
  return Exit.Done;
};

class Watch {
  private readonly options: Options;
  private readonly host: Host;
  private readonly talk: Talk;
  private readonly signal: AbortSignal;
  private shared: SharedSources | undefined;
  private lists: readonly ListInPlace[] = [];
  /** Everything that lists depend on, as it was when it was read. */
  private known: Record<string, string> = {};
  private readonly texts = new Map<string, Uint8Array>();
  /** Warnings about lists that did not change are not said again. */
  private readonly problems: Talk;

  constructor(options: Options, host: Host, talk: Talk, signal: AbortSignal) {
    this.options = { ...options, isOneOfMany: true };
    this.host = host;
    this.talk = talk;
    this.problems = talk.onlyNew();
    this.signal = signal;
  }

  close(): void {
    this.shared?.close();
  }

  async run(): Promise<void> {
    const { host, signal, options } = this;
    const config = host.path.resolve(host.cwd, options.configPath);
    let changed: readonly string[] = [config];
    while (!signal.aborted) {
      // Before they are read: what changes meanwhile is seen afterwards.
      await this.note(changed);
      this.talk.startOver();
      await this.compile(changed, config);
      const count = Object.keys(this.known).length;
      this.talk.info(this.talk.style.faint(`watching ${count} files`));
      do {
        await host.wait(LOOK_MS, signal);
      } while ((await changedPaths(this.known, host)).length === 0 && !signal.aborted);
      await host.wait(SETTLE_MS, signal);
      changed = await changedPaths(this.known, host);
    }
  }

  private async note(paths: readonly string[]): Promise<void> {
    Object.assign(this.known, await stampsOf(paths, this.host));
  }

  /** Compiles all lists; what did not change is not read again. */
  private async compile(changed: readonly string[], config: string): Promise<void> {
    const began = this.host.now().getTime();
    await this.attempt(async () => {
      if (changed.includes(config)) await this.readConfig();
    });
    for (const path of changed) this.shared?.forget(path);
    for (const list of this.lists)
      await this.attempt(async () => await this.compileOne(list, changed, began));
  }

  /** What is wrong is said, and mended by the next change. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    const { talk, signal } = this;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof CompilerError) || signal.aborted) throw error;
      for (const diagnostic of error.diagnostics) talk.diagnostic(diagnostic);
    }
  }

  private async readConfig(): Promise<void> {
    const { host, talk, options } = this;
    const lists = await listsInPlace(options, host, talk);
    refuseSameFiles(lists, options, host);
    this.lists = lists;
    this.shared?.close();
    const config = host.path.resolve(host.cwd, options.configPath);
    this.known = { [config]: this.known[config] ?? "" };
    // A source that is not there yet may come.
    const local = lists.flatMap((list) =>
      list.config.sources
        .filter(({ source }) => !isAddress(source))
        .map(({ source }) => host.path.resolve(list.folder, source)),
    );
    await this.note(local);
    const plans = this.lists.map((list) => planOf(list.config, list.plugins).sources);
    const workers = workersOf(options.workers, host);
    this.shared = new SharedSources(plans, workers, options.memory, host);
    this.shared.isLasting = true;
  }

  private async compileOne(
    list: ListInPlace,
    changed: readonly string[],
    began: number,
  ): Promise<void> {
    const { host, signal, options } = this;
    const shared = {
      sources: this.shared!,
      builtAt: buildTime(host),
      covers: new CoveredLists(this.lists, host),
      locks: [],
      turn: { come: async () => {}, pass: () => {} },
      onResult: (inputs: readonly InputFile[]) => {
        for (const { path, stamp } of inputs) this.known[path] = stamp?.text ?? "";
      },
      onPublished: async () => await this.show(list, changed, began),
    };
    await runCompile(list, shared, options, undefined, undefined, host, this.problems, signal);
  }

  /** What the list was before, and is now. */
  private async show(list: ListInPlace, changed: readonly string[], began: number): Promise<void> {
    const { host, talk, options } = this;
    const [file] = listFiles(list.config.name, options, host);
    const known = this.texts.get(file!.path);
    const fresh = await host.readFile(file!.path);
    this.texts.set(file!.path, fresh);
    const seconds = (host.now().getTime() - began) / 1000;
    const names = someOf(changed.map((path) => host.path.basename(path)));
    const { style } = talk;
    if (known === undefined) {
      talk.info(
        `${style.good("written")} ${style.strong(printable(file!.name))}, ${seconds.toFixed(2)} s`,
      );
      return;
    }
    const change = changedRules(known, fresh);
    talk.info(
      `${style.strong(printable(file!.name))} after ${names}: ${style.good(`+ ${change.added.length}`)}  ${style.error(`− ${change.removed.length}`)}, ${seconds.toFixed(2)} s`,
    );
    const text = changedRulesText(change, style);
    if (text !== "") talk.info(text);
  }
}
