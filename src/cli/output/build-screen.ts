import type { BuildEvent } from "../../build/build-event.ts";
import type { BuildOutcome, ListOutcome } from "../../build/build-outcome.ts";
import type { WrittenOutput } from "../../build/list-outputs.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Host } from "../../host/host.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import type { Proof } from "../../resolvers/prove.ts";
import type { Options } from "../flags/options.ts";
import { INTERRUPTED, INTERRUPTED_PUBLISHING, endOnSignals, published } from "../interruption.ts";
import { lossLines, updatesText, writtenText } from "./written-text.ts";
import { ProgressLines } from "./progress-lines.ts";
import { timeText } from "./step-time.ts";
import { alarmLines, bytesText, summaryTable } from "./summary.ts";
import type { Reporter } from "./reporter.ts";
import { columnsOf } from "./text-width.ts";
import { withList } from "./with-list.ts";

/** How many harmful lines are shown. The summary counts them all. */
const MOST_ALARMS = 10;

/** Shows the progress and outcome of a build on a terminal, or as JSON. */
export class BuildScreen {
  private readonly options: Options;
  private readonly host: Host;
  private readonly reporter: Reporter;
  private progress: ProgressLines | undefined;
  /** Published lists, for the final message of an interrupted run. */
  private readonly published: string[] = [];
  private lists = 1;
  private readonly alarms = new Set<string>();

  constructor(options: Options, host: Host, reporter: Reporter) {
    this.options = options;
    this.host = host;
    this.reporter = reporter;
  }

  readonly show = (event: BuildEvent): void => {
    const { host, reporter } = this;
    switch (event.kind) {
      case "started":
        endOnSignals(host, reporter);
        break;
      case "diagnostic":
        reporter.diagnostic(event.diagnostic);
        break;
      case "reading":
        this.progress = new ProgressLines(host, reporter, event.sources, event.lists > 1);
        break;
      case "progress":
        this.progress?.show(event.event);
        break;
      case "read":
        this.progress?.end();
        this.progress = undefined;
        break;
      case "phase":
        reporter.debug(`${event.name}: ${event.text}, ${timeText(event.ms)}`);
        break;
      case "publishing":
        endOnSignals(host, reporter, INTERRUPTED_PUBLISHING);
        break;
      case "published":
        this.published.push(event.list);
        endOnSignals(host, reporter, published(this.published));
        break;
      case "list-done":
        this.lists = event.lists;
        this.showList(event.outcome);
        break;
      case "combined":
        this.showWritten(event.output, writtenText(event.output));
    }
  };

  /** Prints the final output after all lists are done. */
  async end(outcome: BuildOutcome): Promise<void> {
    await this.sendJson(outcome, []);
    this.showTotal(outcome);
  }

  /** With `--json`, prints the reports, with the proofs of resolvers that were asked. */
  async sendJson(
    { status, lists, combined }: BuildOutcome,
    proofs: readonly Proof[],
  ): Promise<void> {
    if (!this.options.json || status === "interrupted") return;
    const documentOf = (one: ListOutcome, document: object): object => {
      const resolvers = proofs.filter(({ list }) => list === one.list);
      return resolvers.length === 0 ? document : { ...document, resolvers };
    };
    const [first] = lists;
    if (this.lists > 1) {
      const documents = lists.map((one) => documentOf(one, listDocument(one)));
      await sendToOutput(`${JSON.stringify({ lists: documents, combined })}\n`, this.host);
    } else if (first?.report !== undefined || first?.status === "held")
      await this.sendReport(documentOf(first, reportOf(first)));
  }

  /** Prints the proofs that succeeded. Each of the others is an error. */
  showProofs(proofs: readonly Proof[]): void {
    const { style } = this.reporter;
    for (const { resolver, outcome, build, detail } of proofs)
      if (outcome === "proved") {
        const text = build === null ? detail : `build ${build}; ${detail}`;
        this.reporter.info(
          `${style.good(outcome)} ${style.strong(printable(resolver, 60))}: ${text}`,
        );
      }
  }

  /** Prints the outcome of several lists in one line. */
  showTotal({ status, lists, seconds }: BuildOutcome): void {
    const { reporter } = this;
    if (status === "interrupted") {
      reporter.diagnostic(this.published.length === 0 ? INTERRUPTED : published(this.published));
      return;
    }
    if (this.lists === 1) return;
    const failed = lists.filter((one) => one.status === "refused" || one.status === "failed");
    const missing = failed.length === 0 ? "" : `, ${failed.length} of them not published`;
    reporter.info(`${countText(lists.length, "list")} in ${seconds.toFixed(1)} s${missing}`);
  }

