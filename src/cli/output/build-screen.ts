import { type AfterContext, COUNTS, afterPublish, fatesOfRules } from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import {
  type Diagnostic,
  type Style,
  errorsLast,
  locationText,
  warningOf,
} from "../../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../../diagnostics/text.ts";
import type { BuildDocument, BuiltList } from "../../documents/documents.ts";
import type {
  CompileReport,
  Loss,
  LossReason,
  Proof,
  SourceReport,
  WrittenOutput,
} from "../../documents/facts.ts";
import type { Host } from "../../host/host.ts";
import type { BuildEvent, BuildOutcome, ListOutcome, ProgressEvent } from "../../index.ts";
import type { Options } from "../flags/options.ts";
import {
  INTERRUPTED,
  INTERRUPTED_PUBLISHING,
  endOnSignals,
  exitOf,
  published,
  type Reporter,
  columnsOf,
  fitText,
  textWidth,
} from "./reporter.ts";
import { droppedText, proofText, renderTable, sendDocument } from "./table.ts";

/** How many harmful lines are shown. The summary counts them all. */
const MOST_ALARMS = 10;
/**
 * The event loop, which hears signals, turns while a list is compiled. Only with more bytes, or when foreign code runs, may it stand still
 * for so long that a signal must end the program from another thread, whose start takes 75 ms of processor time: a twentieth of a
 * build of two million lines.
 */
const MANY_BYTES = 128 * 1024 * 1024;
/** Removes the line above. */
const ERASE_LINE = "\u001b[1A\u001b[J";

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
  private isWriting = false;
  /** The bytes of all sources so far. */
  private bytes = 0;
  private isWatching = false;
  /** What the program says if a signal ends it now. */
  private words = INTERRUPTED;

  constructor(options: Options, host: Host, reporter: Reporter) {
    this.options = options;
    this.host = host;
    this.reporter = reporter;
  }

  readonly show = (event: BuildEvent): void => {
    const { host, reporter } = this;
    if (this.isWriting) host.stderr.write(ERASE_LINE);
    this.isWriting = false;
    switch (event.kind) {
      case "started":
        if (this.options.permit.includes("plugins")) this.watchSignals();
        break;
      case "diagnostic":
        reporter.diagnostic(event.diagnostic);
        break;
      case "reading":
        this.progress = new ProgressLines(host, reporter, event.sources, event.lists > 1);
        break;
      case "progress":
        if (event.event.kind === "source-read" && (this.bytes += event.event.bytes) > MANY_BYTES)
          this.watchSignals();
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
        this.showWriting(event.list);
        this.sayOnSignals(INTERRUPTED_PUBLISHING);
        break;
      case "published":
        this.published.push(event.list);
        this.sayOnSignals(published(this.published));
        break;
      case "list-done":
        this.lists = event.lists;
        this.showList(event.outcome);
        break;
      case "combined":
        this.showWritten(event.output, writtenText(event.output));
    }
  };

  /** On a terminal, until the next event. */
  private showWriting(list: string): void {
    const { host, reporter } = this;
    if (!reporter.isLive) return;
    this.isWriting = true;
    const text = fitText(`writing ${printable(list)}`, Math.max(20, host.stderr.columns - 1));
    host.stderr.write(`${reporter.style.strong(text)}\n`);
  }

  private watchSignals(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    this.sayOnSignals(this.words);
  }

  private sayOnSignals(words: Diagnostic): void {
    this.words = words;
    if (this.isWatching) endOnSignals(this.host, this.reporter, words);
  }

  /** Does what follows a publish, and prints the final output. Returns the exit code. */
  async end(built: BuildOutcome, context: AfterContext): Promise<Exit> {
    this.showTotal(built);
    const { outcome, proofs, isProved } = await afterPublish(built, context);
    this.showProofs(proofs);
    await this.sendJson(outcome, proofs);
    const exit = this.exitOf(outcome, context.signal);
    return exit === Exit.Done && !isProved ? Exit.Unproved : exit;
  }

  /** The exit code of a build: that of a signal, else that of the first list that was not published, else of the first degraded list. */
  exitOf({ lists }: Pick<BuildOutcome, "lists">, signal: AbortSignal): Exit {
    // Also if it came after the lists were published: hooks may be missing.
    if (signal.aborted) return exitOf(signal);
    const { strict } = this.options;
    const exits = lists.map(({ exit, isIncomplete }) =>
      exit === Exit.Degraded && !strict && isIncomplete !== true ? Exit.Done : exit,
    );
    return (
      exits.find((exit) => exit !== Exit.Done && exit !== Exit.Degraded) ??
      exits.find((exit) => exit !== Exit.Done) ??
      Exit.Done
    );
  }

  /** With `--json`, prints the reports, with the proofs of resolvers that were asked. */
  private async sendJson(
    { status, lists, combined }: BuildOutcome,
    proofs: readonly Proof[],
  ): Promise<void> {
    if (!this.options.json || status === "interrupted") return;
    const documents = lists.map((one) => {
      const resolvers = proofs.filter(({ list }) => list === one.list);
      return { ...listDocument(one), ...(resolvers.length > 0 && { resolvers }) };
    });
    const document: BuildDocument = { lists: documents, ...(combined && { combined }) };
    // Standard output contains the list.
    if (this.options.output === "-") this.host.stderr.write(`${JSON.stringify(document)}\n`);
    else await sendDocument(document, this.host);
  }

  /** Prints the proofs that succeeded. Each of the others is an error. */
  private showProofs(proofs: readonly Proof[]): void {
    const { style } = this.reporter;
    for (const proof of proofs)
      if (proof.outcome === "proved") {
        const { resolver, outcome, build } = proof;
        const detail = proofText(proof);
        const text = build === null ? detail : `build ${build}; ${detail}`;
        this.reporter.info(
          `${style.good(outcome)} ${style.strong(printable(resolver, 60))}: ${text}`,
        );
      }
  }

  /** Prints the outcome of several lists in one line. */
  private showTotal({ status, lists, seconds }: BuildOutcome): void {
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
      for (const diagnostic of errorsLast(outcome.diagnostics))
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
}

