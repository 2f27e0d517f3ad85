import { WatchedBuild, changedRules } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable, someOf } from "../../diagnostics/text.ts";
import type { Host } from "../../host/host.ts";
import type { BuildEvent, OutputFile } from "../../index.ts";
import type { Options } from "../flags/options.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { ChangedLines, changedRulesText } from "../output/change-text.ts";
import type { Reporter } from "../output/reporter.ts";
import type { Command } from "./registry.ts";

/** Builds, then rebuilds whenever the configuration or a local file changes, until a signal stops it. */
export const watchCommand: Command = async (options, host, reporter, signal) => {
  if (options.output === "-")
    throw new CompilerError([errorOf("wrong-usage", "watch needs a file; remove -o -")]);
  const screen = new WatchScreen(options, host, reporter);
  const build = new WatchedBuild({ options, host, signal, emit: screen.show });
  try {
    await build.watch(
      async () => {
        await screen.end();
        reporter.info(reporter.style.faint(`watching ${build.watched} files`));
      },
      (changed) => screen.start(changed),
    );
  } finally {
    build.close();
  }
  return Exit.Done;
};

/** Shows problems, and the changes of each list. */
class WatchScreen {
  private readonly host: Host;
  private readonly reporter: Reporter;
  /** Shows only warnings and errors. */
  private readonly problems: Reporter;
  private readonly build: BuildScreen;
  private readonly texts = new Map<string, Uint8Array>();
  private changed: readonly string[] = [];
  private began = 0;
  private shown: Promise<void> = Promise.resolve();
  private readonly lines: ChangedLines;

  constructor(options: Options, host: Host, reporter: Reporter) {
    this.host = host;
    this.reporter = reporter;
    this.problems = reporter.at("warning");
    this.build = new BuildScreen(options, host, this.problems);
    this.lines = new ChangedLines(options, host, reporter);
  }

  start(changed: readonly string[]): void {
    this.changed = changed;
    this.began = this.host.now().getTime();
    this.reporter.reset();
  }

  readonly show = (event: BuildEvent): void => {
    // Each changed line is shown below, with its fate.
    if (event.kind === "diagnostic" && event.diagnostic.code === "own-lines") return;
    this.build.show(event);
    if (event.kind === "list-done") {
      const { outcome } = event;
      this.shown = this.shown.then(async () => await this.lines.show(outcome, this.changed));
    }
    if (event.kind !== "published" || event.file === undefined) return;
    const { file } = event;
    this.shown = this.shown.then(async () => await this.showChange(file));
  };

  async end(): Promise<void> {
    await this.shown;
  }

  /** Shows the change from the previous list to the current one. */
  private async showChange({ name: typed, path }: OutputFile): Promise<void> {
    const { host, reporter, changed } = this;
    const { style } = reporter;
    const known = this.texts.get(path);
    const fresh = await host.readFile(path);
    this.texts.set(path, fresh);
    const seconds = `${((host.now().getTime() - this.began) / 1000).toFixed(2)} s`;
    const name = style.strong(printable(typed));
    if (known === undefined) {
      reporter.info(`${style.good("written")} ${name}, ${seconds}`);
      return;
    }
    const change = changedRules(known, fresh);
    const names = someOf(changed.map((file) => host.path.basename(file)));
    reporter.info(
      `${name} after ${names}: ${style.good(`+ ${change.added.length}`)}  ${style.error(`− ${change.removed.length}`)}, ${seconds}`,
    );
    const text = changedRulesText(change, style);
    if (text !== "") reporter.info(text);
  }
}