  private showList(outcome: ListOutcome): void {
    const { reporter, host } = this;
    const { report, status, isCached } = outcome;
    const isOne = this.lists === 1;
    if (isCached) reporter.debug("compile: skipped, nothing changed since the last build");
    for (const { file, outcome: written } of isCached ? [] : outcome.outputs)
      reporter.debug(`output ${printable(file)}: ${written}`);
    // The run that began the hold, or the first after it, said more.
    if (status === "held" && outcome.diagnostics.every(({ news }) => news === false))
      reporter.info(
        `${reporter.style.warning("held")} ${reporter.style.strong(printable(outcome.list))}: nothing was published`,
      );
    if (report !== undefined && status !== "held" && reporter.shows("info")) {
      if (status === "refused") {
        if (!isOne) reporter.info(reporter.style.strong(printable(report.name)));
        reporter.info(summaryTable(report, columnsOf(host.stderr), reporter.style));
        this.showAlarms(outcome);
      } else this.showResult(outcome, isOne);
    }
    if (status === "refused" || status === "failed")
      for (const diagnostic of outcome.diagnostics)
        reporter.diagnostic(isOne ? diagnostic : withList(diagnostic, outcome.list));
  }

  private showResult(outcome: ListOutcome, isOne: boolean): void {
    const { report, outputs, seconds, lastByte } = outcome;
    const { reporter, host } = this;
    const { style } = reporter;
    const { rules, bytes } = report!;
    // The list on the screen may not end with a line feed.
    if (host.stdout.isTerminal && outputs.length === 0 && lastByte !== 10) reporter.info("");
    // With many lists, a table of sources per list would be too long. `stats` shows it.
    if (isOne)
      reporter.info(summaryTable(report!, columnsOf(host.stderr), style, reporter.shows("debug")));
    if (!outcome.isCached) this.showAlarms(outcome);
    for (const one of outputs) {
      const size =
        one.format === undefined
          ? `${countText(rules, "rule")}, ${bytesText(bytes)}, ${seconds.toFixed(1)} s`
          : writtenText(one);
      this.showWritten(one, size);
    }
  }

  /** Shows each harmful line once, although several lists may have its source. */
  private showAlarms({ report, diagnostics }: ListOutcome): void {
    const { reporter, host } = this;
    const columns = columnsOf(host.stderr);
    for (const text of alarmLines(report!, diagnostics, columns, reporter.style)) {
      if (this.alarms.has(text)) continue;
      this.alarms.add(text);
      if (this.alarms.size <= MOST_ALARMS) reporter.info(text);
    }
  }

  private showWritten(output: WrittenOutput, size: string): void {
    const { reporter } = this;
    const { style } = reporter;
    reporter.info(`${style.good(output.outcome)} ${style.strong(printable(output.file))}: ${size}`);
    const updates = updatesText(output);
    if (updates !== undefined) reporter.info(`  ${updates}`);
    for (const line of lossLines(output)) reporter.info(`  ${style.warning(line)}`);
  }

  /** With `-o -`, standard output contains the list, so the report goes to standard error. */
  private async sendReport(document: object): Promise<void> {
    const text = `${JSON.stringify(document)}\n`;
    if (this.options.output === "-") this.host.stderr.write(text);
    else await sendToOutput(text, this.host);
  }
}

function reportOf(outcome: ListOutcome): object {
  const { report, outputs, files, seconds, diagnostics, list } = outcome;
  if (outcome.status === "held")
    return { name: list, ...report, outputs, files, held: true, diagnostics };
  if (outcome.status === "refused") return { ...report, outputs: [], refused: diagnostics };
  return { ...report, outputs, files, seconds, diagnostics };
}

/** The JSON document of one of several lists. */
function listDocument(outcome: ListOutcome): object {
  const { status, list, exit, diagnostics } = outcome;
  const isReported = outcome.report !== undefined || status === "held";
  const report = isReported ? reportOf(outcome) : {};
  if (status !== "refused" && status !== "failed") return report;
  return { ...report, name: list, exit, diagnostics };
}
