import type { ListOutcome } from "../../build/build-outcome.ts";
import { openLastBuild } from "../../build/state/published-build.ts";
import { CompilerError } from "../../diagnostics/diagnostic.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { changedRules } from "../../explain/changed-rules.ts";
import { type LineOfFate, fateLines } from "../../explain/fate-lines.ts";
import { FATE_ENTRIES } from "../../explain/glossary.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import { droppedText } from "./fate-text.ts";
import type { Reporter } from "./reporter.ts";
import { columnsOf } from "./text-width.ts";

const SHOWN = 10;

/** Fates of lines that were meant to be rules. */
const FATES_OF_RULES = [...FATE_ENTRIES.values()]
  .filter(({ rank }) => rank !== "no-rule" && rank !== "kept")
  .map(({ name }) => name);

/** Shows the new and changed lines of local sources that a build dropped, from its record. */
export class ChangedLines {
  private readonly options: Options;
  private readonly host: Host;
  private readonly reporter: Reporter;
  /** The texts of local sources in the last build, by path. */
  private readonly texts = new Map<string, Uint8Array>();

  constructor(options: Options, host: Host, reporter: Reporter) {
    this.options = options;
    this.host = host;
    this.reporter = reporter;
  }

  async show(outcome: ListOutcome, changed: readonly string[]): Promise<void> {
    const added = new Map<string, ReadonlySet<string>>();
    for (const { path } of outcome.inputs) {
      const known = this.texts.get(path);
      if (known !== undefined && !changed.includes(path)) continue;
      const fresh = await this.textOf(path);
      this.texts.set(path, fresh);
      const lines = known === undefined ? [] : changedRules(known, fresh).added;
      if (lines.length > 0) added.set(path, new Set(lines.map((line) => line.replace(/\r$/, ""))));
    }
    if (added.size === 0 || !["published", "unchanged"].includes(outcome.status)) return;
    const { reporter, host } = this;
    const columns = columnsOf(host.stderr);
    const found = await this.droppedIn(outcome.list, added);
    for (const line of found.slice(0, SHOWN))
      reporter.info(droppedText(line, reporter.style, columns));
    const more = found.length - SHOWN;
    if (more > 0) reporter.info(`  … ${countText(more, "dropped line")} more`);
  }

  private async droppedIn(
    list: string,
    added: ReadonlyMap<string, ReadonlySet<string>>,
  ): Promise<LineOfFate[]> {
    const { options, host } = this;
    try {
      const { file, record } = await openLastBuild(list, options, host);
      await file.close();
      const { files } = record.header;
      const own = files.filter(({ path }) => path !== undefined && added.has(path));
      const wanted = {
        fates: FATES_OF_RULES,
        sources: new Set(own.map(({ source }) => source)),
      };
      const found: LineOfFate[] = [];
      for await (const lines of fateLines(record, wanted, options.cacheDir, host))
        for (const line of lines)
          if (added.get(line.path ?? "")?.has(line.text ?? "") === true)
            found.push({ ...line, file: host.path.relative(host.cwd, line.path!) });
      return found;
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      this.reporter.info(`the fates of changed lines are not known: ${error.message}`);
      return [];
    }
  }

  private async textOf(path: string): Promise<Uint8Array> {
    return (await this.host.exists(path)) ? await this.host.readFile(path) : new Uint8Array(0);
  }
}