/** What programs read about the build of a list. */
function listDocument(outcome: ListOutcome): BuiltList {
  const { list, status, exit, report, outputs, files, seconds, diagnostics } = outcome;
  const isRefused = status === "refused";
  const { name: _list, ...figures } = report ?? { name: list };
  return {
    list,
    status,
    exit,
    ...figures,
    outputs,
    files,
    seconds,
    violations: isRefused ? diagnostics : [],
    diagnostics: isRefused ? [] : diagnostics,
  };
}

export function writtenText({ format, names, bytes, parts, allowFile }: WrittenOutput): string {
  if (format === undefined) return "of all lists";
  const files = parts !== undefined && parts > 1 ? `, ${parts} files` : "";
  const allowed = allowFile === undefined ? "" : `; exceptions: ${printable(allowFile)}`;
  return `${format}, ${countText(names ?? 0, "name")}, ${bytesText(bytes ?? 0)}${files}${allowed}`;
}

/** What a primary needs to get from the zone before to this one. */
export function updatesText({ updates }: WrittenOutput): string | undefined {
  if (updates === undefined) return undefined;
  if ("whole" in updates) return `updates: the whole zone, because ${WHOLE[updates.whole]}`;
  const { file, records, messages } = updates;
  return `updates: ${countText(records, "record")} in ${countText(messages, "message")}, ${printable(file)}`;
}

const WHOLE = {
  first: "it has no earlier version",
  settings: "its settings changed",
  large: "a large part of it changed",
} as const;

/** Rules that a format cannot express or has no room for. docs/reference/formats.md explains the reasons. */
export function lossLines(written: WrittenOutput): string[] {
  const { losses = [], leftOut = [], queries } = written;
  const of = (wanted: LossReason): Loss[] => losses.filter(({ reason }) => reason === wanted);
  const [narrowed, widened, excepted] = [of("narrowed"), of("widened"), of("excepted")];
  const [expanded, devices] = [of("expanded"), of("devices")];
  const told = new Set([...narrowed, ...widened, ...excepted, ...expanded, ...devices]);
  const others = losses.filter((loss) => !told.has(loss));
  const left = someOf(leftOut.map(sourceText));
  return [
    ...(queries === undefined ? [] : [queriesText(queries)]),
    ...narrowed.map(
      ({ count }) =>
        `blocks exact names only: subdomains of ${countText(count, "rule")} are blocked only if a source or \`expand\` has them; rpz, unbound and dnsmasq block them`,
    ),
    ...widened.map(
      ({ count, examples }) =>
        `blocks more than intended: ${numberText(count)} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...excepted.map(
      ({ count, examples }) =>
        `narrowed or skipped because a subdomain is allowed: ${countText(count, "name")} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...expanded.map(
      ({ count, examples }) =>
        `written as known names: ${countText(count, "pattern")} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...devices.map(
      ({ count, examples }) =>
        `skipped, or exceptions for all its devices, because of an own $client or $ctag: ${countText(count, "rule")} (${printable(examples[0] ?? "", 40)})`,
    ),
    ...(others.length === 0
      ? []
      : [`skipped: ${others.map(lossText).join(", ")}; adblock and json have every rule`]),
    ...(left === "" ? [] : [`over the limit: ${left}`]),
  ];
}

function queriesText({ all, list, file }: NonNullable<WrittenOutput["queries"]>): string {
  const part = list === 0 ? "" : ` (${((100 * file) / list).toFixed(1)} %)`;
  return `blocks ${numberText(file)} of the ${countText(list, "query", "queries")} in the logs that the list blocks${part}, of ${numberText(all)}`;
}

function sourceText({ label, names }: { readonly label: string; readonly names: number }): string {
  return `${printable(label, 40)} ${numberText(names)}`;
}

function lossText({ reason, count, examples }: Loss): string {
  const example = examples[0] === undefined ? "" : ` (${printable(examples[0], 40)})`;
  return `${reason} ${numberText(count)}${example}`;
}

export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${units[unit]}`;
}

const LONGEST_NAME = 32;

/** One row per source: lines, kept, and dropped with reasons that fit; then the rules that `allow` adds, and the total. */
export function summaryTable(
  report: CompileReport,
  columns: number,
  style: Style,
  hasAllReasons = false,
): string {
  const { lines, kept, sources, allow = [] } = report;
  const rows = sources.map((source) => [
    printable(source.label),
    ...[source.lines, source.kept, source.lines - source.kept].map(numberText),
    [...stateText(source), ...reasons(source.dropped)],
  ]);
  const added = allow.filter(({ exception }) => exception !== undefined).length;
  if (added > 0) rows.push(["allow", "", numberText(added), "", ["exceptions of allow"]]);
  const totals = [lines, kept + added, lines - kept].map(numberText);
  rows.push(["total", ...totals, reasons(totalDropped(sources))]);
  const headings = [COUNTS.lines[0], COUNTS.kept[0], COUNTS.dropped[0], "why"];
  const table = renderTable([["source", ...headings], ...rows], {
    align: "lrrrl",
    columns,
    longestName: LONGEST_NAME,
    isCut: !hasAllReasons,
  });
  return table
    .map((text, index) => {
      if (index === 0) return style.faint(text);
      return index === table.length - 1 ? style.strong(text) : text;
    })
    .join("\n");
}

/** Marks a degraded source: its numbers are those of a cached copy. */
function stateText({ state, goodAt = "", usedUntil = "", problem }: SourceReport): string[] {
  const copy = `copy from ${goodAt.slice(0, 10)}`;
  const why = failureText(problem?.code);
  if (state === "dropped") return [`left out: ${why}`];
  if (state === "stale") return [`${why}: copy until ${usedUntil.slice(0, 10)}`];
  if (state === "offline") return [copy];
  return state === "held" ? [`held: ${copy}`] : [];
}

/** Why a source is not used as it is, if it could be fetched. */
const REASONS: Readonly<Record<string, string>> = {
  "fetch-timeout": "Connection timeout",
  "offline-copies": "no copy",
  "source-not-found": "File not found",
  "source-unreadable": "cannot be read",
  "source-shrunk": "differs too much",
  "source-grown": "differs too much",
  "source-replaced": "differs too much",
  "source-truncated": "not complete",
  "source-empty": "not a list",
  "source-is-html": "not a list",
  "source-not-list": "not a list",
  "source-not-text": "not a list",
  "source-not-blocklist": "not a blocklist",
  "bad-feed": "not the expected feed",
};

function failureText(code = ""): string {
  return REASONS[code] ?? "Failed to fetch";
}

function totalDropped(sources: readonly SourceReport[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const { dropped } of sources)
    for (const [name, count] of Object.entries(dropped)) total[name] = (total[name] ?? 0) + count;
  return total;
}

/** The most important first, without comments and their like. */
function reasons(dropped: Readonly<Record<string, number>>): string[] {
  return fatesOfRules(dropped).map(([fate, count]) => `${fate} ${numberText(count)}`);
}

/** Fates that have their own warning, with the names. */
const WARNED: ReadonlySet<string> = new Set([
  "protected",
  "household",
  "over-budget",
  "newly-blocks",
]);

/** The lines that would have done harm, one for each source and fate, without those that `warnings` are about. */
export function alarmLines(
  report: CompileReport,
  warnings: readonly Diagnostic[],
  columns: number,
  style: Style,
): string[] {
  const warned = new Set(
    warnings.filter(({ code }) => code === "own-lines").map(({ at }) => at && locationText(at)),
  );
  return report.sources.flatMap(({ alarms = [], dropped }) =>
    alarms
      .filter(({ fate, file, line }) => !WARNED.has(fate) && !warned.has(`${file}:${line}`))
      .map((alarm) => {
        const more = (dropped[alarm.fate] ?? 1) - 1;
        const rest = more > 0 ? `, … ${numberText(more)} more` : "";
        return `${droppedText(alarm, style, columns - rest.length)}${rest}`;
      }),
  );
}

/** Maximum number of sources shown while they are read; the rest are counted. */
const MOST_LINES = 12;
/** How often seconds and bytes are updated. */
const TICK_MS = 500;

/** A source that is still being read. */
interface Running {
  readonly label: string;
  readonly since: number;
  bytes: number;
  total: number | undefined;
  retries: number;
}

/**
 * Shows progress. On a terminal, it redraws a few lines until the work is done. Elsewhere, it prints one plain line per event.
 */
export class ProgressLines {
  private readonly host: Host;
  private readonly reporter: Reporter;
  private readonly total: number;
  private readonly isBrief: boolean;
  private readonly running = new Map<number, Running>();
  private readonly arrived = new Set<number>();
  private readonly started: number;
  private rows: number | undefined;
  private drawn = 0;
  private clock: ReturnType<typeof setInterval> | undefined;

  /** `isBrief` hides single sources: with many lists, the same sources would appear repeatedly. */
  constructor(host: Host, reporter: Reporter, total: number, isBrief: boolean) {
    this.host = host;
    this.reporter = reporter;
    this.total = total;
    this.isBrief = isBrief;
    this.started = host.now().getTime();
  }

  show(event: ProgressEvent): void {
    this.track(event);
    this.printStep(event);
    if (event.kind === "needs-scratch") this.printNeed(event);
    else if (!this.reporter.isLive) this.printEvent(event);
    // Downloads arrive in many pieces, so the timer redraws them.
    else if (event.kind !== "source-arriving" && event.kind !== "step") this.draw();
  }

  /** Removes the lines, because the result follows. */
  end(): void {
    clearInterval(this.clock);
    this.clock = undefined;
    this.erase();
  }

  private track(event: ProgressEvent): void {
    if (event.kind === "source-started") {
      const since = this.host.now().getTime();
      const label = printable(event.label, 60);
      this.running.set(event.source, { label, since, bytes: 0, total: undefined, retries: 0 });
    } else if (event.kind === "compiling") this.rows = event.lines;
    else if ("source" in event) {
      // A mirror that is no longer needed may still send data.
      const source = this.running.get(event.source);
      if (event.kind === "source-arriving") {
        const { bytes, total } = event;
        Object.assign(source ?? {}, { bytes, total });
      } else if (event.kind === "source-retried")
        Object.assign(source ?? {}, { retries: event.retry });
      else {
        this.running.delete(event.source);
        this.arrived.add(event.source);
      }
    }
  }

  /** With `--debug`, on terminals and elsewhere. */
  private printStep(event: ProgressEvent): void {
    const text = event.kind === "step" ? stepText(event) : fetchText(event);
    if (text === undefined || !this.reporter.shows("debug")) return;
    this.erase();
    this.reporter.debug(text);
  }

  private printEvent(event: ProgressEvent): void {
    if (event.kind === "source-read") {
      const what = event.isCopy ? "the cached copy of " : "";
      const text = `read ${what}${printable(event.label)}: ${bytesText(event.bytes)}`;
      if (this.isBrief) this.reporter.debug(text);
      else this.reporter.info(text);
    }
  }

  /** Shown before the work begins, because a full disk would report it too late. */
  private printNeed({ bytes, folder, free }: ProgressEvent & { kind: "needs-scratch" }): void {
    this.erase();
    const need = `needs about ${bytesText(bytes)} of temporary space in ${printable(folder)}`;
    if (free >= bytes) this.reporter.info(need);
    else
      this.reporter.diagnostic(
        warningOf("little-scratch-room", `${need}; only ${bytesText(free)} free`),
      );
  }

  private draw(): void {
    this.erase();
    this.clock ??= setInterval(() => this.draw(), TICK_MS);
    const { style } = this.reporter;
    const width = Math.max(20, this.host.stderr.columns - 1);
    const now = this.host.now().getTime();
    const heading =
      this.rows === undefined
        ? [`reading sources ${this.arrived.size}/${this.total}`, ...secondsText(now - this.started)]
        : [`compiling ${countText(this.rows, "line")}`];
    const running = [...this.running.values()];
    const shown = running.slice(0, MOST_LINES);
    const more = running.length - shown.length;
    const lines = [
      style.strong(fitText(heading.join(", "), width)),
      ...this.sourceLines(shown, now, width),
      ...(more === 0 ? [] : [`  ${style.faint(`… and ${more} more`)}`]),
    ];
    this.host.stderr.write(`${lines.join("\n")}\n`);
    this.drawn = lines.length;
  }

  /** One line for each source; what has arrived stands below each other. */
  private sourceLines(sources: readonly Running[], now: number, width: number): string[] {
    const sizes = sources.map(({ bytes, total }) =>
      bytes === 0
        ? ""
        : `${bytesText(bytes)}${total === undefined ? "" : ` of ${bytesText(total)}`}`,
    );
    const states = sources.map(({ since, retries }, index) => {
      const size = sizes[index]!.padStart(Math.max(...sizes.map(textWidth)));
      const parts = [
        ...(size === "" ? [] : [size]),
        ...secondsText(now - since),
        ...(retries === 0 ? [] : [`retried ${timesText(retries)}`]),
      ];
      return parts.length === 0 ? "" : `  ${parts.join(size.trim() === "" ? "  " : ", ")}`;
    });
    const room = width - 4 - Math.max(0, ...states.map(textWidth));
    const labels = sources.map(({ label }) => fitText(label, room));
    const longest = Math.max(0, ...labels.map(textWidth));
    const { style } = this.reporter;
    return labels.map((label, index) => {
      const gap = states[index] === "" ? "" : " ".repeat(longest - textWidth(label));
      return `  ${style.faint("…")} ${label}${gap}${style.faint(states[index]!)}`;
    });
  }

  private erase(): void {
    if (this.drawn > 0) this.host.stderr.write(`\u001b[${this.drawn}A\u001b[J`);
    this.drawn = 0;
  }
}

function timesText(count: number): string {
  return ["once", "twice"][count - 1] ?? `${count} times`;
}

/** Omits durations below a second. */
function secondsText(ms: number): string[] {
  return ms < 1000 ? [] : [`${Math.floor(ms / 1000)} s`];
}

type Fetched = ProgressEvent & { kind: "source-fetched" };

/** States of a source in `--debug` output. */
const STATES: Readonly<Record<Fetched["state"], string>> = {
  local: "local",
  fetched: "fetched",
  unchanged: "unchanged, cached copy used",
  locked: "locked in rules.lock",
  held: "too different, cached copy used",
  offline: "cached copy used",
  stale: "failed, cached copy used",
  dropped: "failed, not used",
};

/** A step of a download; undefined for other events. */
export function fetchText(event: ProgressEvent): string | undefined {
  if (event.kind === "source-retried") {
    const { label, retry, pauseMs, cause } = event;
    const pause = `${(pauseMs / 1000).toFixed(1)} s`;
    return `fetch ${printable(label)}: retry ${retry} in ${pause}: ${cause}`;
  }
  // Local files are read later and have their own event.
  if (event.kind !== "source-fetched" || event.state === "local") return undefined;
  const { label, state, bytes, ms } = event;
  const size = state === "fetched" ? `, ${bytesText(bytes)}` : "";
  return `fetch ${printable(label)}: ${STATES[state]}${size}, ${timeText(ms)}`;
}

/** A transformation of a source, or of the whole list. */
export function stepText({ label, name, ms }: ProgressEvent & { kind: "step" }): string {
  return `${printable(label ?? "list")}: ${name}, ${timeText(ms)}`;
}

/** A duration for human readers, without insignificant digits. */
export function timeText(ms: number): string {
  if (ms < 1) return "<1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** The diagnostic with the name of its list, for runs with several lists. */
export function withList(diagnostic: Diagnostic, list: string): Diagnostic {
  return { ...diagnostic, message: `${printable(list)}: ${diagnostic.message}` };
}
